"""The policy: roles of columns, required guarantees, how and where to publish."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    PrivateAttr,
    ValidationError,
    model_validator,
)
from pydantic.functional_validators import ModelWrapValidatorHandler

from anonymizer.errors import PolicyError, PolicyFormError, Problem
from anonymizer.policy import content, defaults, load, names
from anonymizer.policy.algorithms import Algorithm, Mondrian
from anonymizer.policy.checks import crosscheck
from anonymizer.policy.columns import Column
from anonymizer.policy.frozen import FrozenMap, Options, fail
from anonymizer.policy.privacy import Privacy
from anonymizer.policy.problems import field_problems
from anonymizer.policy.publish import Publish, Republish, Source, Workload
from anonymizer.policy.values import LocalPath, Share, Text


def _version(given: object) -> object:
    if type(given) is not int or given != 1:
        raise fail("is not a version that can be read", allowed="1")
    return given


class Policy(Options):
    """A policy, complete and consistent; everything that is wrong raises one `PolicyError`."""

    version: Annotated[Literal[1], BeforeValidator(_version)]
    """Version of the policy's form."""
    engine: Literal["duckdb", "spark", "postgres"] = "duckdb"
    """Where the work is done."""
    source: Source
    """The table to anonymize."""
    key: Text | None = None
    """A column that is unique and not null; default: the row's content and copy number."""
    person: Text | None = None
    """The column that identifies the person of a row; all guarantees then count persons."""
    merge_person_rows: bool = False
    """Where quasi-identifiers differ between the rows of one person: merge them into one range or
    set instead of refusing the run."""
    columns: FrozenMap[Text, Column]
    """Every column of the source by name."""
    privacy: Privacy = Privacy()
    """Guarantees for the whole table."""
    suppression_limit: Share = 0.0
    """Largest share of rows (persons, if `person` is set) that may be suppressed."""
    algorithm: Algorithm = Mondrian(name="mondrian")
    """How the table is anonymized."""
    publish: Publish = Publish()
    """Where and under which names the release is published."""
    preset: defaults.Preset | None = None
    """internal: k = 5, l = 2; external: k = 11, l = 3 (for sensitive columns without a rule); both
    with 5 % suppression. What the policy states itself goes before."""
    workload: Workload | None = None
    """The user's own queries, to show what the release does to them."""
    republish: Republish | None = None
    """Promises towards earlier releases of the same population."""
    ledger: LocalPath | None = None
    """A private database file that remembers releases; never the one of the release."""

    _base: Path = PrivateAttr(default_factory=Path)

    @model_validator(mode="wrap")
    @classmethod
    def _all_problems(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise PolicyError(_not_a_mapping(given))
        try:
            policy, failure = handler(defaults.fill(given)), None
        except ValidationError as error:
            policy, failure = None, error
        # raised outside of the except clause, so that the pydantic error, which holds values, is
        # not the context of the raised one
        if policy is None and failure is not None:
            problems, intact, broken = field_problems(cls, failure, given)
            rest = _partial(cls, intact, handler)
            raise PolicyFormError((*problems, *(crosscheck(rest, broken) if rest else ())))
        assert policy is not None
        problems = crosscheck(policy)
        if problems:
            raise PolicyError(problems)
        return policy

    def model_post_init(self, context: Any) -> None:
        if isinstance(context, dict) and isinstance(context.get("base"), Path):
            self._base = context["base"]

    @classmethod
    def load(cls, path: str | Path, preset: str | None = None) -> Self:
        """The policy in the YAML file at `path`; `preset` goes before the file's own.

        Raises `PolicyError` with every problem found.
        """
        path = Path(path)
        return cls._validated(load.read(path), path.parent, preset)

    @classmethod
    def loads(cls, text: str, base: str | Path = "", preset: str | None = None) -> Self:
        """The policy in a YAML (or JSON) text; `base` is where relative paths start."""
        return cls._validated(load.parse(text), Path(base), preset)

    @classmethod
    def _validated(cls, given: object, base: Path, preset: str | None) -> Self:
        if preset is not None and isinstance(given, dict):
            given = {**given, "preset": preset}
        return cls.model_validate(given, context={"base": base})

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """As `loads`: JSON is YAML."""
        text = json_data if isinstance(json_data, str) else load.decode(bytes(json_data))
        return cls.loads(text)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """JSON Schema (2020-12) of a policy file."""
        return content.json_schema(cls)

    @property
    def base(self) -> Path:
        """Folder from which relative paths in the policy start."""
        return self._base

    def resolve(self, path: str) -> Path:
        """A path of the policy, from its folder."""
        return self._base / path

    def to_dict(self) -> dict[str, Any]:
        """The whole policy, defaults filled in, as plain mappings, lists and scalars."""
        return content.plain(self)

    def digest(self) -> str:
        """SHA-256 (hex) of the policy's content: what differs from the defaults, columns in order.

        Neither the folder of the policy nor the folder of an absolute path enters.
        """
        text = json.dumps(content.canonical(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def column_name(self, column: str) -> str:
        """The published name of a column that keeps its own, unless `publish.rename` says else."""
        return names.column_name(self, column)

    def generated_name(self, name: str) -> str:
        """The published name of a generated column such as `class_id` or `zip_bucket`."""
        return names.generated_name(self, name)

    def _with_role(self, role: str) -> tuple[str, ...]:
        return tuple(name for name, column in self.columns.items() if column.role == role)

    @cached_property
    def quasi(self) -> tuple[str, ...]:
        """Quasi-identifiers, semi-sensitive ones among them."""
        return self._with_role("quasi")

    @cached_property
    def semi_sensitive(self) -> tuple[str, ...]:
        """Quasi-identifiers of which some cells are sensitive (`sensitive_when`)."""
        return tuple(n for n in self.quasi if self.columns[n].sensitive_when is not None)

    @cached_property
    def sensitive(self) -> tuple[str, ...]:
        """Columns of the role sensitive."""
        return self._with_role("sensitive")

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """Columns published as they are."""
        return self._with_role("keep")

    @cached_property
    def protected(self) -> tuple[str, ...]:
        """Sensitive and semi-sensitive columns with a rule."""
        return tuple(
            name
            for name, column in self.columns.items()
            if column.protect is not None and name in {*self.sensitive, *self.semi_sensitive}
        )


def _not_a_mapping(given: object) -> Problem:
    said = "is empty" if given is None else "must be a mapping of options"
    return Problem("policy", said, hint="begin with version: 1")


def _partial(
    cls: type[Policy],
    intact: dict[Any, Any] | None,
    handler: ModelWrapValidatorHandler[Any],
) -> Any:
    """What remains of a policy without its broken parts, for the checks across parts."""
    if intact is None:
        return None
    try:
        return handler(defaults.fill(intact))
    except ValidationError:
        return None

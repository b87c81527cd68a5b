"""The common base of policies of one table and of several: loading, content, digest."""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.functional_validators import ModelWrapValidatorHandler

from anonymizer.errors import PolicyError, PolicyFormError, Problem
from anonymizer.policy import defaults, yaml_text
from anonymizer.policy.kinds import ReleaseKind, kind_of
from anonymizer.policy.problems import Broken, field_problems
from anonymizer.policy.values import Options, fail, file_format, portable

# The content of a policy as plain data: for round trips, for the digest, and its JSON Schema.


TITLE = "Policy of sql-anonymizer"
_HEAD = {"$schema": "https://json-schema.org/draft/2020-12/schema"}

PATHS = (("source", "file"), ("publish", "database"), ("ledger",), ("workload", "sql"))
"""Locations of paths, except in hierarchies of columns and populations."""
WORDS = ("context",)
"""Descriptive parts without any effect, which the digest ignores."""


def plain(policy: BaseModel, *, defaults: bool = True) -> dict[str, Any]:
    """A policy as mappings, lists and scalars, with or without defaults."""
    dumped = policy.model_dump(by_alias=True, exclude_none=True, exclude_defaults=not defaults)
    return {key: _lists(value) for key, value in dumped.items()}


def _lists(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _lists(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_lists(inner) for inner in value]
    return value


def canonical(policy: BaseModel) -> dict[str, Any]:
    """The digested content: columns in order (it breaks ties), without local folders and settings
    without effect.
    """
    found = plain(policy, defaults=False)
    for name in WORDS:
        found.pop(name, None)
    for place in PATHS:
        _shorten(found, place)
    for name in found.get("privacy", {}):
        _shorten(found, ("privacy", name, "population", "file"))
    if "tables" in found:
        for table in found["tables"].values():
            _shorten(table, ("source", "file"))
            table["columns"] = _listed(table["columns"])
        found["tables"] = [[name, table] for name, table in found["tables"].items()]
    elif "aggregate" in found:
        aggregate = found["aggregate"]
        aggregate["by"] = _listed(aggregate["by"])
        aggregate["measures"] = [[name, of] for name, of in aggregate["measures"].items()]
    else:
        found["columns"] = _listed(found["columns"])
    return found


def _listed(columns: dict[str, Any]) -> list[list[Any]]:
    for column in columns.values():
        for place in (("hierarchy", "file"), ("key_file",), ("vault",), ("population",)):
            _shorten(column, place)
    return [[name, column] for name, column in columns.items()]


def _shorten(within: Any, place: tuple[str, ...]) -> None:
    *above, last = place
    for key in above:
        within = within.get(key) if isinstance(within, dict) else None
    if isinstance(within, dict) and isinstance(within.get(last), str):
        within[last] = portable(within[last])


def json_schema(cls: type[BaseModel]) -> dict[str, Any]:
    """The schema with which editors complete and check a policy."""
    return {**_HEAD, **_schema(cls), "title": TITLE}


def either_schema(keys: Mapping[str, type[BaseModel]], other: type[BaseModel]) -> dict[str, Any]:
    """The schema of several kinds of policies, distinguished by keys that only one has."""
    kinds: dict[str, Any] = {}
    for cls in (other, *keys.values()):
        schema = _schema(cls)
        kinds |= schema.pop("$defs")
        kinds[cls.__name__] = schema
    chosen: dict[str, Any] = {"$ref": f"#/$defs/{other.__name__}"}
    for key, cls in reversed(list(keys.items())):
        then = {"$ref": f"#/$defs/{cls.__name__}"}
        chosen = {"if": {"required": [key]}, "then": then, "else": chosen}
    return {**_HEAD, "title": TITLE, "type": "object", **chosen, "$defs": kinds}


def _schema(cls: type[BaseModel]) -> dict[str, Any]:
    schema = cls.model_json_schema(by_alias=True, mode="validation")
    # `{file: x}` and `{table: t}` are short for the builder taxonomy
    taxonomy = schema["$defs"]["Taxonomy"]
    taxonomy["required"] = [name for name in taxonomy.get("required", []) if name != "builder"]
    models = {model.__name__: model for model in _models(Options)}
    for name, part in {cls.__name__: schema, **schema["$defs"]}.items():
        if name in models:
            _describe(models[name], part["properties"])
    return schema


def _models(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for model in base.__subclasses__():
        yield model
        yield from _models(model)


def _describe(model: type[BaseModel], properties: dict[str, Any]) -> None:
    """Add the docstrings of a model's attributes to its schema.

    The models could do that on their own, but then every import would parse their source.
    """
    texts: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if issubclass(cls, Options):
            texts |= _attribute_docstrings(cls.__module__).get(cls.__qualname__, {})
    for name, field in model.model_fields.items():
        shown = properties.get(field.alias or name)
        if shown is not None and name in texts:
            shown.setdefault("description", texts[name])


@cache
def _attribute_docstrings(module: str) -> dict[str, dict[str, str]]:
    """By class of a module: the texts that follow its annotated attributes."""
    found: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(sys.modules[module])).body:
        if isinstance(node, ast.ClassDef):
            texts = found.setdefault(node.name, {})
            for attribute, text in pairwise(node.body):
                match attribute, text:
                    case (
                        ast.AnnAssign(target=ast.Name(name)),
                        ast.Expr(value=ast.Constant(value=str(said))),
                    ):
                        texts[name] = inspect.cleandoc(said)
    return found


# The common base of policies of one table and of several: loading, checks, digest.


def _version(given: object) -> object:
    if type(given) is not int or given != 1:
        raise fail("is not a version that can be read", allowed="1")
    return given


def _of_python(given: Any) -> Any:
    """The same with Python's own numbers in place of those of numpy, as of `frame.age.max()`."""
    if isinstance(given, Mapping):
        return {name: _of_python(value) for name, value in given.items()}
    if type(given) in (list, tuple):
        return type(given)(map(_of_python, given))
    numpy = type(given).__module__ == "numpy" and getattr(given, "shape", None) == ()
    return given.item() if numpy else given


class Document(Options):
    """A policy, complete and consistent; all errors are raised together as one `PolicyError`."""

    OTHERWISE: ClassVar[tuple[str, ...]] = ()
    """Keys that identify a policy of the other kind."""

    version: Annotated[Literal[1], BeforeValidator(_version)]
    """Version of the policy format."""

    kind: ReleaseKind | None = None
    """The kind of the release: anonymised, or pseudonymised (still personal data); default: it
    follows from the policy."""

    _base: Path = PrivateAttr(default_factory=Path)
    _instead: Path | None = PrivateAttr(None)
    """A file of the same form that is read instead of the source's."""

    @classmethod
    def _reader(cls, given: object) -> type[Document]:
        """The class of the given policy."""
        return cls

    def _contradictions(self, broken: Broken = frozenset()) -> list[Problem]:
        """Contradictions between parts that are valid by themselves; `broken`: the other parts."""
        return []

    @model_validator(mode="wrap")
    @classmethod
    def _all_problems(
        cls, given: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Any:
        reader = cls._reader(given)
        if reader is not cls:
            return reader.model_validate(given, context=info.context)
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise PolicyError(_not_a_mapping(given))
        given = _of_python(given)
        try:
            policy, failure = handler(defaults.fill(given)), None
        except ValidationError as error:
            policy, failure = None, error
        # raised outside of the except clause, so that the pydantic error, which contains values, is
        # not the context of the raised one
        if policy is None and failure is not None:
            problems, intact, broken = field_problems(cls, failure, given)
            rest = cls._partial(intact, handler)
            more = rest._contradictions(broken) if rest is not None else ()
            raise PolicyFormError((*problems, *more))
        assert policy is not None
        problems = policy._contradictions()
        PolicyError.refuse(problems)
        return policy

    @classmethod
    def _partial(
        cls, intact: dict[Any, Any] | None, handler: ModelWrapValidatorHandler[Self]
    ) -> Self | None:
        """A policy without its broken parts, for the checks across parts."""
        if intact is None:
            return None
        try:
            return handler(defaults.fill(intact))
        except ValidationError:
            return None

    def model_post_init(self, context: Any) -> None:
        if isinstance(context, dict) and isinstance(context.get("base"), Path):
            self._base = context["base"]

    @classmethod
    def load(cls, path: str | Path, preset: str | None = None) -> Self:
        """Read the policy in the YAML file at `path`; `preset` overrides that of the file.

        Raises `PolicyError` with every problem found.
        """
        path = Path(path)
        return cls._loaded(yaml_text.text_of(path), path.name, path.parent, preset)

    @classmethod
    def loads(cls, text: str, base: str | Path = "", preset: str | None = None) -> Self:
        """Read the policy in a YAML (or JSON) text; relative paths start from `base`."""
        return cls._loaded(text, "policy", Path(base), preset)

    @classmethod
    def _loaded(cls, text: str, name: str, base: Path, preset: str | None) -> Self:
        given = yaml_text.parse(text, name)
        if preset is not None and isinstance(given, dict):
            given = {**given, "preset": preset}
        blank = yaml_text.blanks(text)
        try:
            policy = cls.model_validate(given, context={"base": base})
        except PolicyError as error:
            told = {problem.path for problem in error.problems}
            more = [problem for problem in blank if problem.path not in told]
            raise type(error)((*error.problems, *more)) from None
        PolicyError.refuse(blank)
        return policy

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """As `loads`: JSON is YAML."""
        text = json_data if isinstance(json_data, str) else yaml_text.decode(bytes(json_data))
        return cls.loads(text)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """JSON Schema (2020-12) of a policy file."""
        return json_schema(cls)

    @property
    def release_kind(self) -> ReleaseKind:
        """The kind of the release: as stated, or as it follows from the policy."""
        policy: Any = self  # (with an algorithm)
        return kind_of(policy)

    @property
    def base(self) -> Path:
        """Folder from which relative paths in the policy start."""
        return self._base

    @property
    def source_path(self) -> Path:
        """The file of the source, or the pattern of its files."""
        source = getattr(self, "source", None)
        return self._instead or self.resolve(getattr(source, "file", None) or "")

    def with_file(self, path: str | Path) -> Self:
        """The policy for another file of the same form, such as next month's: the same policy, by
        its digest. Raises PolicyError if its source is no file, or one of another form.
        """
        source = getattr(self, "source", None)
        if source is None or source.file is None:
            said, hint = "replaces the file of a policy, and this one reads no file", "leave it out"
            if hasattr(self, "tables"):
                said = "replaces the one file of a policy, and this one has several tables"
                hint = "name their files in the policy"
            raise PolicyError.at("--source", said, hint=hint)
        if file_format(str(path)) != source.format:
            said = "has another form than the file of the policy"
            raise PolicyError.at("--source", said, allowed=source.format)
        made = self.model_copy()
        made._instead = Path(path)
        made.__dict__.pop("lead", None)  # (which was made for the other file)
        return made

    def resolve(self, path: str) -> Path:
        """A path of the policy, resolved from its folder."""
        return self._base / path

    def to_dict(self) -> dict[str, Any]:
        """The whole policy, defaults filled in, as plain mappings, lists and scalars."""
        return plain(self)

    def digest(self) -> str:
        """SHA-256 (hex) of the policy's content: what differs from the defaults, columns in order.

        It does not depend on the folder of the policy or of an absolute path, nor on `context`.
        """
        text = json.dumps(canonical(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def _not_a_mapping(given: object) -> Problem:
    said = "is empty" if given is None else "must be a mapping of options"
    return Problem("policy", said, hint="begin with version: 1")

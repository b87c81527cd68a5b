"""Anonymize a frame in one call: roles as lists of columns, other options as in a policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from anonymizer.api.calls import run
from anonymizer.api.frames import alone, index_of, kind_of, rows_of, standing
from anonymizer.engines.base import Limits
from anonymizer.errors import PolicyError, Problem, SourceError
from anonymizer.policy import Policy
from anonymizer.policy.kinds import ANONYMISED, kind_of_mapping
from anonymizer.policy.suggest import closest
from anonymizer.process.seed import Seed
from anonymizer.release.published import Release

TABLE = "frame"

Columns = Sequence[str] | Mapping[str, Mapping[str, Any]]
"""Names of columns, or names with further options as in a policy's `columns`."""


_COLUMNS = 'names, as in ["age", "zip"], or names with options, as in {"zip": {"kind": ...}}'


_PARAMETERS = {"identifier": "identifiers"}
"""Parameters whose name differs from the role of their columns."""


class Anonymized(NamedTuple):
    """The result of `anonymize`."""

    frame: Any
    """The published rows, as the same kind of frame as the input."""
    release: Release
    """The verified release; `release.manifest` says how to read the cells."""


def anonymize(
    frame: Any,
    quasi: Columns,
    sensitive: Columns = (),
    *,
    identifiers: Sequence[str] = (),
    keep: Columns = (),
    person: str | None = None,
    k: int | None = 5,
    algorithm: str | Mapping[str, Any] = "mondrian",
    cells: str = "text",
    suppression_limit: float = 0.0,
    seed: Seed | str | int | None = None,
    limits: Limits | None = None,
    **policy: Any,
) -> Anonymized:
    """Anonymize a pandas, polars or Arrow frame, verify the result, and return it.

    `quasi`: columns that others may know, published in classes of at least `k` equal rows (or
    persons, if `person` names their column). `sensitive`: columns to be protected; a mapping gives
    each its rule, as in `{"diagnosis": {"l_diversity": 3}}`. `keep`: published as they are.
    `identifiers`: identify a person, and are not published. Columns that are not named are not
    published either. `algorithm`, `cells`, `suppression_limit` and all other arguments are keys of
    a policy.

    The order of the rows is unrelated to that of the frame. Raises PolicyError and SourceError for
    what cannot work, and GuaranteeError if a guarantee cannot be achieved.

    >>> anonymized, release = anonymize(visits, ["age", "zip"], {"ill": {"l_diversity": 3}}, k=5)
    """
    kind = _kind(frame)
    _refuse_taken(policy)
    roles = {
        "quasi": _options("quasi", quasi),
        "sensitive": {
            name: {"protect": rule} if rule else {}
            for name, rule in _options("sensitive", sensitive).items()
        },
        "identifier": _options("identifiers", identifiers),
        "keep": _options("keep", keep),
    }
    given: dict[str, Any] = {
        "version": 1,
        "source": {"table": TABLE},
        "algorithm": {"name": algorithm} if isinstance(algorithm, str) else algorithm,
        "suppression_limit": suppression_limit,
        **policy,
    }
    if k is not None:
        given["privacy"] = _joined({"k_anonymity": k}, policy.get("privacy"))
    if person is not None:
        given["person"] = person
    with standing(frame, TABLE) as connection:
        given["columns"] = _columns(connection, roles, person, index_of(frame))
        name = "anonymized" if kind_of_mapping(given) == ANONYMISED else "pseudonymised"
        given["publish"] = _joined({"name": name, "cells": cells}, policy.get("publish"))
        release = run(Policy.model_validate(given), connection, seed=seed, limits=limits)
    return Anonymized(rows_of(release, kind), alone(release))


def _kind(frame: Any) -> str:
    kind = kind_of(frame)
    if kind is None:
        said = f"is of type {type(frame).__name__}, and not a frame"
        raise SourceError.at("frame", said, allowed="pandas, polars or Arrow")
    return kind


def _columns(
    connection: Any,
    roles: Mapping[str, Mapping[str, Any]],
    person: str | None,
    index: Sequence[str],
) -> dict[str, dict[str, Any]]:
    """The columns of the policy, in the order of the frame; those without a role are dropped.

    The person column becomes an identifier unless it has a role.
    """
    names = [row[0] for row in connection.execute(f"describe {TABLE}").fetchall()]
    _refuse_unknown_and_repeated(roles, names, person, index)
    columns: dict[str, dict[str, Any]] = {name: {"role": "drop"} for name in names}
    if person is not None:
        columns[person] = {"role": "identifier"}
    for role, named in roles.items():
        columns |= {name: {"role": role, **given} for name, given in named.items()}
    return columns


def _joined(given: dict[str, Any], further: object) -> object:
    """Merge two mappings; the policy will refuse `further` if it is not a mapping."""
    if further is None:
        return given
    return given | dict(further) if isinstance(further, Mapping) else further


def _refuse_taken(policy: Mapping[str, Any]) -> None:
    """Refuse policy keys that the frame and the lists of columns already determine."""
    hints = {
        "source": "the frame is the source: prepare it before",
        "tables": "the frame is the only table: several tables are a policy for run",
        "columns": 'quasi, sensitive, identifiers and keep name them, as in {"zip": {"kind": ...}}',
    }
    PolicyError.refuse(
        Problem(name, "is no key of a policy for a frame", hint=hint)
        for name, hint in hints.items()
        if name in policy
    )


def _options(parameter: str, columns: object) -> dict[str, dict[str, Any]]:
    if isinstance(columns, str):
        columns = [columns]
    if not isinstance(columns, Iterable):
        raise PolicyError.at(parameter, "is no list of columns", allowed=_COLUMNS)
    named = columns if isinstance(columns, Mapping) else dict.fromkeys(columns)
    PolicyError.refuse(
        Problem(f"{parameter}.{name}", "is no mapping of options", allowed=_COLUMNS)
        for name, given in named.items()
        if given is not None and not isinstance(given, Mapping)
    )
    return {str(name): dict(given or {}) for name, given in named.items()}


def _refuse_unknown_and_repeated(
    roles: Mapping[str, Mapping[str, Any]],
    names: Sequence[str],
    person: str | None,
    index: Sequence[str],
) -> None:
    """Refuse unknown columns and columns with several roles.

    `person`: may have another role as well.
    """
    problems = []
    seen: dict[str, str] = {}
    listed = [
        (_PARAMETERS.get(role, role), name) for role, named in roles.items() for name in named
    ]
    if person is not None and person not in {*names, *(name for _, name in listed)}:
        listed.append(("person", person))
    for parameter, name in listed:
        if name not in names:
            said = f"{name} is no column of the frame"
            allowed, hint = ", ".join(names), closest(name, names)
            if name in index:
                hint = f"{name} is an index: frame.reset_index() makes a column of it"
            problems.append(Problem(parameter, said, allowed=allowed, hint=hint))
        elif name in seen:
            problems.append(Problem(parameter, f"{name} is named as {seen[name]} as well"))
        seen[name] = parameter
    PolicyError.refuse(problems)

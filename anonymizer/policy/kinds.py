"""The two kinds of release: anonymised, and pseudonymised (still personal data)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from anonymizer.errors import Problem
from anonymizer.policy.paths import path_text

if TYPE_CHECKING:
    from anonymizer.policy.columns import Column

ReleaseKind = Literal["anonymised", "pseudonymised"]
ANONYMISED: ReleaseKind = "anonymised"
PSEUDONYMISED: ReleaseKind = "pseudonymised"
KINDS: tuple[ReleaseKind, ...] = get_args(ReleaseKind)
WORDS: Mapping[ReleaseKind, str] = {
    ANONYMISED: ANONYMISED,
    PSEUDONYMISED: f"{PSEUDONYMISED}, which is personal data",
}
ENDINGS: Mapping[ReleaseKind, str] = {ANONYMISED: "anonymous", PSEUDONYMISED: "pseudonymised"}
"""Suffixes of the default names of views."""
CLASSLESS = "none"
"""The one algorithm whose releases have no classes, no groups and no guarantees."""


class Stating(Protocol):
    """The part of a policy, of one table or of several, that determines the kind of its release."""

    @property
    def kind(self) -> ReleaseKind | None: ...

    @property
    def algorithm(self) -> Any: ...


def kind_words(kind: ReleaseKind) -> str:
    """The kind of a release, with its consequences, in words."""
    return WORDS[kind]


def reasons_for_pseudonymised(policy: Stating) -> Iterator[str]:
    """Reasons why a release is pseudonymised whatever the policy states, each with its path."""
    yield from _reasons(policy.algorithm.name, _columns(policy))


def kind_of(policy: Stating) -> ReleaseKind:
    """The kind of the release: as stated, or as it follows from the policy."""
    if policy.kind is not None:
        return policy.kind
    return PSEUDONYMISED if any(reasons_for_pseudonymised(policy)) else ANONYMISED


def kind_of_mapping(given: Mapping[Any, Any]) -> ReleaseKind:
    """Like `kind_of`, for a policy that is not validated yet; malformed parts are ignored."""
    if given.get("kind") in KINDS:
        return PSEUDONYMISED if given["kind"] == PSEUDONYMISED else ANONYMISED
    algorithm, columns = given.get("algorithm"), given.get("columns")
    name = option(algorithm, "name")
    listed = columns if isinstance(columns, Mapping) else {}
    placed = ((str(column), of) for column, of in listed.items())
    return PSEUDONYMISED if any(_reasons(name, placed)) else ANONYMISED


def agrees(policy: Stating) -> Iterator[Problem]:
    """A release that is not anonymised is not declared so."""
    if policy.kind != ANONYMISED:
        return
    for reason in reasons_for_pseudonymised(policy):
        said = f"is {ANONYMISED}, and the release cannot be: {reason}"
        of_algorithm = reason.startswith("algorithm")
        instead = "another algorithm" if of_algorithm else "no key_file and no vault"
        hint = f"kind: {PSEUDONYMISED}, or {instead}"
        yield Problem("kind", said, allowed=PSEUDONYMISED, hint=hint)


def _reasons(algorithm: object, columns: Iterable[tuple[str, object]]) -> Iterator[str]:
    if algorithm == CLASSLESS:
        yield "algorithm: none protects no quasi-identifier"
    for path, column in columns:
        if option(column, "role") != "token":
            continue
        if option(column, "key_file") is not None:
            yield f"{path}: is a token that stays the same from release to release"
        elif option(column, "vault") is not None:
            yield f"{path}: is a token, and a vault remembers what it stands for"


def _columns(policy: Stating) -> Iterator[tuple[str, Column]]:
    tables: Mapping[str, Any] = getattr(policy, "tables", None) or {}
    for table, of in tables.items():
        for name, column in of.columns.items():
            yield path_text(("tables", table, "columns", name)), column
    for name, column in (getattr(policy, "columns", None) or {}).items():
        yield path_text(("columns", name)), column


def option(given: object, name: str) -> Any:
    """An option of a mapping or of a model."""
    return given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)

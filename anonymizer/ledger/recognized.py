"""How persons are recognized from release to release: by which column, and which kind of values.

Digests are made of texts. A number has the same text whatever its type, because types change
unnoticed (a column with a NULL is read from a file as doubles); other changes are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymizer.compile import Sql, ident, lit
from anonymizer.errors import Problem
from anonymizer.ledger.tables import MEMBERS, NEW_MEMBERS
from anonymizer.policy import Policy
from anonymizer.policy.paths import name_text
from anonymizer.source.child import family
from anonymizer.source.profile import TableProfile

if TYPE_CHECKING:
    from anonymizer.engines.duckdb.connection import DuckDBEngine
    from anonymizer.ledger.entries import Entry

FORGET = "if that release reached nobody, `anonymizer ledger forget`"


@dataclass(frozen=True, slots=True)
class Recognized:
    """How the persons of a release are recognized."""

    column: str
    """The person or key column; empty if the row's content identifies the person."""
    kind: str
    """The kind of its values; without such a column, the columns of the row."""

    @classmethod
    def of(cls, policy: Policy, profile: TableProfile) -> Recognized:
        column = policy.person or policy.key
        if column is not None:
            return cls(column, kind(profile.type_of(column)))
        listed = sorted(f"{name_text(name)}: {kind(held)}" for name, held in profile.columns)
        return cls("", ", ".join(listed))

    def problems(
        self, view: str, earlier: Iterable[Entry], *, others: bool = False
    ) -> Iterator[Problem]:
        """Earlier releases of the view, or by the same column, whose persons cannot be recognized.

        `others`: the persons of the view are stated to be others than before.

        Those of other views with other columns may be of other persons.
        """
        differing: dict[Recognized, Entry] = {}
        for entry in earlier:
            then = entry.recognized
            if then is None or then == self:
                continue
            if entry.view == view and others:
                continue
            if entry.view == view or (then.column and then.column == self.column):
                differing[then] = entry
        for then, entry in differing.items():
            said = (
                f"finds persons by {self._told}, and the release {entry.view} of run"
                f" {entry.run_id} by {then._told}: what the two tell together cannot be counted"
            )
            if not self.column and not then.column:
                said = (
                    f"finds persons by the content of their rows, and the release {entry.view} of"
                    f" run {entry.run_id} was made of rows with other columns or types: what the"
                    " two tell together cannot be counted"
                )
            yield Problem("ledger", said, hint=f"{self._way_out(then)}; or, {FORGET}")

    def strangers(
        self, engine: DuckDBEngine, view: str, earlier: Iterable[Entry]
    ) -> Iterator[Problem]:
        """The problem that hardly anybody of the last release of the view is recognized."""
        last = max((e for e in earlier if e.view == view), key=lambda e: e.release, default=None)
        if last is None:
            return
        again = engine.raw(
            f"select count(distinct person) from {ident(MEMBERS)} where release ="
            f" {lit(last.release)} and person in (select person from {ident(NEW_MEMBERS)})",
            "ledger",
        )[0][0]
        if 2 * again >= last.persons:
            return
        said = (
            f"recognizes {again:,} of the {last.persons:,} persons of the last release of"
            f" {view} (run {last.run_id}), by {self._told}: what the two tell together of the"
            " others cannot be counted"
        )
        as_it_was = "their values written as they were (case, blanks, digits)"
        if not self.column:
            as_it_was = "a key or person from the first release on"
        hint = (
            f"{as_it_was}; if they are other persons, or the others have left, republish:"
            f" {{new_population: true}}; or, {FORGET}"
        )
        yield Problem("ledger", said, hint=hint)

    @property
    def _told(self) -> str:
        if not self.column:
            return "the content of their rows"
        return f"{name_text(self.column)}, which is {self.kind}"

    def _way_out(self, then: Recognized) -> str:
        if not then.column:
            return "the columns of that release in source.query, and no key and person"
        if then.column != self.column:
            return f"key or person: {name_text(then.column)}, by this name in source.query"
        return "cast it in source.query to what it was"


def same_text(text: str, sql_type: str) -> Sql:
    """The text of a value; that of a number does not depend on its type: 7 for 7.0 and 7.00."""
    if kind(sql_type) != NUMBER or sql_type.removeprefix("U") in WHOLE:
        return Sql(text)
    number = f"cast({text} as double)"
    return Sql(
        # (a large number is written as 1e+17)
        f"case when strpos({text}, 'e') > 0 then"
        f" case when abs({number}) < {BIGINTS} and {number} = floor({number})"
        f" then cast(cast({number} as bigint) as varchar) else {text} end"
        f" when strpos({text}, '.') > 0 then rtrim(rtrim({text}, '0'), '.') else {text} end"
    )


def person_text(column: str, sql_type: str) -> Sql:
    """The text of a snapshot column that identifies a row's person."""
    name = ident(column).text
    if sql_type in ("FLOAT", "DOUBLE"):
        name = f"cast(case when {name} = 0 then 0 else {name} end as double)"
    return same_text(f"cast({name} as varchar)", sql_type)


NUMBER = "a number"
BIGINTS = "9e18"
"""Numbers below it fit into BIGINT."""
WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"})


def kind(sql_type: str) -> str:
    """The kind of a type; within a kind, equal values have equal texts."""
    if sql_type in ("FLOAT", "DOUBLE") or sql_type.startswith("DECIMAL"):
        return NUMBER
    found = family(sql_type)
    return NUMBER if found == "a whole number" else found

"""The columns of a cluster, in addition to its box, from which its guarantees are judged.

Per sensitive column `j`, if some rule reads it: `values_j`, the different values of each person,
concatenated over the persons; `records_of_j`, the same with a value once per record;
`known_j`, the number of persons with a value; `pairs_j` and `most_pairs_j`, the number of
different (person, value) pairs in total and the largest of one person. Also `most_records`, the
largest number of records of one person.

For EIR l-diversity a growing cluster has `proof_j`: fewer than l values that hit every member, so
that it does not hold yet. `proof_j` is NULL if no such set exists, so that the cluster holds, and
`[0]` if the last set has become invalid and a search has to decide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from anonymizer.algorithms.persons.rules import PersonRules
from anonymizer.compile import Sql, lit
from anonymizer.privacy.ir import IrL, PersonShare, ValueShare
from anonymizer.privacy.screens import screen

UNKNOWN = "[0]"


@dataclass(frozen=True, slots=True)
class Column:
    """One carried column: its expressions for a person and for a union."""

    name: str
    of_person: str
    """Aggregate over the person's rows of holdings (col, value, n)."""
    of_union: str
    """Expression over `x` and `y`, the sides of a union."""


@dataclass(frozen=True, slots=True)
class Carried:
    """The carried columns that some rules need, and the conditions over them."""

    rules: PersonRules

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that persons and all clusters carry, including closed clusters."""
        rules = self.rules.without_hitting_sets().rules
        made: list[Column] = []
        persons = any(isinstance(rule, PersonShare) for rule in rules)
        values = any(isinstance(rule, IrL | ValueShare) for rule in rules)
        records = any(type(rule) is ValueShare for rule in rules)
        if persons:
            made.append(_most("most_records", "coalesce(sum(n) filter (where col = {0}), 0)"))
        for j in self._numbers:
            if persons:
                made.append(_total(f"pairs_{j}", f"count(*) filter (where col = {j})"))
                made.append(_most(f"most_pairs_{j}", f"count(*) filter (where col = {j})"))
            if values:
                known = f"filter (where col = {j} and value > 0)"
                made.append(_list(f"values_{j}", _held(j)))
                made.append(_total(f"known_{j}", f"cast(count(*) {known} > 0 as bigint)"))
            if records:
                repeated = f"flatten(list(list_resize([value], n, value) order by value) {known})"
                made.append(_list(f"records_of_{j}", f"coalesce({repeated}, [])"))
        first = self._numbers[0] if self._numbers else ""
        return tuple(Column(c.name, c.of_person.format(first), c.of_union) for c in made)

    @property
    def own(self) -> list[tuple[Sql, Sql]]:
        """Aggregates and names of a person's carried columns and values."""
        columns = {c.name: c.of_person for c in self.columns}
        if self.rules.hitting:
            columns |= {f"values_{j}": _held(j) for j in self._numbers}
        return [(Sql(text), Sql(name)) for name, text in columns.items()]

    @property
    def names(self) -> list[Sql]:
        return [Sql(column.name) for column in self.columns]

    @property
    def union(self) -> list[tuple[Sql, Sql]]:
        return [(Sql(column.of_union), Sql(column.name)) for column in self.columns]

    @property
    def proofs(self) -> list[tuple[Sql, Sql, Sql]]:
        """For every column under EIR l-diversity: its number, its proof, the values of a person."""
        if not self.rules.hitting:
            return []
        return [(lit(int(j)), Sql(f"proof_{j}"), Sql(f"values_{j}")) for j in self._numbers]

    @property
    def waits(self) -> Sql | None:
        """Condition that a cluster waits for a search that decides whether it holds."""
        broken = [f"coalesce({proof} = {UNKNOWN}, false)" for _, proof, _ in self.proofs]
        return Sql(f"({' or '.join(broken)})") if broken else None

    @property
    def holds(self) -> Sql:
        """Condition that a grown cluster satisfies every guarantee and has at least two persons."""
        terms = [f"{proof} is null" for _, proof, _ in self.proofs]
        return Sql(f"({' and '.join([*terms, *self._counted()])})")

    @property
    def holds_united(self) -> Sql:
        """The same for a cluster that grew by single persons, who cannot break EIR l-diversity."""
        return Sql(f"({' and '.join(self._counted())})")

    def _counted(self) -> list[str]:
        """Conditions that depend on counts alone, cheap ones first."""
        rules = self.rules.without_hitting_sets().rules
        terms = [f"size >= {max(2, self.rules.least)}"]
        for j in self._numbers:
            terms += [f"({_named(screen(rule).holds.text, j)})" for rule in rules]
        if len(terms) == 1:
            return terms
        return [f"case when {terms[0]} then {' and '.join(terms[1:])} else false end"]

    @property
    def _numbers(self) -> tuple[str, ...]:
        return tuple(str(column.index) for column in self.rules.columns)


def _held(j: str) -> str:
    return f"coalesce(list(value order by value) filter (where col = {j} and value > 0), [])"


def _most(name: str, of_person: str) -> Column:
    return Column(name, f"cast({of_person} as bigint)", f"greatest(x.{name}, y.{name})")


def _total(name: str, of_person: str) -> Column:
    return Column(name, f"cast({of_person} as bigint)", f"(x.{name} + y.{name})")


def _list(name: str, of_person: str) -> Column:
    return Column(name, f"cast({of_person} as integer[])", f"list_concat(x.{name}, y.{name})")


def _named(condition: str, j: str) -> str:
    """Rewrite the condition of a screen to the carried columns of one sensitive column."""
    frequency = "coalesce(list_max(map_values(list_histogram({}))), 0)"
    meaning = {
        "persons": "size",
        "known": f"known_{j}",
        "pairs": f"pairs_{j}",
        "pairs_most": f"most_pairs_{j}",
        "records": "records",
        "records_most": "most_records",
        "different": f"len(list_distinct(values_{j}))",
        "known_pairs": f"len(values_{j})",
        "known_records": f"len(records_of_{j})",
        "widest": frequency.format(f"values_{j}"),
        "widest_records": frequency.format(f"records_of_{j}"),
    }
    return re.sub(r"\b[a-z_]+\b", lambda found: meaning.get(found[0], found[0]), condition)

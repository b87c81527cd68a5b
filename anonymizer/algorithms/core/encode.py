"""The first steps of every algorithm: codes of values, numbers of persons, distinct tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from anonymizer.compile import Sql, Table, lit, work
from anonymizer.errors import Problem, SourceError
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.process.text import many
from anonymizer.source.profile import Attribute
from anonymizer.source.public_grid import ends_of_step
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import SNAPSHOT, distinguishes_rows, later_draw, value_text
from anonymizer.steps import Guard, Row, Stage, Step

# Splits statements over many attributes, because planning time is quadratic in the joins.


JOINED_AT_ONCE = 24
"""Most attributes whose domains one statement joins."""


T = TypeVar("T")


def in_parts(attributes: Sequence[T], prefix: str) -> tuple[tuple[Table, Sequence[T]], ...]:
    """A work table for every part of the attributes; empty if one statement can join them all."""
    if len(attributes) <= JOINED_AT_ONCE:
        return ()
    starts = range(0, len(attributes), JOINED_AT_ONCE)
    return tuple(
        (work(f"{prefix}_{number}"), attributes[start : start + JOINED_AT_ONCE])
        for number, start in enumerate(starts, 1)
    )


# Packs the codes of a row into as few integers as possible.
#
# A tuple is then identified by one key instead of one per quasi-identifier: rows are narrower, and
# grouping or joining by tuples takes a third less time.


WORD_LIMIT = 2**62
"""A word has fewer different values than this, so that it is a non-negative BIGINT."""


@dataclass(frozen=True, slots=True)
class TupleWord:
    """Some codes of a row as the digits of one integer, the first attribute's leading.

    Words compare like the sequences of their codes.
    """

    number: int
    attributes: tuple[Attribute, ...]

    @property
    def name(self) -> Sql:
        return Sql(f"t{self.number}")

    def pack(self, code: Callable[[Attribute], str]) -> Sql:
        """The word of a row, from the expressions of its codes."""
        first, *others = self.attributes
        word = f"cast({code(first)} as bigint)"
        for place, a in enumerate(others):
            above = f"({word})" if place else word
            word = f"{above} * {lit(_size(a))} + {code(a)}"
        return Sql(word)

    def codes(self) -> list[tuple[Sql, Sql]]:
        """The expression of every code over the word, with the code's name."""
        found: list[tuple[Sql, Sql]] = []
        above = 1
        for a in reversed(self.attributes):
            digits = f"{self.name} // {lit(above)}" if above > 1 else str(self.name)
            if a is not self.attributes[0]:
                digits = f"({digits}) % {lit(_size(a))}"
            found.append((Sql(f"cast({digits} as integer)"), a.c))
            above *= _size(a)
        return found[::-1]


def tuple_words(attributes: Iterable[Attribute]) -> tuple[TupleWord, ...]:
    """The words that hold the codes of all attributes, in their order."""
    words: list[list[Attribute]] = []
    values = 1
    for a in attributes:
        values *= _size(a)
        if not words or values > WORD_LIMIT:
            words.append([])
            values = _size(a)
        words[-1].append(a)
    return tuple(TupleWord(number, tuple(held)) for number, held in enumerate(words, 1))


def _size(attribute: Attribute) -> int:
    """One more than the largest code; 0 is NULL, and values start at 1."""
    return attribute.distinct + 1


# The first steps of every algorithm: encode values, number persons, find distinct tuples.


CODED = work("coded")
UNITS = work("units")
PERSONS = work("persons")


def domain_steps(roles: Roles) -> tuple[Step, ...]:
    """Steps that give every quasi-identifier's values small codes, in the order for cuts."""
    return tuple(
        Step(
            f"codes of {a.column}",
            "prepare/domain",
            {
                "values": a.values,
                "hierarchy": a.hierarchy,
                "domain": a.domain,
                "attribute": a,
                "nulls": a.nulls > 0,
                "label": value_text("value", a),
                "unit": a.time_unit,
                **bounds_of_steps(a),
            },
        )
        for a in roles.quasi
    )


NEARNESS = 0.6
"""How far a value lies from the first one of its step, for the search: 1 is where it is. Measured:
0.5 to 0.8 loses least, 0 and 1 up to half more."""


def bounds_of_steps(attribute: Attribute) -> dict[str, Any]:
    """For a column on a grid, the first and last value of the step of each value, as texts too."""
    if attribute.grid is None or not attribute.ordered:
        return {"first": None}
    first, last = ends_of_step(attribute, Sql("value"))
    return {
        "first": first,
        "first_label": value_text("first", attribute),
        "last": last,
        "last_label": value_text("last", attribute),
        "nearness": NEARNESS,
    }


def coded_stages(
    policy: Policy, roles: Roles, *, numbered: bool, packed: bool = False
) -> tuple[Stage, ...]:
    """Stages that encode rows as codes, or `packed` into the words of their tuple.

    Draws identify rows. `numbered` adds `row_id`, for algorithms that need single rows.
    """
    carried = [s.s for s in roles.ruled] + [k.k for k in roles.kept]
    if policy.person is not None:
        carried.append(Sql("person"))
    words = tuple_words(roles.quasi)
    parts = in_parts(roles.quasi, "codes_part")

    def code(a: Attribute) -> str:
        return str(a.c) if parts else f"{a.d}.code"

    def known(a: Attribute) -> str:
        return str(a.c) if parts else f"coalesce({a.d}.code, 0)"

    context = {
        "snapshot": SNAPSHOT,
        "coded": CODED,
        "domains": [a.domain for a in roles.quasi],
        "attributes": roles.quasi,
        "codes": [] if packed else [a.c for a in roles.quasi],
        "flagged": roles.flagged,
        "words": [word.name for word in words],
        "packed": packed,
        "parts": [table for table, _ in parts],
        "word_of_codes": [(word.pack(code), word.name) for word in words],
        "word_of_known_codes": [(word.pack(known), word.name) for word in words],
        "has_identity": distinguishes_rows(policy, roles),
        "keyed": policy.key is not None,
        "carried": carried,
        "numbered": numbered,
        "copies": policy.key is None,
    }
    step = Step("encode rows", "prepare/coded", context, binds=("secret",))
    looked_up = [
        Step(
            f"codes, part {number}",
            "prepare/codes",
            {
                "snapshot": SNAPSHOT,
                "codes": table,
                "attributes": attributes,
                "domains": [a.domain for a in attributes],
            },
        )
        for number, (table, attributes) in enumerate(parts, 1)
    ]
    guards = [_same_values_guard(roles)] if roles.quasi else []
    return (*guards, *looked_up, step)


def _same_values_guard(roles: Roles) -> Guard:
    """A guard against values and NULLs that were added after the values were counted, as may happen
    if a script is run later. A word may have no bits for their codes, and NULL has no code in a
    column that had none.
    """

    def explain(row: Row) -> Problem:
        number, is_null, n = row
        found = f"{many(n, 'NULL')} and had none" if is_null else f"{many(n, 'more value')} than"
        return Problem(
            column_path(roles.quasi[number - 1].column),
            f"has {found} when the plan was made",
            hint="compile the policy again",
        )

    context = {
        "snapshot": SNAPSHOT,
        "domains": [a.domain for a in roles.quasi],
        "counted": [a.distinct for a in roles.quasi],
        "never_null": [(i, a.q) for i, a in enumerate(roles.quasi, 1) if not a.nulls],
    }
    step = Step("values as counted", "guards/codes", context)
    return Guard(step, explain, SourceError)


def person_stages(
    policy: Policy, roles: Roles, keys: Sequence[Sql] | None = None
) -> tuple[Stage, ...]:
    """Stages that number the persons of `coded`; persons with differing quasi-identifiers stop the
    run, unless the policy merges them.

    `keys` identify the tuples of `coded` if its codes do not.
    """
    if policy.person is None:
        return ()

    def explain(row: Row) -> Problem:
        return Problem(
            "person",
            f"{many(row[0], 'person has', 'persons have')} rows that differ in their"
            " quasi-identifiers",
            hint="make them equal in source.query, drop the columns, or merge_person_rows: true",
        )

    codes = list(keys or [a.c for a in roles.quasi])
    if roles.flagged:
        codes.append(Sql("pattern"))
    context = {
        "coded": CODED,
        "persons": PERSONS,
        "person_draw": later_draw("draw", "person"),
        "codes": codes,
    }
    numbers = Step("numbers of persons", "prepare/persons", context)
    if policy.merge_person_rows or not roles.quasi:
        return (numbers,)
    one_tuple = Step("one tuple per person", "guards/differing_persons", context)
    return (Guard(one_tuple, explain, SourceError), numbers)


def tuple_keys(roles: Roles) -> list[Sql]:
    """The words of the tuple, which identify units if rows are packed."""
    return [word.name for word in tuple_words(roles.quasi)]


def packed_units_step(policy: Policy, roles: Roles) -> Step:
    """The distinct tuples of packed rows, with their codes."""
    words = tuple_words(roles.quasi)
    unpacked = [code for word in words for code in word.codes()]
    return units_step(policy, tuple_keys(roles), unpacked=unpacked)


def units_step(
    policy: Policy,
    keys: Sequence[Sql],
    codes: Sequence[Sql] = (),
    unpacked: Sequence[tuple[Sql, Sql]] = (),
) -> Step:
    """A step that writes the distinct tuples. `keys` identify them; `codes` depend on the keys.

    `unpacked`: columns that are computed from the keys, as expressions with their names.
    """
    counted = "count(distinct person)" if policy.person is not None else "count(*)"
    return Step(
        "distinct tuples",
        "prepare/units",
        {
            "coded": CODED,
            "units": UNITS,
            "keys": list(keys),
            "codes": list(codes),
            "unpacked": list(unpacked),
            "count": Sql(counted),
        },
    )

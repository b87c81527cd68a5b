"""The first steps of every algorithm: encode values, number persons, find distinct tuples."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.algorithms.parts import in_parts
from anonymizer.algorithms.tuples import tuple_words
from anonymizer.compile import Sql, work
from anonymizer.errors import Problem, SourceError
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.process.text import many
from anonymizer.source.draws import later_draw
from anonymizer.source.labels import value_text
from anonymizer.source.profile import Attribute
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import SNAPSHOT, told_apart
from anonymizer.steps import Guard, Row, Stage, Step

CODED = work("coded")
UNITS = work("units")
PERSONS = work("persons")


def domain_steps(roles: Roles) -> tuple[Step, ...]:
    """Steps that give every quasi-identifier's values small codes, in the order for cuts."""
    return tuple(
        Step(
            f"codes of {a.column}",
            "prepare/domain.sql.j2",
            {
                "values": a.values,
                "hierarchy": a.hierarchy,
                "domain": a.domain,
                "attribute": a,
                "nulls": a.nulls > 0,
                "label": value_text("value", a),
                "unit": a.time_unit,
            },
        )
        for a in roles.quasi
    )


def coded_stages(
    policy: Policy, roles: Roles, *, numbered: bool, packed: bool = False
) -> tuple[Stage, ...]:
    """Stages that encode rows as codes, or `packed` into the words of their tuple.

    Draws identify rows. `numbered` adds `row_id`, for algorithms that need single rows.
    """
    carried = [s.s for s in roles.sensitive] + [k.k for k in roles.kept]
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
        "word_of_codes": [(word.packed(code), word.name) for word in words],
        "word_of_known_codes": [(word.packed(known), word.name) for word in words],
        "has_identity": told_apart(policy, roles),
        "keyed": policy.key is not None,
        "carried": carried,
        "numbered": numbered,
        "copies": policy.key is None,
    }
    step = Step("encode rows", "prepare/coded.sql.j2", context, binds=("secret",))
    looked_up = [
        Step(
            f"codes, part {number}",
            "prepare/codes.sql.j2",
            {
                "snapshot": SNAPSHOT,
                "codes": table,
                "attributes": attributes,
                "domains": [a.domain for a in attributes],
            },
        )
        for number, (table, attributes) in enumerate(parts, 1)
    ]
    guards = [_as_counted(roles)] if roles.quasi else []
    return (*guards, *looked_up, step)


def _as_counted(roles: Roles) -> Guard:
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
    step = Step("values as counted", "guards/codes.sql.j2", context)
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
    numbers = Step("numbers of persons", "prepare/persons.sql.j2", context)
    if policy.merge_person_rows or not roles.quasi:
        return (numbers,)
    one_tuple = Step("one tuple per person", "guards/differing_persons.sql.j2", context)
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
        "prepare/units.sql.j2",
        {
            "coded": CODED,
            "units": UNITS,
            "keys": list(keys),
            "codes": list(codes),
            "unpacked": list(unpacked),
            "count": Sql(counted),
        },
    )

"""The steps every algorithm begins with: snapshot, values, hierarchies, codes, units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.algorithms.draws import later_draw
from anonymizer.algorithms.labels import typed, value_text
from anonymizer.algorithms.roles import Roles
from anonymizer.algorithms.tuples import tuple_words
from anonymizer.compile import Sql, Table, ident, work
from anonymizer.compile.condition import condition
from anonymizer.errors import Problem, SourceError
from anonymizer.plan import Guard, Row, Stage, Step
from anonymizer.policy import Policy
from anonymizer.profile import TableProfile

SNAPSHOT = work("snapshot")
CODED = work("coded")
UNITS = work("units")
DISTINCT = work("distinct_values")
PERSONS = work("persons")


@dataclass(frozen=True, slots=True)
class Relation:
    """Where rows come from: a table, or SQL (a file function, a user's query)."""

    sql: Sql
    table: Table | None = None


def snapshot_step(
    policy: Policy,
    profile: TableProfile,
    roles: Roles,
    source: Relation,
    more: Sequence[tuple[Sql, Sql]] = (),
) -> Step:
    """Raises SourceError with every condition that may not be used.

    `more`: further columns, as expressions over the source with their names.
    """
    names = [name for name, _ in profile.columns]
    columns: list[tuple[Sql, Sql]] = []
    problems: list[Problem] = []
    for a in roles.quasi:
        columns.append((_value(a.column, a.sql_type), a.q))
        when = policy.columns[a.column].sensitive_when
        if when is not None:
            found = condition(when, names, f"columns.{a.column}.sensitive_when")
            if isinstance(found, Problem):
                problems.append(found)
            else:
                columns.append((found, a.f))
    columns += [(_value(s.column, s.sql_type), s.s) for s in roles.sensitive]
    columns += [(_value(k.column, k.sql_type), k.k) for k in roles.kept]
    if policy.person is not None:
        columns.append((ident(policy.person), Sql("person")))
    identity = _identity(policy, profile, roles)
    if identity is not None:
        columns.append((identity, Sql("identity")))
    columns += more
    if problems:
        raise SourceError(problems)
    return Step(
        "read the source",
        "prepare/snapshot.sql.j2",
        {
            "snapshot": SNAPSHOT,
            "columns": columns,
            "source": source.table or source.sql,
            "relation": source.sql,
        },
    )


def _value(column: str, sql_type: str) -> Sql:
    """A column as it is read; what carries more than its values (an ENUM's type) becomes text."""
    name = ident(column)
    if sql_type.startswith("ENUM") or sql_type == "VARCHAR":
        # a column may carry a collation of its own; values compare by their bytes
        return Sql(f'cast({name} as varchar) collate "binary"')
    if sql_type in ("FLOAT", "DOUBLE"):
        # -0.0 and 0.0 are equal and print differently: which one a group shows would be chance
        return Sql(f"cast(case when {name} = 0 then 0 else {name} end as {sql_type})")
    return name


def _identity(policy: Policy, profile: TableProfile, roles: Roles) -> Sql | None:
    """What tells a row apart beside its quasi-identifiers: the key, or all other columns.

    None where nothing has to. Injective: every text is preceded by its length, NULL by -1.
    """
    if policy.key is not None:
        return Sql(_text(policy.key, profile))
    if not _told_apart(policy, roles):
        return None
    quasi = {a.column for a in roles.quasi}
    others = [_text(name, profile) for name, _ in profile.columns if name not in quasi]
    if not others:
        return None
    # (a length that is a text is made once per different value of a column, not once per row)
    length = "coalesce(cast(strlen({0}) as varchar), '-1'), ':', {0}"
    texts = ", ".join(length.format(text) for text in others)
    return Sql(f"md5(concat({texts}))")


def _text(column: str, profile: TableProfile) -> str:
    return f"cast({typed(ident(column).text, profile.type_of(column))} as varchar)"


def values_step(column: str, values: Table, cell: Sql) -> Step:
    """The distinct values of one column of the snapshot, with their counts."""
    return Step(
        f"values of {column}",
        "prepare/values.sql.j2",
        {"snapshot": SNAPSHOT, "values": values, "column": cell},
    )


def values_steps(roles: Roles) -> tuple[Step, ...]:
    """The distinct values of every quasi-identifier."""
    return tuple(values_step(a.column, a.values, a.q) for a in roles.quasi)


def values_at_once(roles: Roles) -> tuple[Step, ...]:
    """The same in one reading of the snapshot, for engines to which every reading is a cost."""
    if not roles.quasi:
        return ()
    shared = {"snapshot": SNAPSHOT, "distinct": DISTINCT, "attributes": roles.quasi}
    one = [
        Step(
            f"values of {a.column}",
            "prepare/values_of.sql.j2",
            {"distinct": DISTINCT, "values": a.values, "attribute": a},
        )
        for a in roles.quasi
    ]
    return (Step("values of all columns", "prepare/distinct.sql.j2", shared), *one)


def row_counts(roles: Roles, *, at_once: bool) -> list[str]:
    """Queries for the rows of the snapshot, and for those in which a quasi-identifier is known."""
    if at_once and roles.quasi:
        counted = f"select coalesce(sum(n), 0) from {ident(DISTINCT)}"
        first = roles.quasi[0].index
        known = [f"{counted} where g{a.index} = 0 and {a.q} is not null" for a in roles.quasi]
        return [f"{counted} where g{first} = 0", *known]
    counted = f"select count(*) from {ident(SNAPSHOT)}"
    return [counted, *(f"select coalesce(sum(n), 0) from {ident(a.values)}" for a in roles.quasi)]


def domain_steps(roles: Roles) -> tuple[Step, ...]:
    """Small codes for every quasi-identifier's values, in the order in which they are cut."""
    return tuple(
        Step(
            f"codes of {a.column}",
            "prepare/domain.sql.j2",
            {
                "snapshot": SNAPSHOT,
                "values": a.values,
                "hierarchy": a.hierarchy,
                "domain": a.domain,
                "attribute": a,
                "nulls": a.nulls > 0,
                "column": a.q,
                "label": value_text("value", a),
                "unit": Sql("day" if a.sql_type == "DATE" else "second"),
            },
        )
        for a in roles.quasi
    )


def coded_stages(
    policy: Policy, roles: Roles, *, numbered: bool, packed: bool = False
) -> tuple[Stage, ...]:
    """Rows as codes, or `packed` as the words of their tuple; draws tell all rows apart.

    `numbered` adds `row_id`, where rows are needed one by one.
    """
    carried = [s.s for s in roles.sensitive] + [k.k for k in roles.kept]
    if policy.person is not None:
        carried.append(Sql("person"))
    words = tuple_words(roles.quasi)
    context = {
        "snapshot": SNAPSHOT,
        "coded": CODED,
        "domains": [a.domain for a in roles.quasi],
        "attributes": roles.quasi,
        "codes": [] if packed else [a.c for a in roles.quasi],
        "flagged": roles.flagged,
        "words": [word.name for word in words],
        "packed": packed,
        "word_of_codes": [(word.packed(lambda a: f"{a.d}.code"), word.name) for word in words],
        "word_of_known_codes": [
            (word.packed(lambda a: f"coalesce({a.d}.code, 0)"), word.name) for word in words
        ],
        "has_identity": _told_apart(policy, roles),
        "carried": carried,
        "suppressed": suppressed(policy, roles),
        "persons_whole": policy.person is not None,
        "numbered": numbered,
        "copies": policy.key is None,
    }
    step = Step("encode rows", "prepare/coded.sql.j2", context, binds=("secret",))
    return (_as_counted(roles), step) if packed and roles.quasi else (step,)


def _as_counted(roles: Roles) -> Guard:
    """Values that came after they were counted, as a script that is run later may meet them, have
    codes for which a word has no room.
    """

    def explain(row: Row) -> Problem:
        return Problem(
            f"columns.{roles.quasi[int(row[0]) - 1].column}",
            f"has {row[1]} more values than when the plan was made",
            hint="compile the policy again",
        )

    context = {
        "domains": [a.domain for a in roles.quasi],
        "counted": [a.distinct for a in roles.quasi],
    }
    step = Step("values as counted", "guards/codes.sql.j2", context)
    return Guard(step, explain, SourceError)


def suppressed(policy: Policy, roles: Roles) -> list[Sql]:
    """The columns of the snapshot whose NULLs leave a row out, and with it those of its person."""
    columns = [(a.column, a.q) for a in roles.quasi]
    columns += [(s.column, s.s) for s in roles.sensitive]
    columns += [(k.column, k.k) for k in roles.kept]
    return [name for column, name in columns if policy.columns[column].nulls == "suppress"]


def person_stages(
    policy: Policy, roles: Roles, keys: Sequence[Sql] | None = None
) -> tuple[Stage, ...]:
    """Numbers for the persons of `coded`; persons whose quasi-identifiers differ stop the run,
    unless the policy merges them.

    `keys` tell the tuples of `coded` apart, where its codes do not.
    """
    if policy.person is None:
        return ()

    def explain(row: Row) -> Problem:
        return Problem(
            "person",
            f"{row[0]} persons have rows that differ in their quasi-identifiers",
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


def _told_apart(policy: Policy, roles: Roles) -> bool:
    """Whether rows with equal quasi-identifiers have to be told apart.

    Where nothing else of them is published or remembered, any of them may stand for any other.
    """
    if policy.person is not None or policy.ledger is not None:
        return policy.key is not None or len(policy.columns) > len(roles.quasi)
    return policy.key is not None or bool(roles.sensitive or roles.kept or roles.flagged)


def tuple_keys(roles: Roles) -> list[Sql]:
    """The words of the tuple: what tells units apart where rows are packed."""
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
    """`keys` tell units apart; `codes` are further columns that depend on them.

    `unpacked`: columns that are made from the keys, as expressions with their names.
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

"""Warnings of a run, each with a count and a way out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from anonymizer.algorithms.core.guards import NEARLY_UNIQUE
from anonymizer.algorithms.registry import unused_hierarchies
from anonymizer.compile import Sql, Table, ident, join, lit, sql
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Session
from anonymizer.errors import Problem, SourceError
from anonymizer.guarantees.requirements import requirements_of
from anonymizer.measure.usefulness import little_left
from anonymizer.policy import Policy
from anonymizer.policy.checks import crosscheck
from anonymizer.policy.checks.columns import may_follow
from anonymizer.policy.checks.release_options import protecting
from anonymizer.policy.defaults import PRESETS
from anonymizer.policy.paths import column_path, name_text
from anonymizer.policy.values import PACKED, FrozenMap, columns_of
from anonymizer.process.text import many
from anonymizer.release.certificate import acknowledged, joined_on, published_as_it_is
from anonymizer.run.ambiguities import FEW, FIRST_YEAR, MEANT
from anonymizer.source import column_names
from anonymizer.source.column_names import (
    A_FEW,
    CATEGORY,
    UNFAMILIAR,
    countable,
    familiar,
    names_part,
    names_people,
    repeats_like_persons,
)
from anonymizer.source.files import last_bytes
from anonymizer.source.profile import TableProfile, read_as_text
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.steps import Note, Step

# Warnings about a source that may mean otherwise than it is read, from the counts of `meant`.


ENOUGH = 20
"""Fewer rows say nothing about a table."""
CONTENTS = 10
"""Contents that have the same number of copies by no chance."""
HOUSEHOLD = 12
"""Persons up to which a group may be a household, on average."""
DIGITS = (
    "with more digits than its type is exact for: different ones may have become one; store them"
    " as text, as decimals or as whole numbers where they come from"
)
CENTURY = (
    f"before the year {FIRST_YEAR}: was the century left out when they were written or read? Add it"
    " in source.query, and make dates that stand for unknown ones NULL there"
)
UNKNOWNS = (
    "with a spelling of unknown that source.read.nulls lacks, which count as values for every rule:"
    " add it there"
)
SPELLED = (
    "another one but for upper and lower case, blanks, characters without width or the Unicode"
    " form, and count as different"
)
UNTOLD = "role drop, or role quasi, which counts it for k"
Figures = Mapping[str, Mapping[str, int]]
"""Counts of one kind, by column (as a number) and name."""


def meant_remarks(
    policy: Policy, notes: MutableMapping[str, Any], reported: Collection[str] = ()
) -> Iterator[str]:
    """The warnings; removes their counts from `notes`.

    `reported`: columns that are suspected already to tell whose row it is.
    """
    found = _figures(notes)
    for name in [name for name in notes if name.startswith(MEANT)]:
        del notes[name]
    yield from _count_warnings(policy, found.get("early", {}), "date", CENTURY)
    yield from _count_warnings(policy, found.get("large", {}), "whole number", DIGITS)
    yield from _count_warnings(policy, found.get("unknown", {}), "cell", UNKNOWNS)
    yield from _spelled(policy, found.get("spelled", {}))
    yield from _repeating(found.get("copies", {}))
    yield from _groups(policy, found.get("groups", {}), reported)
    for name, told, mend in _revealing_columns(policy, found.get("beside", {})):
        yield f"{column_path(name)}: {told}; {mend}"
    yield from _alone(policy, found.get("alone", {}))


def refuse_revealing(policy: Policy, notes: Mapping[str, Any]) -> None:
    """Raise SourceError where a kept column tells a quasi-identifier, under a preset."""
    if policy.preset in PRESETS:
        SourceError.refuse(
            Problem(column_path(name), told, hint=mend)
            for name, told, mend in _revealing_columns(policy, _figures(notes).get("beside", {}))
            if policy.columns[name].role == "keep"
        )


def _figures(notes: Mapping[str, Any]) -> dict[str, dict[str, dict[str, int]]]:
    """The counts by kind, column (as a number) and name."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for name in [name for name in notes if name.startswith(MEANT)]:
        kind, place, figure = name.removeprefix(MEANT).split(".")
        found.setdefault(kind, {}).setdefault(place, {})[figure] = int(notes[name] or 0)
    return found


def _column(policy: Policy, place: str) -> str:
    return list(policy.columns)[int(place)]


def _count_warnings(policy: Policy, found: Figures, unit: str, said: str) -> Iterator[str]:
    for place, figures in found.items():
        if figures["n"]:
            yield f"{column_path(_column(policy, place))}: has {many(figures['n'], unit)} {said}"


def _spelled(policy: Policy, found: Figures) -> Iterator[str]:
    for place, n in found.items():
        again = n["different"] - n["folded"]
        if place in ("key", "person"):
            path, column = place, str(getattr(policy, place))
            what = "rows of different persons" if place == "key" else "persons"
            if policy.ledger is not None:
                what += ", and the ledger recognizes each in one form only"
        else:
            column = _column(policy, place)
            path, what = column_path(column), "values for every rule on the column"
        if again:
            yield (
                f"{path}: {again:,} of {n['different']:,} values are {SPELLED} {what}: write each"
                f" in one way in source.query, as lower(trim({column}))"
            )
        if place not in ("key", "person") and nearly_unique(policy, column, n):
            yield unique_remark(policy, column, n)


def unique_remark(policy: Policy, column: str, n: Mapping[str, int]) -> str:
    """The warning of a sensitive column of which nearly every value is unique."""
    coarser = "by round or top_code" if policy.source.file else "in source.query"
    return (
        f"{column_path(column)}: is nearly unique ({n['single']:,} of {n['known']:,} values are"
        " those of one row or person) and published as it is: whoever knows a value finds its row,"
        f" and rules on different values hold by themselves; make it coarser {coarser}, or"
        " acknowledge_unique: true"
    )


def nearly_unique(policy: Policy, column: str, n: Mapping[str, int]) -> bool:
    """Return whether a sensitive column is published in its rows, with values that nobody shares;
    `n`: rows that have a value (`known`), and values of one row or person (`single`).
    """
    given = policy.columns[column]
    if given.role != "sensitive" or policy.algorithm.values_in != "class":
        return False
    nearly = n["known"] >= ENOUGH and n["single"] >= NEARLY_UNIQUE * n["known"]
    return nearly and not given.acknowledge_unique


def _repeating(found: Figures) -> Iterator[str]:
    """A warning if rows have more copies than rows of different persons have by chance."""
    if not found:
        return
    n, several = found["all"], found["several"]
    f = [0, *(several[m] for m in sorted(several, key=int))]
    humps = (_hump(f[m - 1], f[m], f[m + 1], m) for m in range(2, len(f) - 1))
    every = n["different"] >= CONTENTS and n["different"] in found["factor"].values()
    if every or any(humps):
        yield (
            f"source: {n['known'] - n['different']:,} of {n['known']:,} rows repeat another one in"
            " every column, more than rows of different persons do by chance: copies count for k"
            " and every other rule as persons; leave them out (select distinct in source.query), or"
            " name person"
        )


def _hump(below: int, here: int, above: int, m: int) -> bool:
    """Return whether more contents have m copies than fits those that have one less and one more.

    However persons are spread over contents, the numbers f(m) of contents with m rows form a
    mixture of Poisson distributions, in which (m! f(m))^2 is at most (m-1)! f(m-1) (m+1)! f(m+1).
    """
    return here >= CONTENTS and m * here**2 > 4 * (m + 1) * (below + 3) * (above + 3)


def _groups(policy: Policy, found: Figures, reported: Collection[str]) -> Iterator[str]:
    for place, n in found.items():
        name = _column(policy, place)
        small = n["different"] < n["known"] <= HOUSEHOLD * n["different"]
        if (
            name in reported
            or not small
            or n["known"] < ENOUGH
            or 100 * n["alike"] <= FEW * n["large"]
        ):
            continue
        unit = "rows" if policy.person is None else "persons"
        way_out = f"privacy: {{units: {{{name_text(name)}: 3}}}} asks for three in every class"
        yield (
            f"{column_path(name)}: numbers groups of {unit} ({n['different']:,} values, on average"
            f" {n['known'] / n['different']:.1f} {unit} and at most {n['most']:,}), and in"
            f" {n['alike']:,} of {n['large']:,} groups that are large enough for a class all"
            " quasi-identifiers are equal, and nobody else has them: one may fill a class;"
            f" {way_out}"
        )


def _revealing_columns(policy: Policy, found: Figures) -> Iterator[tuple[str, str, str]]:
    """Columns that tell quasi-identifiers, with what is said of them, and a way out."""
    for place, others in found.items():
        shares = {_column(policy, quasi): share for quasi, share in others.items() if share}
        if shares:
            name, mend = _column(policy, place), UNTOLD
            most = max(shares, key=lambda quasi: shares[quasi])
            named = ", ".join(f"{quasi} ({share} % of the rows)" for quasi, share in shares.items())
            if policy.columns[name].role == "keep" and may_follow(policy, most):
                mend = f"role drop, or role quasi with like: {name_text(most)}, which shows no more"
            told = f"is published as it is and tells {named}, however coarse that is published"
            yield name, told, mend


def _alone(policy: Policy, found: Figures) -> Iterator[str]:
    for n in found.values():
        if n["known"] >= ENOUGH and 100 * n["alone"] >= FEW * n["known"]:
            unit = "rows" if policy.person is None else "persons"
            named = [name for name, column in policy.columns.items() if column.role == "keep"]
            yield (
                f"columns: {n['alone']:,} of {n['known']:,} {unit} are alone with their values of"
                f" the columns of role keep ({', '.join(named)}), which k does not count; role"
                " quasi, round or drop"
            )


# Warnings about values of quasi-identifiers: texts that are numbers, dates or names, and numbers
# that are alike as doubles.


WRITTEN_AS = "written_as."
ROSTER = "roster."
ALIKE = "alike_as_doubles."
EXACT = re.compile(r"U?(BIGINT|HUGEINT)|DECIMAL(\((1[6-9]|[23]\d),\d+\))?")
"""Types of exact numbers of more digits than a double has."""
NUMBERS = r"^ *[-+]?([0-9]+|[0-9]{1,3}([.,][0-9]{3})+)([.,][0-9]+)? *$"
DATES = (
    r"^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2}))"
    r"([ T][0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?)?$"
)
CODES = "^([A-Z0-9./-]*[0-9][A-Z0-9./-]*|[A-Za-z]{1,3})$"
WORDS = {1: "numbers", 2: "dates"}


def written_as_notes(policy: Policy, roles: Roles, *, events: bool = False) -> tuple[Note, ...]:
    """The statement that looks at texts without a hierarchy, and at numbers of many digits.

    `events`: the columns are events, whose cells are no sets: only names are looked for.
    """
    if policy.algorithm.classless:
        return ()
    texts = [a for a in roles.quasi if read_as_text(a.sql_type) and a.spec is None]
    rosters = [a for a in texts if "name" not in policy.columns[a.column].acknowledge]
    people = [a for a in rosters if names_people(a.column)]
    rosters = people + [a for a in rosters if not familiar(a.column)]
    exact = [a for a in roles.quasi if a.kind == "numeric" and EXACT.fullmatch(a.sql_type)]
    if events:
        texts, exact = [], []
    looked = [(WRITTEN_AS, a) for a in texts] + [(ALIKE, a) for a in exact]
    looked += [(ROSTER, a) for a in dict.fromkeys(rosters)]
    if not looked:
        return ()
    numbered = [(a.values, lit(number)) for number, (_, a) in enumerate(looked, 1)]
    rest = len(texts) + len(exact)
    context = {
        "values": [table for table, _ in numbered],
        "texts": numbered[: len(texts)],
        "exact": numbered[len(texts) : rest],
        "rosters": [
            (table, number, a in people)
            for (table, number), (_, a) in zip(numbered[rest:], looked[rest:], strict=True)
        ],
        "names": [prefix + a.column for prefix, a in looked],
        "few": A_FEW,
        "category": CATEGORY,
        "unfamiliar": round(1 / UNFAMILIAR),
        "codes": CODES,
        "numbers": NUMBERS,
        "dates": DATES,
    }
    return (Note(Step("what values look like", "prepare/written_as", context)),)


def written_as_remarks(notes: MutableMapping[str, Any]) -> Iterator[str]:
    """The warnings; removes their figures from `notes`."""
    for name in [name for name in notes if name.startswith(WRITTEN_AS)]:
        found = int(notes.pop(name))
        if found:
            yield (
                f"{column_path(name.removeprefix(WRITTEN_AS))}: is text, and all its values are"
                f" {WORDS[found]}: its cells are sets of values; cast it in source.query, to get"
                " ranges, which lose less, or give codes such as postcodes"
                " hierarchy: {builder: prefix}"
            )
    for name in [name for name in notes if name.startswith(ALIKE)]:
        if int(notes.pop(name)):
            yield (
                f"{column_path(name.removeprefix(ALIKE))}: has values that are alike in their first"
                " 16 digits, to which losses are computed: those of this column are understated,"
                " and its classes may be wider than need be; subtract a constant in source.query,"
                " or round"
            )
    for name in [name for name in notes if name.startswith(ROSTER)]:
        found = int(notes.pop(name))
        if found:
            yield (
                f"{column_path(name.removeprefix(ROSTER))}: is text with {found:,} different values"
                " and by its name it holds names of persons, or at least no places, dates or jobs:"
                " its cells are values as they are, so that a class may be a list of its members;"
                " role: identifier or drop, or, if the values name nobody, acknowledge: [name]"
            )


# Warnings of a run: conditions that are NULL, sensitive columns without any rule, columns that look
# like person keys, and releases of little use.
#
# No warning stops a run or is part of a release: they contain counts of unpublished data, which one
# statement takes from the snapshot.


NULLS = "null_conditions."
DIFFERENT = "different_values."
KNOWN = "known_values."
MOST = "most_rows."


def key_like(policy: Policy, profile: TableProfile) -> tuple[str, ...]:
    """Columns that may identify persons, if the policy names no person.

    Columns that are published unchanged count only if they are named like identifiers.
    """
    if policy.person is not None or policy.algorithm.classless:
        return ()  # (without guarantees, nothing is counted by rows instead of persons)
    if policy.key is not None and column_names.names_person(policy.key):
        return ()  # every row is a different person; namesakes share a name
    others = column_names.QUASI | column_names.SENSITIVE | column_names.OTHERS
    found = []
    for name, column in policy.columns.items():
        hidden = column.role in ("identifier", "drop")
        if column_names.names_related(name):
            continue  # its rows are those of the person who is related
        if name in policy.owners or not (hidden or published_as_it_is(policy, name)):
            continue
        numbered = column.role == "identifier" or column_names.says(name, column_names.KEY)
        like = hidden and numbered and not column_names.says(name, others)
        if (like or column_names.names_person(name)) and countable(profile.type_of(name)):
            found.append(name)
    return tuple(found)


def digests(policy: Policy, profile: TableProfile) -> list[tuple[Sql, Sql]]:
    """Columns of the snapshot in which repeated values of key-like columns are counted."""
    return [
        (sql("case when {c} is not null then hash({c}) end", c=name), _digest(j))
        for j, name in enumerate(key_like(policy, profile))
    ]


def _digest(number: int) -> Sql:
    return Sql(f"h{number}")


def remark_notes(policy: Policy, profile: TableProfile, roles: Roles) -> tuple[Note, ...]:
    """The statement that counts, if there is anything to count."""
    conditions = [
        (sql("count(*) filter (where {f} is null)", f=a.f), ident(NULLS + a.column))
        for a in roles.flagged
    ]
    keys = [_Repeats.of(name, _digest(j)) for j, name in enumerate(key_like(policy, profile))]
    if not conditions and not keys:
        return ()
    return _counting(conditions, keys, SNAPSHOT, ident(SNAPSHOT))


def repeats(policy: Policy, session: Session) -> dict[str, Any]:
    """The counts of key-like columns, taken from the source itself if there is no snapshot."""
    names = key_like(policy, session.profile)
    if not names:
        return {}
    columns = join(sql("{e} as {h}", e=e, h=h) for e, h in digests(policy, session.profile))
    rows = sql("(select {c} from {r}) as source", c=columns, r=session.source.sql)
    keys = [_Repeats.of(name, _digest(j)) for j, name in enumerate(names)]
    executor = Executor(session.engine)
    executor.run(_counting([], keys, session.source.table or session.source.sql, rows))
    return dict(executor.notes)


@dataclass(frozen=True, slots=True)
class _Repeats:
    """A key-like column's digest, and the names of its counts."""

    digest: Sql
    different: Sql
    known: Sql
    most: Sql

    @classmethod
    def of(cls, column: str, digest: Sql) -> _Repeats:
        return cls(digest, *(ident(prefix + column) for prefix in (DIFFERENT, KNOWN, MOST)))


def _counting(
    conditions: list[tuple[Sql, Sql]], keys: list[_Repeats], table: Table | Sql, rows: Sql
) -> tuple[Note, ...]:
    context = {"snapshot": table, "rows": rows, "conditions": conditions, "keys": keys}
    return (Note(Step("warnings about the source", "prepare/remarks", context)),)


def remarks(
    policy: Policy,
    notes: MutableMapping[str, Any],
    kinds: Mapping[str, str],
    spoken: Collection[str] = (),
    *,
    counts: bool = True,
) -> list[str]:
    """The warnings that follow from counts and column kinds; removes counts from `notes` that serve
    only these warnings.

    `spoken`: sensitive columns with a rule that the policy of the table alone does not have.
    `counts`: whether the reader is the owner of the source, who may see its counts.
    """
    prefixes = (DIFFERENT, KNOWN, MOST, NULLS)
    different, known, most, undecided = (_taken(notes, prefix) for prefix in prefixes)
    found = [*unused_hierarchies(policy, kinds), *written_as_remarks(notes)]
    if counts and policy.source.format == "csv":
        file = policy.source_path
        if (
            file.is_file()
            and not file.name.endswith(PACKED)
            and last_bytes(file, 1) not in (b"", b"\n", b"\r")
        ):
            found.append(
                "source.file: has no line end after its last line: if the file was cut off there,"
                " rows or the end of a cell are missing"
            )
    for name in policy.semi_sensitive:
        nulls = undecided.get(name, 0)
        if nulls:
            rows = many(nulls, "row") if counts else "some rows"
            found.append(
                f"{column_path(name, 'sensitive_when')} is NULL in {rows}:"
                " their cells count as sensitive"
            )
    for name in acknowledged(policy):
        found.append(f"{column_path(name)}: {joined_on(policy)}")
    for name in (name for name in unprotected(policy) if name not in spoken):
        found.append(
            f"{column_path(name)}: is sensitive and no rule protects it: everybody in a class may"
            f" have the same value, and who finds the class then knows it; {_rule_for(policy)}"
        )
    found += _kept_remarks(policy, spoken)
    repeating = [n for n in different if repeats_like_persons(n, different[n], known[n])]
    keys = columns_of(policy.key)
    if len(keys) == 1 and column_names.names_person(keys[0]):  # every row is another person
        repeating = []
    # names of persons repeat along with their numbers: the numbers alone are reported then
    parts = sorted(filter(names_part, repeating), key=lambda name: different[name])
    repeating = [name for name in repeating if name not in parts[:-1]]  # (of a name, the rarest)
    sure = [name for name in repeating if column_names.names_person(name)]
    for name in sure or repeating:
        said = "several rows have the same value:"
        if counts:
            mean = known[name] / different[name]
            said = (
                f"{different[name]:,} values in {known[name]:,} rows (on average {mean:.1f} rows"
                f" per value, at most {most[name]:,}):"
            )
        found.append(
            f"{column_path(name)}: {said}"
            + (" it is published as it is;" if published_as_it_is(policy, name) else "")
            + ("" if sure else " if it identifies the person of a row,")
            + " k and the other guarantees count rows, not persons, and a class may hold the rows"
            f" of one person only; {_counted_by(policy, name)}"
        )
    return [*found, *meant_remarks(policy, notes, repeating)]


def _kept_remarks(policy: Policy, spoken: Collection[str]) -> Iterator[str]:
    """Columns that are kept as they are, though their names say that a rule is for them."""
    for name in kept_despite_name(policy):
        said = f"{column_path(name)}: is kept as it is, and its name says that"
        if name in spoken:
            continue
        if column_names.sensitive(name):
            yield (
                f"{said} people may want it secret: nothing is promised of it; role: sensitive,"
                " with protect, if it is"
            )
        else:
            yield (
                f"{said} others may know it: who does may find rows in their class; role: quasi,"
                " if so"
            )


def kept_despite_name(policy: Policy) -> list[str]:
    """Kept columns whose names suggest a secret, or what others know of a person."""
    return [
        name
        for name, column in policy.columns.items()
        if column.role == "keep"
        and not column.acknowledge
        and (column_names.sensitive(name) or column_names.says(name, column_names.INDIVIDUAL))
    ]


def _counted_by(policy: Policy, name: str) -> str:
    hidden = policy.columns[name].model_copy(update={"role": "identifier"})
    columns = FrozenMap({**policy.columns, name: hidden})
    named = policy.model_copy(update={"person": name})
    if not crosscheck(named):
        return f"name it as `person: {name}`, so that persons are counted"
    if not crosscheck(named.model_copy(update={"columns": columns})):
        return f"name it as `person: {name}`, with the role identifier: persons are then counted"
    return "with this policy, which can name no person: keep one row of each in source.query"


def table_remarks(
    policy: Policy,
    spoken: Collection[str],
    notes: MutableMapping[str, Any],
    kinds: Mapping[str, str],
) -> list[str]:
    """The warnings for one of several tables, by its own policy and its columns with an `eir_l`.

    The links determine which rows belong to one person, so no column is suspected to.
    """
    for name in [name for name in notes if name.startswith((DIFFERENT, KNOWN, MOST))]:
        del notes[name]
    return remarks(policy, notes, kinds, spoken)


def little(measures: Mapping[str, Any]) -> list[str]:
    """A warning if a release is valid but of little use, by its measures."""
    return [f"the release holds, but little is left: {found}" for found in little_left(measures)]


def unprotected(policy: Policy) -> list[str]:
    """Sensitive columns that no guarantee of the table or of the column covers."""
    if policy.algorithm.classless:
        return []  # nothing is protected, as the certificate says
    spoken = {requirement.column for requirement in requirements_of(policy)}
    return [name for name in policy.sensitive if name not in spoken]


def _rule_for(policy: Policy) -> str:
    """The rule that would protect a sensitive column."""
    if policy.republish is not None and policy.republish.append_only:
        instead = protecting(policy)
        return "append_only can keep no rule" + (f", and {instead}" if instead else "")
    return "for instance protect: {l_diversity: 3}"


def _taken(notes: MutableMapping[str, Any], prefix: str) -> Mapping[str, int]:
    names = [name for name in notes if name.startswith(prefix)]
    return {name.removeprefix(prefix): int(notes.pop(name)) for name in names}

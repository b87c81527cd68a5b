"""Work tables of an attack: the decoded cells of a release, and targets from the source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anonymizer.compile import NumberedColumn, Sql, Table, ident, lit, render, work
from anonymizer.contract.checks import RunSql
from anonymizer.contract.layout import Layout, Originals, PublishedColumn, type_sql
from anonymizer.engines.execute import Executor
from anonymizer.errors import PolicyError
from anonymizer.ledger.entries import entries
from anonymizer.ledger.history import digests_step
from anonymizer.ledger.protected_columns import DRAWN
from anonymizer.ledger.store import DIGESTS, MEMBERS, attached, bound, read_key
from anonymizer.measure.queries import QueryAttribute, QueryTables, stage
from anonymizer.policy import Policy
from anonymizer.review.inputs import Beside

MILLION = 1_000_000
OF_ALL = "all_candidates"


@dataclass(frozen=True, slots=True)
class Quasi:
    """A quasi-identifier of the attack, with the values that its cells cover."""

    staged: QueryAttribute
    cover: Table

    @property
    def index(self) -> int:
        return self.staged.index


@dataclass(frozen=True, slots=True)
class Secret:
    """A sensitive column, and how it is published."""

    index: int
    column: str
    original: Sql
    """Its value in a row of the source; NULL where it is not sensitive there."""
    bucket: str | None
    """Bucket (or group) column of `data`; None if values are published in their rows."""
    data: Table
    published: PublishedColumn
    carried: Sql
    """The value, bucket or group in the staged rows."""

    s = NumberedColumn("s")


@dataclass(frozen=True, slots=True)
class Arena:
    """A release and its targets, staged under one prefix."""

    run_sql: RunSql
    quasi: tuple[Quasi, ...]
    secrets: tuple[Secret, ...]
    by_person: bool
    person: Sql | None
    """The staged column that identifies the persons of the release."""
    name: Callable[[str], Table]
    plain: Mapping[str, Sql]
    """By column, the staged values that the rows publish as they are."""

    def select(self, template: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """Run a template of this folder over the staged tables."""
        known = {"attributes": [q.staged for q in self.quasi], "by_person": self.by_person}
        for table in ("combos", "candidates"):
            known[table] = self.name(table)
        known["rows"] = self.name("query_rows")
        text = render(f"attack/{template}", {**known, **parameters}).text
        return self.run_sql(text)

    def weights(self, secret: Secret) -> Table:
        return self.name(f"weights_{secret.index}")

    def beliefs(self, secret: Secret) -> Table:
        return self.name(f"beliefs_{secret.index}")


TARGETS = work("attack_targets")
TUPLES = work("attack_tuples")
EVERYBODY = work("attack_everybody")
ALL_TUPLES = work("attack_all_tuples")
PERSONS = work("attack_persons")
IN_BOTH = work("attack_in_both")


def arena(
    beside: Beside, view: Table, layout: Layout, prefix: str, *, share: float, seed: int
) -> Arena:
    """Stage a release, and draw the targets; `arena_of_same` reuses them."""
    made = _staged(beside, view, layout, prefix, {})
    _draw(made, beside.originals, TARGETS, TUPLES, share, seed)
    return _with_beliefs(made, made.quasi)


def arena_of_same(beside: Beside, view: Table, layout: Layout, prefix: str, now: Arena) -> Arena:
    """Stage another release for the targets of `now`, whose quasi-identifiers are known.

    A target's values of further columns that only the other release generalizes are unknown, so all
    their cells match. Raises PolicyError if the releases have no quasi-identifier in common.
    """
    numbers = {q.staged.column.column: q.index for q in now.quasi}
    made = _staged(beside, view, layout, prefix, numbers)
    shared = tuple(q for q in made.quasi if q.staged.column.column in numbers)
    if not shared:
        said = "has no quasi-identifier in common with the release"
        raise PolicyError.at("--earlier", said, allowed=", ".join(numbers))
    return _with_beliefs(made, shared)


def redrawn(now: Arena, originals: Originals, share: float, seed: int) -> Arena:
    """The same release, for targets that are drawn from other rows of its source: all of them, if
    the share draws nobody.
    """
    _draw(now, originals, TARGETS, TUPLES, share, seed)
    if not now.run_sql(f"select 1 from {ident(TARGETS)} limit 1"):
        _draw(now, originals, TARGETS, TUPLES, 1.0, seed)
    return _with_beliefs(now, now.quasi)


def in_both(policy: Policy, beside: Beside, ledger: Path, runs: Sequence[str]) -> Originals | None:
    """The rows of persons who are in all of these releases; None if the ledger does not have them
    or its key is gone.
    """
    key = read_key(ledger) if ledger.is_file() else None
    if key is None:
        return None
    engine, originals = beside.engine, beside.originals
    with attached(engine, ledger, read_only=True):
        numbers = [one.release for one in entries(engine) if one.run_id in runs]
        if len(numbers) < len({*runs}):
            return None
        of_each = (
            f"select person from {ident(MEMBERS)} where release = {lit(number)}"
            for number in numbers
        )
        members = f"create or replace table {ident(PERSONS)} as {' intersect '.join(of_each)}"
        engine.raw(members, "source")
    engine.binds = {**engine.binds, "ledger_key": bound(key)}
    Executor(engine).run([digests_step(policy, beside.roles, beside.session.profile)])
    engine.raw(
        f"create or replace view {ident(IN_BOTH)} as select o.* from {ident(originals.table)} o"
        f" where row_ref in (select row_ref from {ident(DIGESTS)}"
        f" semi join {ident(PERSONS)} using (person))",
        "source",
    )
    return replace(originals, table=IN_BOTH)


def match_everybody(now: Arena, old: Arena, originals: Originals) -> Table:
    """Match all persons of the source with both releases, under a name that it returns."""
    _draw(now, originals, EVERYBODY, ALL_TUPLES, 1.0, 0)
    known = {q.index for q in now.quasi}
    for made in (now, old):
        shared = [q for q in made.quasi if q.index in known]
        _match(made, shared, ALL_TUPLES, made.name(OF_ALL))
    return now.name(OF_ALL)


def _staged(
    beside: Beside, view: Table, layout: Layout, prefix: str, numbers: Mapping[str, int]
) -> Arena:
    """Stage the release and the values that its cells cover, without targets."""

    def name(made: str) -> Table:
        return work(f"{prefix}_{made}")

    originals = beside.originals
    secrets, carried = _secrets(view, layout, originals)
    kept = [
        c
        for c in layout.columns
        if c.role == "keep" and not any(mask["mask"] in DRAWN for mask in c.masks)
    ]
    plain = {s.column: s.carried for s in secrets if s.bucket is None}
    plain |= {c.column: Sql(f"e{len(carried) + i}") for i, c in enumerate(kept, start=1)}
    carried = [*carried, *(c.name or c.column for c in kept)]
    if layout.person_id is not None:
        carried = [*carried, layout.person_id]
    staged = stage(
        beside.run_sql, view, layout, originals, None, QueryTables(name), carried, numbers
    )
    quasi = tuple(Quasi(a, name(f"cover_{a.index}")) for a in staged)
    person = Sql(f"e{len(carried)}") if layout.person_id is not None else None
    made = Arena(beside.run_sql, quasi, secrets, originals.person is not None, person, name, plain)
    for q in quasi:
        a = q.staged
        made.select(
            "cover",
            cover=q.cover,
            parts=a.parts,
            column=a.column,
            ordered=a.ordered,
            **a.template_names,
        )
    made.select("combos", person=person)
    return made


def _with_beliefs(made: Arena, known: Sequence[Quasi]) -> Arena:
    """Compute every target's candidates by its known attributes, and the beliefs."""
    _match(made, known, TUPLES, made.name("candidates"))
    for secret in made.secrets:
        parameters = {
            "weights": made.weights(secret),
            "data": secret.data,
            "bucket": secret.bucket,
            "column": secret.published,
            "type": type_sql(secret.published.sql_type),
            "carried": secret.carried,
            "person": made.person,
        }
        made.select("weights", **parameters)
        # with several rows per person, the probability is that at least one of them has the value
        beliefs = "beliefs" if made.person is None else "beliefs_persons"
        made.select(beliefs, beliefs=made.beliefs(secret), **parameters)
    return made


def _secrets(
    view: Table, layout: Layout, originals: Originals
) -> tuple[tuple[Secret, ...], list[str]]:
    found: list[Secret] = []
    carried: list[str] = []
    for column in layout.columns:
        if column.role != "sensitive" and not (column.role == "semi" and column.bucket):
            continue
        data, bucket = view, column.bucket
        if column.column in layout.tables:
            data = Table(layout.tables[column.column], view.schema, view.catalog)
            bucket = layout.group_id
            column = replace(column, name=column.name or column.column)
        carried.append(bucket or column.name or column.column)
        original = f"o.{ident(originals.values[column.column])}"
        if column.column in originals.flags:
            flag = ident(originals.flags[column.column])
            original = f"case when o.{flag} is not false then {original} end"
        place = Sql(f"e{len(carried)}")
        found.append(
            Secret(len(found) + 1, column.column, Sql(original), bucket, data, column, place)
        )
    return tuple(found), carried


def _draw(
    made: Arena, originals: Originals, targets: Table, tuples: Table, share: float, seed: int
) -> None:
    made.select(
        "targets",
        targets=targets,
        original=originals.table,
        domains=tuple(q.staged.domain for q in made.quasi),
        sensitive=[(s.original, s.s) for s in made.secrets],
        flags=originals.flags,
        person=ident(originals.person) if originals.person is not None else None,
        seed=str(seed),
        millionths=round(share * MILLION),
    )
    made.select("tuples", targets=targets, tuples=tuples)


def _match(made: Arena, known: Sequence[Quasi], tuples: Table, candidates: Table) -> None:
    """Find candidates, by the column with most values first, so that few pairs are compared."""
    sizes = {
        q.index: made.run_sql(f"select count(*) from {ident(q.staged.domain)}")[0][0] for q in known
    }
    ordered = sorted(known, key=lambda q: (-int(sizes[q.index]), q.index))
    made.select(
        "candidates",
        tuples=tuples,
        candidates=candidates,
        first=ordered[0],
        rest=ordered[1:],
        covers=tuple(q.cover for q in known),
    )

"""Tables of counts in a ledger: what several of the same persons say together.

The persons of all tables that share persons are grouped by their finest groups in each of them, or
their absence: a *joint group*. No sum or difference of what all of them publish may show that one
has 1 to n - 1 persons. So there has to be, for every joint group below n, another table of whole
numbers that agrees with every published figure and in which the group has n. It has at least one
person in every joint group that a release lists; one that every release leaves out may be empty.

Figures that two releases both show are compared first. Then programs in whole numbers find the
tables, over classes of joint groups that are in the same figures, and a statement that shares
nothing with them checks what they found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from anonymizer.algorithms.aggregate.groups import Dimension
from anonymizer.compile import Sql, Table, ident, lit, render
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import Problem
from anonymizer.ledger.compare import of_the_same_persons
from anonymizer.ledger.entries import Entry
from anonymizer.ledger.matches import FORGET
from anonymizer.ledger.protected_columns import Recognition, kind, person_text
from anonymizer.ledger.record import NEW, carry
from anonymizer.ledger.store import (
    CELLS,
    COUNTED,
    JOINT,
    JOINT_CELLS,
    JOINT_CLASSES,
    MEMBERS,
    NEW_CELLS,
    NEW_COUNTED,
    NEW_MEMBERS,
    WITNESSES,
)
from anonymizer.policy import AggregatePolicy
from anonymizer.policy.paths import path_text
from anonymizer.process.text import many
from anonymizer.source.profile import TableProfile
from anonymizer.source.snapshot import SNAPSHOT

MOST_CLASSES = 12_000
"""Classes of joint groups for which tables are sought."""
SECONDS = 300.0
"""For all tables together."""
WAYS_OUT = (
    "publish nothing and keep the earlier release; coarser groups in aggregate.by, or fewer totals;"
    " wait, in source.query: leave new persons out and those who have gone in, until enough of one"
    f" group come or go; or, {FORGET}"
)


@dataclass(frozen=True, slots=True)
class CountedRelease:
    """A table of counts that was written, and what the run knows of its persons."""

    policy: AggregatePolicy
    profile: TableProfile
    dimensions: tuple[Dimension, ...]
    split: Table
    """The finest groups, and whether each is left out."""
    view: Table

    @property
    def recognized(self) -> Recognition | None:
        """The rule by which its persons are recognized; None if a row is a person."""
        person = self.policy.person
        return None if person is None else Recognition(person, kind(self.profile.type_of(person)))

    def gather(self, engine: Engine, home: DuckDBEngine) -> None:
        """Gather persons and cells, by keyed digests, into scratch of `home`."""
        if self.policy.person is None:
            return
        found = self.dimensions
        groupings = self.policy.groupings(tuple(d.levels for d in found))
        persons = {
            "counted": NEW_COUNTED,
            "snapshot": SNAPSHOT,
            "own": person_text("person", self.profile.type_of(self.policy.person)),
            "identity": Sql("whose"),
            "labels": [d.label for d in found],
            "texts": [d.texts("s")[0] for d in found],
            "values": [d.v for d in found],
        }
        cells = {
            "cells": NEW_CELLS,
            "split": self.split,
            "release": self.view,
            "labels": [d.names[0] for d in found],
            "dimensions": found,
            "headings": [f":{len(d.column)}:{d.column.casefold()}:" for d in found],
            "groupings": [[lit(level) for level in one] for one in groupings],
        }
        for name, table, context in (
            ("counted_persons", NEW_COUNTED, persons),
            ("counted_cells", NEW_CELLS, cells),
        ):
            engine.execute(render(f"ledger/{name}", context), "ledger", ("ledger_key",))
            if engine is not home:
                carry(engine, home, table)


def record_counts(engine: DuckDBEngine, number: int) -> None:
    """Insert what was gathered of a table of counts into the attached ledger."""
    for kept, new, columns in (
        (COUNTED, NEW_COUNTED, "person, atom"),
        (CELLS, NEW_CELLS, "atom, cell, kind"),
    ):
        # in the order of digests, which reveals nothing
        engine.raw(
            f"insert into {ident(kept)} select {lit(number)}, {columns} from {ident(new)}"
            f" order by {columns}",
            "ledger",
        )


# Tables of counts of the same persons.


def compare_counts(
    engine: DuckDBEngine, minimum: int, earlier: Sequence[Entry]
) -> Iterator[Problem]:
    """The problem of the gathered table of counts and earlier ones that show too much together."""
    same = of_the_same_persons(engine, earlier, COUNTED, NEW_COUNTED)
    if not same:
        return
    n = max(minimum, *(entry.minimum or 0 for entry in same))
    numbers = [NEW, *(entry.release for entry in same)]
    context = {
        "n": n,
        "releases": numbers,
        "listed": [lit(number) for number in numbers[1:]],
        "places": [Sql(f"a{at}") for at, _ in enumerate(numbers)],
        "counted": NEW_COUNTED,
        "old_counted": COUNTED,
        "cells": NEW_CELLS,
        "old_cells": CELLS,
        "joint": JOINT,
        "joint_cells": JOINT_CELLS,
        "classes": JOINT_CLASSES,
        "witnesses": WITNESSES,
    }

    def ask(name: str) -> list[tuple[Any, ...]]:
        return engine.execute(render(f"ledger/joint_{name}", context), "ledger")

    of = f"{many(len(same), 'earlier release', 'earlier releases')} of these persons"
    ask("groups")
    ask("cells")
    common, differing = map(int, ask("changes")[0])
    if differing:
        said = (
            f"of {common:,} figures that are in {of} as well, {differing:,} differ from there by"
            f" fewer than {many(n, 'person')}, who have all come or all gone"
        )
        yield Problem("protect.minimum", said, hint=WAYS_OUT)
        return
    ask("classes")
    needs = ask("needs")
    open_ = any(need is not None and persons < need for _, persons, _, need in needs)
    if open_ and len(needs) > MOST_CLASSES:
        said = f"has persons in {len(needs):,} different sets of figures of {of} and this one"
        yield Problem("ledger", said, allowed=f"at most {MOST_CLASSES:,}", hint=WAYS_OUT)
        return
    rows, unproven = tables_of_classes(needs, ask("figures")) if open_ else ([], 0)
    engine.raw(
        f"create or replace table {ident(WITNESSES)}"
        " (witness integer, class bigint, figure bigint)",
        "ledger",
    )
    if rows:
        engine.load(ident(WITNESSES).text, ("witness", "class", "figure"), rows, "ledger")
    failed = sum(map(int, ask("proof")[0]))
    if unproven or failed:
        said = (
            f"with {of} it may show that {many(unproven or failed, 'group has', 'groups have')}"
            f" fewer than {many(n, 'person')}: no table of whole numbers proves that they may have"
            " as many"
        )
        yield Problem("protect.minimum", said, hint=WAYS_OUT)


Rows = list[tuple[Any, ...]]


def tables_of_classes(needs: Rows, figures: Rows, seconds: float = SECONDS) -> tuple[Rows, int]:
    """Tables of whole numbers in which every class has as many persons as it needs, in one of them.

    `needs`: class, persons, fewest persons, persons that it needs in some table, or None;
    `figures`: pairs of a class and a figure that it is in. Returns rows of table, class, persons;
    and how many classes have no table. The true table counts as one, and is not among the rows.
    """
    open_ = [at for at, (_, has, _, need) in enumerate(needs) if need is not None and has < need]
    import numpy as np

    from anonymizer.algorithms.aggregate.cells import UNBOUNDED, Sums, propagate
    from anonymizer.algorithms.aggregate.linear import MIP_SECONDS, ROUGHLY, Tables, solver

    place = {name: at for at, (name, *_) in enumerate(needs)}
    parts: dict[int, list[int]] = {}
    for name, figure in figures:
        parts.setdefault(figure, []).append(place[name])
    size = len(needs)
    inside = {at for of in parts.values() for at in of}
    free = {at for at in open_ if at not in inside}
    # (what is in no figure may have as many as it needs, whatever the others have)
    found: Rows = (
        [(1, name, need if at in free else has) for at, (name, has, _, need) in enumerate(needs)]
        if free
        else []
    )
    open_ = [at for at in open_ if at in inside]
    if not open_:
        return found, 0
    sums = Sums.of_pairs([(size + at, of) for at, of in enumerate(parts.values())])
    shown = [float(sum(needs[at][1] for at in of)) for of in parts.values()]
    low = np.array([*(float(least) for _, _, least, _ in needs), *shown])
    high = np.array([*([UNBOUNDED] * size), *shown])
    propagate(sums, low, high)
    need = {at: int(needs[at][3]) for at in open_}
    left = {at for at in open_ if high[at] >= need[at]}
    unproven = len(open_) - len(left)
    if unproven:  # that is certain, and nothing will be published
        return [], unproven
    solver("ledger")
    tables = Tables(sums, low, high, np.arange(len(low)) < size, whole=True)
    tables.highs.setOptionValue("mip_max_improving_sols", 1)
    random, until = np.random.default_rng(3), monotonic() + seconds
    for at in open_:
        if at not in left:
            continue
        if monotonic() > until:
            unproven += len(left)
            break
        # an objective draws the table to where other classes are large as well
        others = np.array([one for one in left if high[one] < UNBOUNDED / 2], np.int64)
        tables.within(at, need[at], high[at])
        values = tables.least(others, -random.uniform(1, 2, len(others)), MIP_SECONDS)
        tables.within(at, low[at], high[at])
        left.discard(at)
        if values is None:
            unproven += 1
            continue
        left -= {one for one in left if values[one] >= need[one] - ROUGHLY}
        number = len(found) // size + 1
        found += [(number, needs[c][0], round(values[c])) for c in range(size)]
    return found, unproven


# Tables of counts beside rows of the same persons.


def coarse_columns(entry: Entry, by: Iterable[str]) -> list[str]:
    """The columns of groups that an earlier release of rows generalizes or protects.

    Ledgers of before this was kept tell only which columns are published as they are.
    """
    if entry.recoded is not None:
        there = {name.casefold() for name in entry.recoded}
        return [name for name in by if name.casefold() in there]
    plain = {name.casefold() for name in {*(entry.opens or ())} - {*entry.facets}}
    return [name for name in by if name.casefold() not in plain]


def beside_rows(
    engine: DuckDBEngine, by: Sequence[str], earlier: Iterable[Entry]
) -> Iterator[Problem]:
    """Problems of columns of groups of a table of counts that earlier releases of rows hide."""
    for entry in earlier:
        for name in (
            coarse_columns(entry, by) if _shares(engine, NEW_COUNTED, MEMBERS, entry) else ()
        ):
            said = (
                f"is generalized or protected in the release {entry.view} of run {entry.run_id},"
                " which has rows of the same persons: counts by its true values narrow them"
            )
            hint = f"count that release itself, as source; leave the column out; or, {FORGET}"
            yield Problem(path_text(("aggregate", "by", name)), said, hint=hint)


def counted(recoded: Mapping[str, str], entry: Entry) -> list[str]:
    """The columns of rows that an earlier table of counts shows. `recoded`: their paths by name."""
    known = {name.casefold() for name in entry.grouped or ()}
    return [path for name, path in recoded.items() if name.casefold() in known]


def beside_counts(
    engine: DuckDBEngine, recoded: Mapping[str, str], earlier: Iterable[Entry]
) -> Iterator[Problem]:
    """Problems of columns of rows that earlier tables of counts show."""
    for entry in (one for one in earlier if _shares(engine, NEW_MEMBERS, COUNTED, one)):
        for path in counted(recoded, entry):
            said = (
                f"has its true values in the table of counts {entry.view} of run {entry.run_id},"
                " which has the same persons: it narrows what the rows leave open"
            )
            yield Problem(path, said, hint=f"role drop; or, {FORGET}")


def _shares(engine: DuckDBEngine, new: Table, kept: Table, entry: Entry) -> bool:
    text = (
        f"select 1 from {ident(kept)} where release = {lit(entry.release)}"
        f" and person in (select person from {ident(new)}) limit 1"
    )
    return bool(engine.raw(text, "ledger"))

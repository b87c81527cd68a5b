"""The classes that a policy makes of a table, and the same by the naive oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

from anonymizer import Policy
from anonymizer.algorithms.core.compiled import Assembly
from anonymizer.algorithms.core.encode import CODED, UNITS
from anonymizer.algorithms.core.partition import MEMBERS, levels_of_loss
from anonymizer.compile import ident
from anonymizer.engines.duckdb.source import open_session
from anonymizer.engines.execute import Executor
from anonymizer.process.secret import Seed
from anonymizer.run.prepare import prepare
from tests.oracle.attributes import Attribute, categorical, numeric
from tests.oracle.partition import Constraint, Mondrian, Partition, no_constraint
from tests.runs import THRIFTY


@dataclass(frozen=True)
class PublishedAttribute(Attribute):
    """As the release publishes it: NULL mixed into an interval is one more of its m values; a
    cell of several nodes, or of a node and NULL, is taken as the whole domain in a cut."""

    distinct: int = 0

    def loss(self, values: Any) -> Fraction:
        found = set(values)
        if self.kind == "numeric" and None in found and len(found) > 1:
            return (self._range(found) * (self.distinct - 1) + 1) / self.distinct
        if self.paths is not None and None in found and len(found) > 1:
            return Fraction(1)
        return super().loss(found)


def by_frequency(values: Sequence[Any]) -> list[Any]:
    present = [value for value in values if value is not None]
    return sorted(set(present), key=lambda value: (-present.count(value), value))


def attribute(
    values: Sequence[Any], paths: Mapping[Any, Sequence[Any]] | None = None
) -> tuple[Attribute, list[Any]]:
    """The oracle's view of a source column, and the column in its terms."""
    present = [value for value in values if value is not None]
    if present and isinstance(present[0], str):
        # leaves of a hierarchy lie in the order of their paths from the root
        order = by_frequency(values) if paths is None else list(paths)
        order = [value for value in order if value in present]
        found, column = categorical(values, order, paths)
    else:
        column = [v.toordinal() if isinstance(v, date) else v for v in values]
        found = numeric(column)
    own = PublishedAttribute(**vars(found), distinct=len(set(values)))
    return own, column


def expected(
    table: Sequence[Sequence[Any]],
    k: int,
    paths: Mapping[int, Mapping[Any, Sequence[Any]]] | None = None,
    constraint: Constraint = no_constraint,
    **options: Any,
) -> Partition:
    """Classes of row numbers by the naive recursion."""
    columns = [
        attribute([row[j] for row in table], (paths or {}).get(j)) for j in range(len(table[0]))
    ]
    coded = list(zip(*(column for _, column in columns), strict=True))
    options.setdefault("loss_levels", levels_of_loss(len(table), k))
    return Mondrian(
        coded, [found for found, _ in columns], k, constraint=constraint, **options
    ).partition()


def partitioned(given: Policy, database: Path) -> tuple[Partition, list[int]]:
    """Classes of the kept numbers `id` by the compiled SQL, and the order of the draws."""
    with open_session(given, database, limits=THRIFTY) as session:
        session.engine.binds = {"secret": Seed.test(1).secret}
        executor = Executor(session.engine)
        prepared = prepare(given, session, executor)
        executor.run(prepared.compiled.stages)
        kept = next(k.k for k in prepared.roles.kept if k.column == "id")
        assembly = prepared.compiled.assembly
        assert isinstance(assembly, Assembly)
        keys = " and ".join(f"u.{key} = r.{key}" for key in assembly.keys)
        rows = session.engine.raw(
            f"select m.class_id, r.{kept} from {ident(CODED)} r join {ident(UNITS)} u on {keys}"
            f" join {ident(MEMBERS)} m on m.unit = u.unit order by r.draw",
            "test",
        )
    found: dict[int, set[int]] = {}
    for class_id, number in rows:
        found.setdefault(class_id, set()).add(number)
    return frozenset(frozenset(members) for members in found.values()), [n for _, n in rows]

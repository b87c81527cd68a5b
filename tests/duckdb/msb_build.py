"""Builds groups from buckets on an engine, without a source: what the algorithm does in between."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb

from anonymizer.algorithms.msb.grouping import (
    Dimension,
    Grouping,
    group_stages,
)
from anonymizer.engines.duckdb.connection import DuckDBEngine, scratch
from anonymizer.engines.execute import Event, Executor
from anonymizer.policy import Msb
from anonymizer.source.profile import Sensitive
from tests.oracle.msb import Bucket, Group

STRATEGIES = ("mbf", "msdcf", "mmdcf")


@contextmanager
def engine() -> Iterator[DuckDBEngine]:
    with duckdb.connect(config={"threads": 1}) as connection, scratch(connection):
        yield DuckDBEngine(connection, owns_connection=False)


def build(
    engine: DuckDBEngine, buckets: Sequence[Bucket], **options: Any
) -> tuple[list[Group], Counter[Group], Counter[int]]:
    """Groups as formed, in order; final groups; suppressed records by bucket."""
    d = len(buckets[0].values)
    made = tuple(
        Dimension(Sensitive(i, f"a{i}", "VARCHAR", "categorical"), (), None, False)
        for i in range(1, d + 1)
    )
    how = Grouping(made, Msb(name="msb", **options))
    load(engine, buckets)
    formed: list[Group] = []

    def listen(event: Event) -> None:
        if event.step.template == "msb/group":
            found: dict[tuple[int, int], list[int]] = {}
            rows = "select block, grp, bucket, c from msb_formed order by all"
            for block, grp, bucket, c in engine.raw(rows, "test"):
                found.setdefault((block, grp), []).extend([bucket] * c)
            formed.extend(tuple(group) for _, group in sorted(found.items()))

    executor = Executor(engine, listen)
    executor.run(group_stages(how, sum(b.size for b in buckets)))
    final: Counter[Group] = Counter()
    members: dict[int, list[int]] = {}
    for kind, bucket, c in engine.raw("from msb_members order by all", "test"):
        members.setdefault(kind, []).extend([bucket] * c)
    for kind, groups in engine.raw("from msb_types", "test"):
        final[tuple(members[kind])] += groups
    left: Counter[int] = Counter(dict(engine.raw("from msb_left", "test")))
    return formed, final, left


def load(engine: DuckDBEngine, buckets: Sequence[Bucket]) -> None:
    d = range(1, len(buckets[0].values) + 1)
    names = ", ".join(f"v{i}, need{i}" for i in d)
    rows = ", ".join(
        "("
        + ", ".join(
            map(
                str,
                (
                    b.number,
                    b.size,
                    *(x for pair in zip(b.values, b.needs, strict=True) for x in pair),
                    b.level,
                    b.target,
                    str(b.complete).lower(),
                ),
            )
        )
        + ")"
        for b in buckets
    )
    engine.raw(
        "create or replace table msb_buckets as select cast(bucket as bigint) as bucket,"
        " cast(n as bigint) as n, * exclude (bucket, n) from"
        f" (values {rows}) as t(bucket, n, {names}, level, target, complete)",
        "test",
    )


def random_buckets(
    draw: random.Random, *, plain: int | None, singletons: bool, nulls: bool
) -> list[Bucket]:
    """Buckets of a small random table; `plain`: one l for all values, else three or four levels."""
    d = draw.randint(1, 3)
    level_l = (
        (plain,) if plain else draw.choice([(1, 2, 3), (1, 2, 3), (1, 2, 2, 4), (2, 3), (1, 3)])
    )
    domains = [draw.randint(2, 5) for _ in range(d)]
    levels = [
        {value: draw.randrange(len(level_l)) for value in range(1, size + 1)} for size in domains
    ]
    vectors: Counter[tuple[int, ...]] = Counter()
    skew = draw.choice([1, 2, 3])
    for _ in range(draw.randint(1, 40)):
        vectors[
            tuple(
                0
                if nulls and draw.random() < 0.1
                else min(draw.randint(1, size) for _ in range(skew))
                for size in domains
            )
        ] += 1
    listed = list(vectors.items())
    draw.shuffle(listed)
    buckets = []
    for number, (values, size) in enumerate(listed, start=1):
        found = [levels[j][v] if v else 0 for j, v in enumerate(values)]
        needs = tuple(level_l[levels[j][v]] if v else 0 for j, v in enumerate(values))
        least = 1 if singletons else 2
        buckets.append(Bucket(number, size, values, needs, max(found), max(least, *needs)))
    return buckets

"""The desk of a table of counts: its smallest group and its method, and what an attack finds."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import duckdb

from anonymizer.algorithms.aggregate.method import METHODS
from anonymizer.algorithms.aggregate.rest import CELLS, MOST_CELLS, cells_stages
from anonymizer.compile import ident, work
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.session import Database
from anonymizer.errors import AnonymizerError, PolicyError
from anonymizer.policy import AggregatePolicy
from anonymizer.policy.aggregate import OTHER, STATUS
from anonymizer.process.secret import Seed
from anonymizer.process.text import json_value
from anonymizer.review.counts import CountsAttack, assess_counts
from anonymizer.run.counts_job import beyond_limit, figures_of_search, read_counts
from anonymizer.run.verbs import executing
from anonymizer.steps import Step

EXPLORED, NAIVE = work("explored_cells"), work("naive_cells")
MOST_SHOWN = 300
"""Cells that the page lists."""
OFFERED = ("rest", "suppress", "round")
"""Methods that can be tried; noise that is drawn is spent."""


@dataclass(slots=True)
class CountsDesk:
    """The desk's state. It counts persons or rows alone, whatever else the policy publishes."""

    policy: AggregatePolicy
    title: str
    database: Database
    limits: Limits | None = None
    found: dict[str, Any] = field(default_factory=dict)
    """The last result, for the page."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    index = "counts.html"

    def begin(self) -> None:
        """Try the policy as it was opened."""
        offered = self.policy.method in OFFERED
        method = self.policy.method if offered else OFFERED[0]
        self.change({"minimum": self.policy.minimum, "method": method})

    def change(self, given: Mapping[str, Any]) -> None:
        """Try another minimum and method. Raises PolicyError for what no policy can have."""
        policy = self._with(given.get("minimum"), given.get("method"))
        with self.lock:
            self.found = {**self._try(policy), "title": self.title, "methods": self._methods()}

    def view(self) -> dict[str, Any]:
        """The content of the page."""
        found: dict[str, Any] = json_value(self.found)
        return found

    def close(self) -> None:
        """Nothing stays open."""

    def _methods(self) -> dict[str, str]:
        return {name: METHODS[name].words for name in OFFERED}

    def _with(self, minimum: Any, method: Any) -> AggregatePolicy:
        if method not in OFFERED or not isinstance(minimum, int) or not 2 <= minimum <= 1_000:
            raise PolicyError.at("protect", "is not offered here", "a minimum from 2 to 1,000")
        given = self.policy.to_dict()
        measures = self.policy.aggregate.measures
        kind = "persons" if any(one.count == "persons" for one in measures.values()) else "rows"
        counted = next(name for name, one in measures.items() if one.count == kind)
        given["aggregate"] = {**given["aggregate"], "measures": {counted: {"count": kind}}}
        given["aggregate"].pop("zeros", None)
        given["protect"] = {"minimum": minimum, "acknowledge": "small_minimum"}
        for name in (*METHODS, "ledger"):
            if name != method:
                given.pop(name, None)
        changed = {**given, "method": method}
        made = AggregatePolicy.model_validate(changed, context={"base": self.policy.base})
        assert isinstance(made, AggregatePolicy)
        return made

    def _try(self, policy: AggregatePolicy) -> dict[str, Any]:
        opening = executing(policy, self.database, "duckdb", seed=Seed.fresh(), limits=self.limits)
        with opening as (session, executor):
            engine = session.engine
            assert isinstance(engine, DuckDBEngine)
            read = read_counts(policy, session, executor)
            (measure,) = policy.aggregate.measures
            every = cells_stages(policy, read.dimensions, (), MOST_CELLS, leaves_out=False)
            blank = {"naive": NAIVE, "cells": CELLS, "measure": measure, "minimum": policy.minimum}
            executor.run([*every, Step("blank small figures", "aggregate/naive", blank)], "naive")
            before = self._attack(engine, f"from {ident(NAIVE)}", policy, measure)
            try:
                executor.run(read.compiled.stages, "trying")
            except AnonymizerError as error:
                return self._answer(policy, before, None, (), (), {}, error.problems)
            executor.run([read.compiled.write(EXPLORED)], "trying")
            figures = figures_of_search(read, session)
            limit = [*beyond_limit(policy, figures)]
            query = f"from {ident(EXPLORED)} where {STATUS} <> '{OTHER.strip('()')}'"
            rounded = policy.method == "round"  # its figures are others, and none is hidden
            after = None if rounded else self._attack(engine, query, policy, measure)
            labels = [name for d in read.dimensions for name in (d.name, d.level) if name]
            listed = ", ".join(str(ident(name)) for name in (*labels, measure, STATUS))
            rows = engine.raw(f"select {listed} from {ident(EXPLORED)} limit {MOST_SHOWN}", "cells")
        return self._answer(policy, before, after, labels, rows, figures, limit)

    def _attack(
        self, engine: DuckDBEngine, query: str, policy: AggregatePolicy, measure: str
    ) -> CountsAttack:
        """What the attack on a published table finds. Raises EngineError without a solver."""
        # (the cells alone, in a connection of their own)
        with duckdb.connect() as apart:
            apart.register("published", engine.connection.cursor().sql(query).df())
            return assess_counts(
                "published",
                apart,
                by=[*policy.by],
                minimum=policy.minimum,
                measure=measure,
                total="(all)",
                limits=self.limits,
            )

    def _answer(
        self,
        policy: AggregatePolicy,
        before: CountsAttack,
        after: CountsAttack | None,
        labels: Any,
        rows: Any,
        figures: Mapping[str, int],
        problems: Any,
    ) -> dict[str, Any]:
        def counts(found: CountsAttack | None) -> Any:
            return None if found is None else found.as_dict()["counts"]

        return {
            "minimum": policy.minimum,
            "method": policy.method,
            "before": counts(before),
            "after": counts(after),
            "labels": [*labels],
            "measure": next(iter(policy.aggregate.measures)),
            "rows": [[*map(_plain, row)] for row in rows],
            "most": MOST_SHOWN,
            "figures": dict(figures),
            "problems": [problem.as_dict() for problem in problems],
        }


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, int) else str(value)

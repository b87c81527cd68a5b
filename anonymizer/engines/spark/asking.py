"""Runs queries of a verification concurrently: Spark plans one while it executes another."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymizer.engines.base import Rows

if TYPE_CHECKING:
    from anonymizer.engines.spark.connection import SparkEngine

ROW_REF = "row_ref"
"""The column that identifies the rows of `link`."""
SIDE_BY_SIDE_FROM = 3
"""From this many joins of published rows and originals, partitioning and caching both pays off."""
AT_ONCE = 4
"""Statements of a verification that Spark runs concurrently."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Runs queries, one or several at a time; `where` names them in errors."""

    engine: SparkEngine
    where: str

    def __call__(self, text: str) -> Rows:
        return self.engine.raw(text, self.where)

    def at_once(self, texts: Sequence[str]) -> list[Rows]:
        """The rows of every query, in order; those for DuckDB run first, one at a time."""
        found = {i: self(text) for i, text in enumerate(texts) if not self.engine.bring(text)}
        rest = [i for i in range(len(texts)) if i not in found]
        if sum(ROW_REF in texts[i] for i in rest) >= SIDE_BY_SIDE_FROM:
            self.engine.side_by_side()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found.update(zip(rest, pool.map(self, [texts[i] for i in rest]), strict=True))
        return [found[i] for i in range(len(texts))]

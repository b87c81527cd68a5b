"""Runs a case of the frozen corpus, and records every statement as another engine would get it.

Templates are rendered as for that engine, with the profile that its sources have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from anonymizer import Policy
from anonymizer.algorithms.core import cells, encode, loss, lower_bound, partition
from anonymizer.algorithms.core import proportional_assignment as dealing
from anonymizer.algorithms.lattice import recode
from anonymizer.algorithms.privacyfrost import search
from anonymizer.compile.dialect import Dialect
from anonymizer.compile.render import CREATES, environment, variant
from anonymizer.engines.duckdb import source
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.postgres.dialect import DIALECT as POSTGRES
from anonymizer.engines.registry import engines, refuse
from anonymizer.engines.spark.connection import only_duckdb
from anonymizer.engines.spark.dialect import DIALECT as SPARK
from anonymizer.engines.spark.tables import ROWS, Route
from anonymizer.errors import PolicyError, TemplateError
from anonymizer.source.profile import TableProfile
from tests.frozen import corpus
from tests.runs import THRIFTY

DIALECTS: dict[str, Dialect] = {"postgres": POSTGRES, "spark": SPARK}
CASES: dict[str, dict[str, Any]] = {
    name: given
    for file in ("algorithms", "more", "series")
    for name, given in corpus.cases(file).items()
}
LOWERED: dict[str, list[tuple[Any, str, int]]] = {
    "mondrian refine": [
        (partition, "AT_ONCE", 8),
        (loss, "MOST_BITS", 1),
        (cells, "WORD_BITS", 1),
        (lower_bound, "NEAREST", 1),
        (lower_bound, "FEWEST_SAMPLED", 2),
    ],
    "mondrian persons": [(partition, "MANY_VALUES", 4), (encode, "JOINED_AT_ONCE", 1)],
    "mondrian parts": [(lower_bound, "MOST_UNITS", 8)],
    "mondrian dealt": [(dealing, "FEW_VALUES", 2)],
    "mondrian identity reserved": [(encode, "WORD_LIMIT", 8)],
    "full domain c dm persons": [(encode, "WORD_LIMIT", 8)],
    "full domain t": [(recode, "WORD", 6)],
    "privacyfrost driven": [(search, "RECURSIVE_UP_TO", 0)],
    "privacyfrost suppressing": [(recode, "WORD", 6)],
}
"""Limits that are lowered for a case, so that its table is a large one."""
OF_THE_LEDGER = ("ledger/group", "ledger/series", "ledger/values")
"""Asked in the DuckDB that holds the ledger, whatever the engine."""


@dataclass
class Recorded:
    """The statements that an engine would get."""

    engine: str
    texts: dict[str, str] = field(default_factory=dict)
    """The template of each text."""

    @property
    def loader(self) -> Any:
        return environment().loader

    def list_templates(self) -> list[str]:
        return environment().list_templates()

    def get_template(self, template: str) -> _Template:
        """What the product asks of its environment."""
        return _Template(self, template)

    def add(self, template: str, parameters: Mapping[str, Any]) -> None:
        """Record a template as the engine renders it."""
        if not template.startswith(OF_THE_LEDGER):
            made = environment().get_template(variant(template, self.engine))
            self.texts[made.render(parameters).strip()] = template

    def problems(self) -> list[str]:
        """The templates that the engine's dialect cannot express, and why."""
        found = []
        for text, template in self.texts.items():
            try:
                for one in self._sent(text):
                    DIALECTS[self.engine].translate(one)
            except TemplateError as error:
                found.append(f"{template}: {error}")
        return found

    def _sent(self, text: str) -> Iterator[str]:
        """What is translated of a statement: on Spark, queries of rows, and the others run on
        DuckDB.
        """
        if self.engine != "spark":
            yield text
        elif not only_duckdb(text) and Route.of(text).touched & ROWS:
            written = CREATES.match(text)  # (a table of the release is no work table)
            yield text[written.end() :] if written else Route.of(text).rows_written


@dataclass
class _Template:
    recorded: Recorded
    name: str

    def render(self, parameters: Mapping[str, Any]) -> str:
        self.recorded.add(self.name, parameters)
        return str(environment().get_template(self.name).render(parameters))


def has_all_of(engine: str, name: str, folder: Path) -> bool:
    """Whether an engine has all of a case."""
    place = None if engine == "postgres" else "release.duckdb"
    given = CASES[name]
    publish = {**given.get("publish", {}), "database": place}
    try:
        made = corpus.loaded({**given, "publish": publish}, folder)
        assert isinstance(made, Policy)
        refuse(made, engine)
    except PolicyError:
        return False
    return True


@contextmanager
def recording(recorded: Recorded, name: str) -> Iterator[None]:
    """Record what is rendered, with the limits that are lowered for the case."""
    about = engines()[recorded.engine]
    profile = partial(
        TableProfile,
        recursive=about.recursive,
        numeric_draws=about.numeric_draws,
        eras=about.eras,
    )
    with pytest.MonkeyPatch.context() as changed:
        rendering = import_module("anonymizer.compile.render")
        changed.setattr(rendering, "environment", lambda: recorded)
        changed.setattr(source, "TableProfile", profile)
        changed.setattr(DuckDBEngine, "embedded", False)
        for limit in LOWERED.get(name, []):
            changed.setattr(*limit)
        yield


def record(recorded: Recorded, name: str, folder: Path, database: Path) -> None:
    """Run a case: a refusal comes after all of it was asked."""
    with recording(recorded, name):
        corpus.run_case(CASES[name], folder, database, lambda *_: ((), ()), limits=THRIFTY)

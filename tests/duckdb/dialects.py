"""Runs a setting on DuckDB, and records every statement as another engine would get it.

Templates are rendered as for that engine, with the profile that its sources have, and with marks
around their branches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.compile.dialect import Dialect
from anonymizer.compile.sql import CREATES, environment, variant
from anonymizer.engines.duckdb import source
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.postgres.dialect import DIALECT as POSTGRES
from anonymizer.engines.registry import refuse
from anonymizer.engines.spark.connection import only_duckdb
from anonymizer.engines.spark.dialect import DIALECT as SPARK
from anonymizer.engines.spark.tables import ROWS, Route
from anonymizer.errors import AnonymizerError, PolicyError, TemplateError
from anonymizer.source.profile import TableProfile
from anonymizer.steps import Embedded
from tests.duckdb.golden_outlined import CHANGED, OUTLINED
from tests.duckdb.golden_plans import HIERARCHIES, SECOND_RELEASES, hierarchy
from tests.duckdb.golden_probe import Branch, Probe
from tests.duckdb.golden_settings import WHOLE, Setting
from tests.duckdb.plan_steps import steps
from tests.runs import THRIFTY, policy

DIALECTS: dict[str, Dialect] = {"postgres": POSTGRES, "spark": SPARK}
SETTINGS: dict[str, Setting] = {**WHOLE, **OUTLINED, **SECOND_RELEASES}
OF_THE_LEDGER = ("ledger/values", "ledger/series", "ledger/group_values")
"""Asked in the DuckDB that holds the ledger, whatever the engine."""


@dataclass
class Recorded:
    """The statements that an engine would get, and the branches of their templates."""

    engine: str
    probe: Probe = field(default_factory=Probe)
    texts: dict[str, str] = field(default_factory=dict)
    """The template of each text."""
    branches: set[Branch] = field(default_factory=set)
    beside: bool = False
    """Whether an embedded database beside the engine gets the statements."""

    @property
    def loader(self) -> Any:
        return environment().loader

    def get_template(self, template: str) -> _Template:
        """What the product asks of its environment."""
        return _Template(self, template)

    def add(self, template: str, parameters: Mapping[str, Any]) -> None:
        """Record a template as the engine renders it."""
        text, branches = self.probe.taken(variant(template, self.engine), parameters)
        if not template.startswith(OF_THE_LEDGER):
            self.texts[text] = template
        self.branches |= branches

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
        if not self.recorded.beside:
            self.recorded.add(self.name, parameters)
        return str(environment().get_template(self.name).render(parameters))


def on_engine(engine: str, folder: Path, name: str) -> Policy | None:
    """The policy of a setting; None where the engine does not have all of it."""
    given = policy(folder, **SETTINGS[name])
    place = None if engine == "postgres" else "release.duckdb"
    try:
        refuse(policy(folder, **{**SETTINGS[name], "publish": {"database": place}}), engine)
    except PolicyError:
        return None
    return given


@contextmanager
def lent(recorded: Recorded, stage: Embedded) -> Iterator[None]:
    """What the embedded database of a server runs is not recorded."""
    del stage
    recorded.beside = True
    try:
        yield
    finally:
        recorded.beside = False


@contextmanager
def recording(recorded: Recorded, name: str) -> Iterator[None]:
    """Record what is rendered, with the limits that the setting lowers."""
    postgres = recorded.engine == "postgres"
    profile = partial(TableProfile, recursive=not postgres, numeric_draws=False, eras=not postgres)
    with pytest.MonkeyPatch.context() as changed:
        rendering = import_module("anonymizer.compile.sql")
        changed.setattr(rendering, "environment", lambda: recorded)
        changed.setattr(source, "TableProfile", profile)
        changed.setattr(DuckDBEngine, "embedded", False)
        if postgres:
            changed.setattr(DuckDBEngine, "lent", partial(lent, recorded))
        for limit in CHANGED.get(name, []):
            if limit[1] != "TableProfile":
                changed.setattr(*limit)
        yield


def record(recorded: Recorded, name: str, given: Policy, database: Path) -> None:
    """Run a setting, again where a ledger compares releases, and verify the release."""
    with recording(recorded, name):
        for _ in range(3 if given.ledger is not None else 1):
            with suppress(AnonymizerError):  # a refusal comes after all of it was asked
                anonymizer.run(given, database, limits=THRIFTY)
                anonymizer.verify(given)


def record_hierarchies(recorded: Recorded) -> None:
    """Record the steps that build a hierarchy, for every builder and kind of column."""
    for name in HIERARCHIES:
        for step in steps(hierarchy(name).stages):
            recorded.add(step.template, step.parameters)

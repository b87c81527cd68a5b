"""A release of several tables: written, judged and published together."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from anonymizer.algorithms.schema.publishing import PublishedTable
from anonymizer.compile import Table, ident, work
from anonymizer.contract.checks import Verification, verification
from anonymizer.contract.layout import Layout
from anonymizer.contract.tables import Released, Tables
from anonymizer.engines.base import Engine
from anonymizer.ledger import Keeper, Written
from anonymizer.measure.proofs import linked_below
from anonymizer.measure.release import column_losses
from anonymizer.policy import SchemaPolicy
from anonymizer.policy.schema.paths import table_path
from anonymizer.publish.target import Places, StagedTarget
from anonymizer.release.manifest import Manifest
from anonymizer.release.tables import tables_manifest, tables_of
from anonymizer.release.tables_judge import (
    judge_tables,
    refuse_tables_unanswered,
    refuse_tables_unless_passed,
)
from anonymizer.run.at_table import at_persons
from anonymizer.run.event_cells import together, together_questions
from anonymizer.run.job import Job
from anonymizer.run.link import LINK
from anonymizer.run.original_values import ORIGINALS, originals
from anonymizer.run.source_checks import cell_statements, published_paths
from anonymizer.run.tables import TablesRead
from anonymizer.run.vault import Tokens, tokens_of
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.verification.against_source import verify_against_source
from anonymizer.verification.questions import Achieved, Question, ask_all
from anonymizer.verification.tables import Where


def tables_read(policy: SchemaPolicy, read: TablesRead, engine: Engine) -> Tables:
    """The tables of the release that is made from what was read."""
    layouts = {one.child.name: one.layout for one in read.compiled.tables}
    layouts[policy.person] = read.compiled.persons.layout
    # by table and column: the paths of values under a hierarchical distance, and which cells of
    # events admit one and the same value
    named = [(policy.person, read.persons.roles)]
    named += [(child.name, child.roles) for child in read.children]
    paths: dict[tuple[str, str], Any] = {
        (name, s.column): published_paths(engine, s)
        for name, roles in named
        for s in roles.sensitive
        if s.height
    }
    for one in read.compiled.tables:
        labels = together(engine, policy, one)
        paths |= {(one.child.name, column): sets for column, sets in labels.items()}
    return tables_of(policy, layouts, paths)


def stage_table_originals(engine: Engine, one: PublishedTable) -> None:
    """Create what the cells of a table are compared with, in scratch only."""
    child = one.child
    engine.raw(
        f"create or replace view {ident(child.originals)} as"
        f" select rowid as row_ref, * from {ident(child.kept)}",
        "verification",
    )
    for text in cell_statements(child.attributes, one.layout, child.linked, child.originals):
        engine.raw(text, "verification")


def tables_measures(
    engine: Engine, read: TablesRead, tables: Tables, where: Where, *, all_rows: bool = False
) -> dict[str, Any]:
    """Rows, suppressed rows and losses of every table except the persons'.

    `all_rows`: losses over all rows; a suppressed row costs 1.
    """
    run_sql = engine.asking("measures")
    found: dict[str, Any] = {}
    for one in read.compiled.tables:
        child, released = one.child, tables.named(one.child.name)
        rows = int(run_sql(f"select count(*) from {ident(where(released))}")[0][0])
        lost = child.owned - rows
        losses = column_losses(
            run_sql,
            where(released),
            one.layout,
            originals(child.roles, child.originals, person=None),
            suppressed=lost if all_rows else 0,
        )
        found[child.name] = {
            "rows": rows,
            "suppressed": lost,
            **({"orphans": child.orphans} if child.astray else {}),
            "ncp": {name: round(loss, 6) for name, loss in losses.items()},
        }
    return found


@dataclass(slots=True)
class TablesJob(Job):
    """A run over several tables; `policy` of the base class is that of the persons."""

    unit: ClassVar[str | None] = "persons"
    schema: SchemaPolicy = field(kw_only=True)
    read: TablesRead = field(kw_only=True)

    @property
    def _tables(self) -> Tables:
        return tables_read(self.schema, self.read, self.engine)

    @property
    def _published(self) -> tuple[PublishedTable, ...]:
        return self.read.compiled.tables

    def _write(self, rows: Table, place: Places) -> None:
        # (not super(): a dataclass with slots is created anew, and super() looks in the first one)
        Job._write(self, rows, place)
        above = {self.schema.person: LINK}
        for one in self._published:
            self.executor.run([*one.steps(above[one.child.above])], f"writing {one.child.name}")
            above[one.child.name] = one.child.linked
            self.executor.run([one.publish(place(one.name))], f"writing {one.child.name}")

    def _where(self, view: Table) -> Where:
        """Where the tables are during verification; that of the persons is `view`."""
        target = self.target

        def where(one: Released) -> Table:
            if one.table == self.schema.person:
                return view
            if isinstance(target, StagedTarget):
                return target.staged[one.name]
            return Table(one.name, view.schema, view.catalog)

        return where

    def _judged(self, view: Table, layout: Layout) -> tuple[Verification, dict[str, Any]]:
        """Verify and measure all tables. Raises GuaranteeError if a check fails."""
        with at_persons(self.schema):
            found, measures = Job._judged(self, view, layout)
        began = time.perf_counter()
        tables, where = self._tables, self._where(view)
        together = judge_tables(self.engine, tables, where)
        refuse_tables_unless_passed(self.schema, together)
        source = self._against_source(tables, where)
        refuse_tables_unless_passed(self.schema, source)
        refuse_tables_unanswered(self.schema, found + together + source, source=True)
        measures |= linked_below(self.engine.asking("measures"), tables, where)
        measures["tables"] = tables_measures(self.engine, self.read, tables, where)
        self.told = (*self.told, *_left_out(measures["tables"]))
        measures["seconds_judging"] += round(time.perf_counter() - began, 3)
        # checks that a recipient can repeat come before those that need the source
        own = len([c for c in found.checks if not c.name.startswith("source_")])
        checks = (*found.checks[:own], *together.checks, *found.checks[own:], *source.checks)
        return replace(found, checks=checks), measures

    def _tokens(self) -> tuple[Tokens, ...]:
        found = list(
            tokens_of(
                self.policy,
                self.prepared.roles.masks,
                SNAPSHOT,
                table_path(self.schema.person) + ".",
            )
        )
        for child in self.read.children:
            at = table_path(child.name) + "."
            found += tokens_of(child.policy, child.roles.masks, child.kept, at)
        return tuple(found)

    def _remember(self, keeper: Keeper, written: Sequence[Written] = ()) -> None:
        written = [Written(one.child, one.layout) for one in self._published]
        with at_persons(self.schema):
            Job._remember(self, keeper, written)

    def _refuse_unanswered(self, verification: Verification) -> None:
        """Do nothing: `_judged` asks for all tables together, after each was judged."""
        del verification

    def _against_source(self, tables: Tables, where: Where) -> Verification:
        """Compare every published row of every table with its original."""
        links = {tables.person: (LINK, tables.persons.layout.key)}
        order = {
            "link": LINK,
            "original": ORIGINALS,
            "row_ref": "row_ref",
            "label": "what",
            "key": tables.persons.layout.key,
            "own": "identity",
        }
        name = tables.person
        drawn = Question("source_key_order", name, 0, "key_order", order, SUMS)
        total = verification(ask_all([drawn], self.engine.asking("verification")))
        for one in self._published:
            child, released = one.child, tables.named(one.child.name)
            stage_table_originals(self.engine, one)
            run_sql = self.engine.asking("verification")
            published = self.engine.raw(
                f"select count(*) from {ident(where(released))}", "suppression"
            )
            judged = verify_against_source(
                run_sql,
                originals(child.roles, child.originals, person=None),
                child.linked,
                where(released),
                one.layout,
                compared=work(f"compared_{child.number}"),
                suppressed=child.rows - int(published[0][0]),
                ask=ask_all,
            )
            checks = [
                replace(c, column=child.name if c.column is None else f"{child.name}.{c.column}")
                for c in judged.checks
            ]
            further = (*_keys(one, links[child.above]), *together_questions(one, released))
            keys = ask_all(further, run_sql)
            links[child.name] = (child.linked, one.layout.key)
            total += verification((*checks, *keys))
        return total

    def _manifest(self, verification: Verification, measures: dict[str, Any]) -> Manifest:
        manifest = Job._manifest(self, verification, measures)
        return tables_manifest(manifest, self.schema, self._tables, self.target.names)


SUMS = (Achieved("n", "sum"),)


def _left_out(measures: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """A warning for every table with suppressed rows."""
    for name, found in measures.items():
        lost, rows = found["suppressed"], found["rows"] + found["suppressed"]
        if lost:
            yield (
                f"{lost:,} of {rows:,} rows of {name} are left out ({100 * lost / rows:.1f} %): too"
                " few persons share what may be known of them; suppression_limit is about persons"
            )


def _keys(one: PublishedTable, above: tuple[Table, str | None]) -> Iterator[Question]:
    child, (link, key) = one.child, above
    shared = {
        "link": child.linked,
        "original": child.originals,
        "row_ref": "row_ref",
        "label": "what",
    }
    links = {**shared, "above": link, "above_key": key, "link_column": child.link}
    yield Question("source_links", child.name, 0, "source_links", links, SUMS)
    if one.layout.key is not None:
        order = {**shared, "key": one.layout.key, "own": "own"}
        yield Question("source_key_order", child.name, 0, "key_order", order, SUMS)

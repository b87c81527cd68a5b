"""Ledger operations of a run: compare, record before the swap, confirm after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from anonymizer.compile import Table, ident, lit, render
from anonymizer.contract.layout import Layout
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import AnonymizerError, EngineError, GuaranteeError, Problem
from anonymizer.ledger import entries as ledger_entries
from anonymizer.ledger.access import attached, settle_down, transaction
from anonymizer.ledger.compare import Comparison, Findings
from anonymizer.ledger.digests import digested
from anonymizer.ledger.entries import Entry
from anonymizer.ledger.facets import Facet, Mark, facets, marks
from anonymizer.ledger.gathering import Counts, counted, places
from anonymizer.ledger.key import bound, digest, make_key, no_key, read_key
from anonymizer.ledger.tables import (
    DICTIONARY,
    HISTORY,
    MEMBERS,
    NEW_DICTIONARY,
    NEW_MEMBERS,
    NEW_SIGNATURES,
    NUMBERED,
    SIGNATURES,
    SPELLS,
)
from anonymizer.policy import Policy
from anonymizer.privacy.of_policy.sizes import least_class
from anonymizer.release.certificate import published_as_it_is
from anonymizer.source.roles import Roles


@dataclass(slots=True)
class Keeper:
    """The ledger of one run."""

    policy: Policy
    path: Path
    run_id: str
    view: str
    target: Path | None
    key: str = field(default="", repr=False)
    remembered: bool = False

    @classmethod
    def of(cls, policy: Policy, run_id: str, view: str, target: Path | None) -> Keeper | None:
        """None where the policy names no ledger."""
        if policy.ledger is None:
            return None
        return cls(policy, policy.resolve(policy.ledger).resolve(), run_id, view, target)

    def check(self, database: object) -> None:
        """Raises EngineError for a place where no ledger may be."""
        if not self.path.parent.is_dir():
            given = self.policy.resolve(self.policy.ledger or "")
            hint = f"mkdir -p {given.parent}"
            raise EngineError(Problem("ledger", "is in a folder that does not exist", hint=hint))
        source = Path(database).resolve() if isinstance(database, str | Path) else None
        for other, what in ((self.target, "the release"), (source, "the source")):
            if other is not None and other == self.path:
                raise EngineError(
                    Problem("ledger", f"is the database of {what}", hint="a file of its own")
                )

    def begin(self, engine: DuckDBEngine) -> None:
        """Take the key, settle what killed runs left, and bind the key for the digests."""
        known = read_key(self.path)
        if known is None:
            if self.path.exists():
                with attached(engine, self.path):
                    if ledger_entries.entries(engine):
                        raise EngineError(no_key(self.path))
            known = make_key(self.path)
        self.key = known
        engine.binds = {**engine.binds, "ledger_key": bound(known)}
        with attached(engine, self.path):
            with transaction(engine):
                found = ledger_entries.settle(engine, ledger_entries.entries(engine))
            settle_down(engine)
        if any(entry.key_check != digest(bound(known), "check") for entry in found):
            raise EngineError(no_key(self.path))
        problems = list(self._joined(found))
        if problems:
            raise GuaranteeError(problems)

    def _joined(self, earlier: Iterable[Entry]) -> Iterator[Problem]:
        """Columns that identify persons both in this release and in an earlier one.

        Tables with different persons cannot be compared person by person: the name decides.
        """
        for name in self.policy.columns:
            if not published_as_it_is(self.policy, name):
                continue
            if self.policy.columns[name].acknowledge_unique:
                continue
            views = sorted({entry.view for entry in earlier if name in entry.marks} - {self.view})
            if views:
                listed = ", ".join(views)
                said = f"tells persons apart in a release of the ledger ({listed}): joined on it,"
                said += " the rows of a person stand side by side, and k holds for neither"
                hint = (
                    "role drop; release the tables together (tables:); or, for a join that leaves"
                )
                hint += " k persons, acknowledge_unique: true"
                yield Problem(f"columns.{name}", said, hint=hint)

    def remember(
        self,
        engine: DuckDBEngine,
        roles: Roles,
        layout: Layout,
        *,
        link: Table,
        originals: Table,
        secret: str,
    ) -> Findings:
        """Compare with every earlier release and record this one, in one transaction.

        The engine's lock on the file is held meanwhile, so that of two runs one sees the other.
        Raises GuaranteeError, and writes nothing, if the releases together disclose too much.
        """
        seen, pseudonyms = facets(self.policy, roles, layout), marks(self.policy, roles)
        with engine.in_any_order():
            self._gather(engine, roles, layout, seen, link, originals)
        counts = counted(engine, several=self.policy.person is not None)
        comparison = Comparison(
            engine,
            seen,
            pseudonyms,
            counts.several,
            k=least_class(self.policy),
            intersect=not self._invariant,
            absent=self._absent(layout, pseudonyms),
        )
        with attached(engine, self.path):
            earlier = ledger_entries.entries(engine)
            found = comparison.run(earlier)
            secret_digest = digest(self.key, secret)
            if any(entry.secret_digest == secret_digest for entry in earlier):
                found.problems.append(_same_secret())
            if found.problems:
                raise GuaranteeError(found.problems)
            number = max((entry.release for entry in earlier), default=0) + 1
            with engine.in_any_order():
                with transaction(engine):
                    self._write(engine, number, secret_digest, layout, seen, pseudonyms, counts)
                settle_down(engine)
        self.remembered = True
        return found

    def _gather(
        self,
        engine: DuckDBEngine,
        roles: Roles,
        layout: Layout,
        seen: tuple[Facet, ...],
        link: Table,
        originals: Table,
    ) -> None:
        """The members of the release and their signatures, in scratch."""
        context = {
            **digested(self.policy, roles),
            "members": NEW_MEMBERS,
            "signatures": NEW_SIGNATURES,
            "dictionary": NEW_DICTIONARY,
            "numbered": NUMBERED,
            "link": link,
            "original": originals,
            "facets": seen,
            "places": places(seen),
            "group": layout.class_id or layout.group_id,
            "number": layout.person_id,
            "spells": SPELLS if self._invariant else None,
        }
        whole = ("numbered", "members", "signatures", "dictionary")
        for name in whole if seen else ("members",):
            binds = ("ledger_key",) if name == "members" else ()
            engine.execute(render(f"ledger/{name}.sql.j2", context), "ledger", binds)

    def _write(
        self,
        engine: DuckDBEngine,
        number: int,
        secret_digest: str,
        layout: Layout,
        seen: tuple[Facet, ...],
        pseudonyms: tuple[Mark, ...],
        counts: Counts,
    ) -> None:
        entry = Entry(
            release=number,
            run_id=self.run_id,
            view=self.view,
            target=str(self.target) if self.target is not None else "",
            policy_digest=self.policy.digest(),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            state=ledger_entries.PENDING,
            owner=ledger_entries.owner(),
            key_check=digest(bound(self.key), "check"),
            secret_digest=secret_digest,
            several=counts.several,
            facets=tuple(f.column for f in seen),
            scopes=tuple(f.scope for f in seen),
            marks=tuple(m.column for m in pseudonyms),
            persons=counts.persons,
            counterfeits=counts.counterfeits,
        )
        engine.raw(entry.sql(), "ledger")
        own = {
            "number": "n.number",
            "marks": "n.marks",
            "since": f"coalesce(n.since, {lit(number)})",
        }
        nothing = {"number": "null", "marks": "[]", "since": "0"}
        own |= {name: nothing[name] for name in self._absent(layout, pseudonyms)}
        fresh = f"{lit(number)}::bigint * 4294967296 + n.class_id"
        members = ident(NEW_MEMBERS)
        groups = ", ".join(f"n.{facet.place}" for facet in seen)
        buckets = f"[{groups}]" if any(facet.dealt for facet in seen) else "null"
        if self._appends:
            lineages = (
                f" left join (select m.class_id, min(h.lineage) as lineage from {members} m"
                f" join {ident(HISTORY)} h on h.person = m.person group by m.class_id) o"
                " on o.class_id = n.class_id"
            )
            lineage = f"coalesce(o.lineage, {fresh})"
        else:
            lineages, lineage = "", fresh
        engine.raw(
            f"insert into {ident(MEMBERS)} select {lit(number)}, n.person, n.class_id,"
            f" {own['number']}, cast({buckets} as bigint[]), {own['marks']}, {lineage},"
            f" {own['since']} from {members} n{lineages}",
            "ledger",
        )
        if seen:
            engine.raw(
                f"insert into {ident(SIGNATURES)} select {lit(number)}, facet, grp, signature"
                f" from {ident(NEW_SIGNATURES)}",
                "ledger",
            )
            engine.raw(
                f"insert into {ident(DICTIONARY)} from {ident(NEW_DICTIONARY)}"
                f" except from {ident(DICTIONARY)}",
                "ledger",
            )

    def _absent(self, layout: Layout, pseudonyms: tuple[Mark, ...]) -> frozenset[str]:
        """What the members in scratch have no columns for, as the release has no such thing."""
        present = {
            "number": layout.person_id is not None,
            "marks": bool(pseudonyms),
            "since": self._invariant,
        }
        return frozenset(name for name, has in present.items() if not has)

    @property
    def _invariant(self) -> bool:
        republish = self.policy.republish
        return republish is not None and republish.m is not None

    @property
    def _appends(self) -> bool:
        republish = self.policy.republish
        return republish is not None and bool(republish.append_only)

    def confirm(self, engine: DuckDBEngine) -> None:
        """Confirm that the release is published. If the run dies before, the next run finds out."""
        with attached(engine, self.path):
            ledger_entries.set_published(engine, self.run_id)
            settle_down(engine)

    def withdraw(self, engine: DuckDBEngine) -> None:
        """The release is certainly not published: remove its entry, if there is one."""
        if not self.remembered:
            return
        with suppress(AnonymizerError), attached(engine, self.path):
            with transaction(engine):
                for entry in ledger_entries.entries(engine):
                    if entry.run_id == self.run_id:
                        ledger_entries.remove(engine, entry)
            settle_down(engine)


def _same_secret() -> Problem:
    return Problem(
        "seed",
        "is the secret of an earlier release: order and numbers of the two could be aligned",
        hint="leave out --seed-file, --test-seed and ANONYMIZER_SEED",
    )

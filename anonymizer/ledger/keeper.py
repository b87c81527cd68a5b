"""A run's side of the ledger: compare, remember before the swap, confirm after it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anonymizer.algorithms.mondrian.compiling import least_class
from anonymizer.algorithms.prepare import SNAPSHOT
from anonymizer.algorithms.roles import Roles
from anonymizer.compile import Sql, Table, ident, lit, render
from anonymizer.engines.duckdb import DuckDBEngine
from anonymizer.errors import AnonymizerError, EngineError, GuaranteeError, Problem
from anonymizer.ledger import entries as ledger_entries
from anonymizer.ledger.access import attached, settle_down, transaction
from anonymizer.ledger.compare import Comparison, Findings
from anonymizer.ledger.entries import Entry
from anonymizer.ledger.facets import Facet, Mark, facets, identity, marks
from anonymizer.ledger.history import load_history
from anonymizer.ledger.key import bound, digest, make_key, read_key
from anonymizer.ledger.tables import (
    DICTIONARY,
    DIGESTS,
    HISTORY,
    MEMBERS,
    NEW_DICTIONARY,
    NEW_MEMBERS,
    NEW_SIGNATURES,
    NUMBERED,
    SIGNATURES,
    SPELLS,
)
from anonymizer.plan import Step
from anonymizer.policy import Policy
from anonymizer.release.layout import Layout


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
                        raise EngineError(_no_key(self.path))
            known = make_key(self.path)
        self.key = known
        engine.binds = {**engine.binds, "ledger_key": bound(known)}
        with attached(engine, self.path):
            with transaction(engine):
                found = ledger_entries.settle(engine, ledger_entries.entries(engine))
            settle_down(engine)
        if any(entry.key_check != digest(bound(known), "check") for entry in found):
            raise EngineError(_no_key(self.path))

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
        """Compare with every earlier release and write this one down, in one transaction.

        The engine's lock on the file is held in between, so that of two runs one sees the other.
        Raises GuaranteeError, and writes nothing, where the two together tell too much.
        """
        seen, pseudonyms = facets(self.policy, roles, layout), marks(self.policy, roles)
        with engine.in_any_order():
            self._gather(engine, roles, layout, seen, link, originals)
        counts = _counted(engine, several=self.policy.person is not None)
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
            **_digested(self.policy, roles),
            "members": NEW_MEMBERS,
            "signatures": NEW_SIGNATURES,
            "dictionary": NEW_DICTIONARY,
            "numbered": NUMBERED,
            "link": link,
            "original": originals,
            "facets": seen,
            "places": _places(seen),
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
        counts: _Counts,
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
        """The release stands. Where this is not reached, the next run finds out."""
        with attached(engine, self.path):
            ledger_entries.set_published(engine, self.run_id)
            settle_down(engine)

    def withdraw(self, engine: DuckDBEngine) -> None:
        """The release certainly does not stand: forget it, if it was written down."""
        if not self.remembered:
            return
        with suppress(AnonymizerError), attached(engine, self.path):
            with transaction(engine):
                for entry in ledger_entries.entries(engine):
                    if entry.run_id == self.run_id:
                        ledger_entries.remove(engine, entry)
            settle_down(engine)


def _places(seen: tuple[Facet, ...]) -> list[tuple[Sql, list[Facet]]]:
    """The groups of the members with the columns that are gathered from them together: those of
    which a signature has every value once are by themselves.
    """
    places: dict[tuple[str, str], list[Facet]] = {}
    for facet in seen:
        alone = facet.column if facet.once else ""
        places.setdefault((facet.place.text, alone), []).append(facet)
    return [(held[0].place, held) for held in places.values()]


@dataclass(frozen=True, slots=True)
class _Counts:
    """Of the members of the new release."""

    rows: int
    """Rows of persons."""
    persons: int
    counterfeits: int

    @property
    def several(self) -> bool:
        """Whether a person may have several rows."""
        return self.rows > self.persons


def _counted(engine: DuckDBEngine, *, several: bool) -> _Counts:
    """`several`: whether persons may repeat. Keys were found to be unique, and rows without one
    are numbered.
    """
    row = engine.raw(
        f"select count(person), count({'distinct ' if several else ''}person),"
        f" count(*) filter (where person is null) from {ident(NEW_MEMBERS)}",
        "ledger",
    )[0]
    return _Counts(*map(int, row))


def digests_step(policy: Policy, roles: Roles) -> Step:
    """The digests for a run that continues earlier releases; the ledger's key is bound in it."""
    context = {**_digested(policy, roles), "digests": DIGESTS}
    return Step("digests of persons", "ledger/digests.sql.j2", context, binds=("ledger_key",))


def _digested(policy: Policy, roles: Roles) -> dict[str, Any]:
    """What the digests of persons are made from."""
    return {
        "snapshot": SNAPSHOT,
        "identity": identity(policy, roles),
        "marks": marks(policy, roles),
    }


def prepare_history(policy: Policy, engine: DuckDBEngine) -> None:
    """For a run that continues earlier releases: their history in scratch, and a key to find
    persons by (a throw-away one where there is no ledger yet).
    """
    if policy.republish is None or policy.ledger is None:
        return
    path = policy.resolve(policy.ledger).resolve()
    if "ledger_key" not in engine.binds:
        engine.binds = {**engine.binds, "ledger_key": bound(read_key(path) or "")}
    load_history(engine, path, policy.sensitive[0] if policy.republish.m else None)


def _no_key(path: Path) -> Problem:
    return Problem(
        "ledger",
        f"its key {path.name}.key is missing or is not the one its digests were made with",
        hint="restore the key; without it earlier releases cannot be compared",
    )


def _same_secret() -> Problem:
    return Problem(
        "seed",
        "is the secret of an earlier release: order and numbers of the two could be aligned",
        hint="leave out --seed-file, --test-seed and ANONYMIZER_SEED",
    )

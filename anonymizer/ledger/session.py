"""Ledger operations of a run: open, compare, record before the swap, confirm after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from anonymizer.compile import Table, ident
from anonymizer.contract.layout import Layout
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.errors import (
    AnonymizerError,
    EngineError,
    GuaranteeError,
    NothingToCheckError,
    Problem,
    no_file,
)
from anonymizer.guarantees.requirements import least_class
from anonymizer.ledger import entries as ledger_entries
from anonymizer.ledger.approvals import approvals_file
from anonymizer.ledger.compare import Comparison
from anonymizer.ledger.counts import (
    CountedRelease,
    beside_counts,
    beside_rows,
    coarse_columns,
    compare_counts,
    counted,
    record_counts,
)
from anonymizer.ledger.entries import Entry, FilePlace, Place, entries, place_of, remove
from anonymizer.ledger.history import digested
from anonymizer.ledger.matches import Findings, first_of_series, joined_by_name
from anonymizer.ledger.protected_columns import (
    Recognition,
    Written,
    facets,
    further,
    marks,
    opens,
    reserved,
)
from anonymizer.ledger.recognition import OTHER_VIEW, strangers, unrecognized
from anonymizer.ledger.record import (
    NEW,
    Contents,
    Counts,
    Schema,
    carry,
    count_rows,
    gather,
    record,
    record_rows,
    record_value_counts,
    schemas,
    shared_marks,
)
from anonymizer.ledger.seal import (
    is_listed,
    list_releases,
    mark_listed,
    refuse_damaged,
    seal,
    sealed,
    unlisted,
)
from anonymizer.ledger.spending import record_spend, spends_of
from anonymizer.ledger.store import (
    COUNTED,
    HISTORY,
    NEW_COUNTED,
    SIGNATURE_SINCE,
    attached,
    bound,
    digest,
    is_ledger,
    key_checks,
    make_key,
    no_key,
    read_key,
    settle_down,
)
from anonymizer.policy import AggregatePolicy, AnyPolicy, Policy
from anonymizer.policy.paths import column_path, table_path
from anonymizer.policy.values import table_parts
from anonymizer.publish.target import Target
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles

# What a run finds where it opens its ledger: the key, and whether there were releases before.


def ledger_key(home: DuckDBEngine, path: Path) -> tuple[str, tuple[str, ...]]:
    """The key of a ledger, made if there is neither ledger nor key, and warnings.

    Raises EngineError if the key of a ledger is missing.
    """
    known = read_key(path)
    if known is None:
        if path.exists():
            with attached(home, path):
                if entries(home) or is_listed(home):
                    raise EngineError(no_key(path))
        return make_key(path), ()
    with attached(home, path):
        begun = bool(entries(home)) or is_listed(home)
    if begun or approvals_file(path).exists():
        return known, ()
    return known, (
        f"the ledger {path.name} is new, and its key is not: if releases were recorded with this"
        " key, the ledger was removed or emptied since, and what they and the new one tell together"
        " was not counted",
    )


# Ledger operations of a run: compare, record before the swap, confirm after it.


@dataclass(slots=True)
class LedgerSession:
    """The ledger of one run."""

    asked: AnyPolicy
    """The policy of the release."""
    policy: Policy
    """The policy of its view: with several tables, of the persons."""
    path: Path
    run_id: str
    view: str
    target: Path | None
    """The file of the release, if it is one."""
    home: DuckDBEngine | None = field(default=None, repr=False)
    """The connection that opens the ledger, from `begin` on."""
    place: Place = field(default=FilePlace(None), repr=False)
    key: str = field(default="", repr=False)
    remembered: bool = False
    alone: bool = True
    """False for counts of a release that is in the ledger: its rows say all that they say."""
    due: str = field(default="", repr=False)
    """The seal of the release once it is published."""
    source: Path | None = None
    """The file of the source, if it is one."""
    standing: str | None = None
    """The run whose release will be replaced in the target, if that is a separate file."""
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, policy: AnyPolicy, run_id: str, view: str, target: Path | None
    ) -> LedgerSession | None:
        """The ledger of a policy; None if the policy names none."""
        if policy.ledger is None:
            return None
        path = policy.resolve(policy.ledger).resolve()
        return cls(policy, policy.lead, path, run_id, view, target)

    def check(self, database: object) -> None:
        """Raise EngineError if no ledger may be at this path."""
        if not self.path.parent.is_dir():
            given = self.policy.resolve(self.policy.ledger or "")
            hint = f"mkdir -p {given.parent}"
            raise EngineError.at("ledger", "is in a folder that does not exist", hint=hint)
        self.source = Path(database).resolve() if isinstance(database, str | Path) else None
        for other, what in ((self.target, "the release"), (self.source, "the source")):
            if other is not None and other == self.path:
                raise EngineError.at(
                    "ledger", f"is the database of {what}", hint="a file of its own"
                )
        self.standing = FilePlace(self.target).run_of(self.view)

    def begin(self, engine: Engine, home: DuckDBEngine) -> None:
        """Read or create the key and bind it for the digests; settle the entries of killed runs.

        `engine`: that of the run; `home`: the connection that opens the ledger.
        """
        self.home = home
        self.place = place_of(engine, self.target)
        known, self.warnings = ledger_key(home, self.path)
        self.key = known
        engine.binds = {**engine.binds, "ledger_key": bound(known)}
        with attached(home, self.path):
            recorded = ledger_entries.entries(home)
            of = refuse_damaged(home, recorded, self.path, known)
            if not self._noise:
                ledger_entries.refuse_other_engines(recorded, engine.name)
            with home.transaction("ledger"):
                by_key = partial(seal, known, of=of)
                found = ledger_entries.settle(home, recorded, self.place, by_key)
                mark_listed(home, ledger_entries.entries(home), known, of)
                list_releases(home, known)
            settle_down(home)
        if self.standing is not None and self.standing not in {entry.run_id for entry in found}:
            self.warnings += (
                f"the ledger does not know the release of run {self.standing}, which is replaced:"
                " what it and the new one tell together was not counted. It was made without this"
                " ledger, or forgotten, or the ledger is not the one it was",
            )
        if self.view not in {entry.view for entry in found}:
            self.warnings += tuple(first_of_series(self.asked, self.view))
        counts = self.asked.counts
        if counts is None:
            GuaranteeError.refuse(joined_by_name(self.asked, self.view, found))
        elif not self._noise:
            self.alone = not self._counts_a_release(counts, found)
            if self.alone and counts.person is None:
                said = "is needed for a ledger: it finds the persons of other releases by it"
                hint = "person: COLUMN, which may be a number of the row"
                raise EngineError.at("person", said, hint=hint)

    def remember(
        self,
        engine: Engine,
        roles: Roles,
        profile: TableProfile,
        layout: Layout,
        *,
        link: Table,
        originals: Table,
        secret: str,
        written: Sequence[Written] = (),
    ) -> Findings:
        """Compare with every earlier release and record this one, in one transaction.

        The engine's lock on the file is held meanwhile, so that of two runs the later one sees
        the other. Raises GuaranteeError, and writes nothing, if the releases together disclose
        too much. `written`: the further tables of a release of several.
        """
        contents = self._contents(roles, layout, link, originals, written)
        parameters = contents.parameters(
            digested(self.policy, roles, profile), SIGNATURE_SINCE if self._invariant else None
        )
        home = self._home
        gather(engine, home, contents, parameters)
        if self._appends and engine is not home:
            carry(engine, home, HISTORY, ("person", "lineage"))
        several = self.policy.person is not None or bool(contents.tables)
        recognized = Recognition.of(self.policy, profile)
        counts, schema = count_rows(home, several=several), self._schema(contents)
        with attached(home, self.path):
            every = ledger_entries.entries(home)
            EngineError.refuse(unlisted(home, every, self.key))
            earlier = [entry for entry in every if not entry.is_counts]
            recoded = self._recoded(contents, written)
            of_counts = [entry for entry in every if entry.persons and counted(recoded, entry)]
            again = self.policy.republish
            others = again is not None and bool(again.new_population)
            EngineError.refuse(unrecognized(recognized, self.view, earlier, others=others))
            if not others:
                GuaranteeError.refuse(strangers(recognized, home, self.view, earlier))
            EngineError.refuse(unrecognized(recognized, self.view, of_counts, strictly=True))
            GuaranteeError.refuse(beside_counts(home, recoded, of_counts))
            known = schemas(home)
            number = _next(every)
            comparison = Comparison(
                home,
                self.policy,
                contents.facets,
                contents.marks,
                counts.several,
                k=least_class(self.policy),
                intersect=not self._invariant,
                absent=self._absent(contents),
                schemas=known if schema is None else {**known, NEW: schema},
                shared=shared_marks(home, contents.marks),
                opens=contents.opens,
                number=number,
            )
            found = comparison.run(earlier)
            secret_digest = digest(self.key, secret)
            if any(entry.secret_digest == secret_digest for entry in earlier):
                said = "is the secret of an earlier release: order and numbers of the two could be"
                said += " aligned"
                hint = "leave out --seed-file, --test-seed and ANONYMIZER_SEED"
                found.problems.append(Problem("seed", said, hint=hint))
            GuaranteeError.refuse(found.problems)
            with self._recording(home, number):
                self._write(
                    home, number, secret_digest, contents, counts, recognized, tuple(recoded)
                )
                comparison.record_groups()
                if schema is not None:
                    record_rows(home, number, schema)
        self.remembered = True
        return found

    @contextmanager
    def _recording(self, home: DuckDBEngine, number: int) -> Iterator[None]:
        """Write a release into the attached ledger in one transaction, and seal it."""
        with home.in_any_order():
            with home.transaction("ledger"):
                yield
                record_value_counts(home, number)
                self.due = sealed(home, self.key, self.run_id)
                list_releases(home, self.key)
            settle_down(home)

    def spend(self, policy: AggregatePolicy) -> tuple[float, float]:
        """Record a release with noise and what it spends, in one transaction, before it is drawn.

        Returns what all releases spend together, and the budget. Raises GuaranteeError, and
        records nothing, if too little is left.
        """
        home = self._home
        assert policy.epsilon is not None
        with attached(home, self.path):
            every = ledger_entries.entries(home)
            EngineError.refuse(unlisted(home, every, self.key))
            entry = replace(self._entry(_next(every), 0), grouped=tuple(policy.by))
            with self._recording(home, entry.release):
                found = record_spend(home, entry.release, policy.epsilon, policy.dp.budget)
                home.raw(entry.sql(), "ledger")
        self.remembered = True
        return found

    def gather_counts(self, engine: Engine, release: CountedRelease) -> None:
        """Gather what is stored of a table of counts, where its rows can be read."""
        release.gather(engine, self._home)

    def remember_counts(self, release: CountedRelease) -> None:
        """Compare a table of counts with every earlier release and record it, in one transaction.

        Raises GuaranteeError, and writes nothing, if the releases together disclose too much.
        """
        home, policy, recognized = self._home, release.policy, release.recognized
        by = tuple(policy.by)
        with attached(home, self.path):
            every = ledger_entries.entries(home)
            EngineError.refuse(unlisted(home, every, self.key))
            persons = 0
            if self.alone and recognized is not None:
                earlier = [entry for entry in every if entry.is_counts and entry.persons]
                rows = [e for e in every if not e.is_counts and coarse_columns(e, by)]
                compared = [*earlier, *rows]
                EngineError.refuse(unrecognized(recognized, self.view, compared, strictly=True))
                tables = (COUNTED, NEW_COUNTED)
                GuaranteeError.refuse(
                    strangers(recognized, home, self.view, earlier, *tables, OTHER_VIEW)
                )
                problems = [*beside_rows(home, by, rows)]
                problems += compare_counts(home, policy.minimum, earlier)
                GuaranteeError.refuse(problems)
                ((persons,),) = home.raw(f"select count(*) from {ident(NEW_COUNTED)}", "ledger")
            entry = replace(
                self._entry(_next(every), int(persons)),
                person_column=recognized.column if recognized is not None else None,
                person_kind=recognized.kind if recognized is not None else None,
                grouped=by if self.alone else (),
                minimum=policy.minimum,
            )
            with self._recording(home, entry.release):
                home.raw(entry.sql(), "ledger")
                if self.alone:
                    record_counts(home, entry.release)
        self.remembered = True

    def _counts_a_release(self, policy: AggregatePolicy, every: Iterable[Entry]) -> bool:
        """Return whether the source is the published view of a release of rows in the ledger.

        On a server only a name with its schema says which view is read.
        """
        if policy.source.kind != "table":
            return False
        here, parts = self.place.text, list(policy.source.parts)
        if not ledger_entries.on_server(here):
            here, parts = str(self.source), ["main", *parts]
        view = [part.lower() for part in parts[-2:]]
        return any(
            not entry.is_counts
            and entry.target == here
            and [part.lower() for part in table_parts(entry.view)] == view
            and self.place.holds(entry.target, entry.run_id) is True
            for entry in every
        )

    @contextmanager
    def publishing(self, target: Target) -> Iterator[None]:
        """Confirm the entry of a release once it is published, or withdraw it."""
        try:
            yield
        except BaseException:
            if not target.is_published:
                self.withdraw()
            raise
        self.confirm()

    @property
    def _noise(self) -> bool:
        """True for counts with noise, of whose persons nothing is kept."""
        return self.asked.counts is not None and self.asked.counts.epsilon is not None

    @property
    def _home(self) -> DuckDBEngine:
        assert self.home is not None, "begin comes first"
        return self.home

    def _contents(
        self,
        roles: Roles,
        layout: Layout,
        link: Table,
        originals: Table,
        written: Sequence[Written],
    ) -> Contents:
        also = reserved(self.asked, self.asked.person)
        seen, pseudonyms = facets(self.policy, roles, layout, also), marks(self.policy, roles)
        found = Contents(layout, link, originals, seen, pseudonyms)
        if not self.asked.several:
            return replace(found, opens=opens(self.policy, roles, layout, len(pseudonyms)))
        tables = further(self.asked, written, layout.class_id, len(seen), len(pseudonyms))
        wanted = (t for t in tables if t.remembered or t.facets or t.marks)
        return replace(found, tables=tuple(wanted))

    def _schema(self, contents: Contents) -> Schema | None:
        if not self.asked.several:
            return None
        knows = self.asked.knows
        return Schema.of(
            least_class(self.policy),
            knows.events,
            [t for t in contents.tables if t.remembered],
            rows=knows.rows and bool(contents.tables),
        )

    def _recoded(self, contents: Contents, written: Sequence[Written]) -> dict[str, str]:
        """The columns of rows that are published otherwise than as they are, or are protected, with
        their paths.
        """
        protected = {facet.path for facet in contents.facets}
        tables = [(column_path(c.column), c, contents.layout) for c in contents.layout.columns]
        for one in written:
            at = (one.child.name, "columns")
            tables += [(table_path(*at, c.column), c, one.layout) for c in one.layout.columns]
        return {
            column.column: path
            for path, column, layout in tables
            if path in protected or not column.is_plain or column.column in layout.tables
        }

    def _entry(self, number: int, persons: int) -> Entry:
        """The entry of this run, without what is recorded of rows."""
        return Entry(
            release=number,
            run_id=self.run_id,
            view=self.view,
            target=self.place.text,
            policy_digest=self.asked.digest(),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            state=ledger_entries.PENDING,
            owner=ledger_entries.owner(),
            key_check=key_checks(self.key)[0],
            secret_digest="",
            several=False,
            facets=(),
            scopes=(),
            marks=(),
            persons=persons,
            counterfeits=0,
            forms=(),
        )

    def _write(
        self,
        engine: DuckDBEngine,
        number: int,
        secret_digest: str,
        contents: Contents,
        counts: Counts,
        recognized: Recognition,
        recoded: tuple[str, ...],
    ) -> None:
        seen = contents.facets
        entry = replace(
            self._entry(number, counts.persons),
            secret_digest=secret_digest,
            several=counts.several,
            facets=tuple(f.column for f in seen),
            scopes=tuple(f.scope for f in seen),
            marks=tuple(m.label for m in contents.marks),
            counterfeits=counts.counterfeits,
            person_column=recognized.column,
            person_kind=recognized.kind,
            forms=tuple(f.form for f in seen),
            opens=tuple(m.column for m in contents.opens),
            recoded=recoded,
        )
        record(engine, entry, contents, self._absent(contents), appends=self._appends)

    def _absent(self, contents: Contents) -> frozenset[str]:
        """Columns that the gathered members lack, because the release has no such data."""
        present = {
            "number": contents.layout.person_id is not None,
            "marks": bool(contents.marks),
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
        return republish is not None and republish.grows

    def confirm(self) -> None:
        """Record that the release is published; if the run dies before, the next run settles it."""
        home = self._home
        with attached(home, self.path):
            ledger_entries.set_published(home, self.run_id, self.due)
            settle_down(home)

    def withdraw(self) -> None:
        """Remove the entry of a release that was not published, if there is one.

        A server may have published it without being able to report so: then the entry stays, and
        the next run settles it.
        """
        if not self.remembered or self.place.may_hold(self.run_id):
            return
        home = self._home
        with suppress(AnonymizerError), attached(home, self.path):
            with home.transaction("ledger"):
                for entry in ledger_entries.entries(home):
                    if entry.run_id == self.run_id:
                        ledger_entries.remove(home, entry)
                list_releases(home, self.key)
            settle_down(home)


def _next(every: Iterable[Entry]) -> int:
    """The number of the next release."""
    return max((entry.release for entry in every), default=0) + 1


# Listing and removing the releases of a ledger, outside of a run.


def listed(path: str | Path) -> tuple[Entry, ...]:
    """Every release of a ledger, oldest first."""
    with open_ledger(Path(path), read_only=True) as engine:
        return entries(engine)


def spends(path: str | Path) -> dict[int, float]:
    """What releases of a ledger with noise have spent, by their numbers."""
    with open_ledger(Path(path), read_only=True) as engine:
        return {release: float(epsilon) for release, (epsilon, _) in spends_of(engine).items()}


def forget_release(path: str | Path, run_id: str) -> Entry:
    """Remove one release with all data about its members, and make the list of releases anew.

    Raises NothingToCheckError if the ledger does not have the run; EngineError if another release
    is missing from it, or its key is not there.
    """
    with open_ledger(Path(path), read_only=False) as engine:
        found = entries(engine)
        for entry in found:
            if entry.run_id == run_id:
                key = key_of(engine, Path(path).resolve(), found)
                with engine.transaction("ledger"):
                    remove(engine, entry)
                    if key is not None:
                        list_releases(engine, key)
                settle_down(engine)
                return entry
    raise NothingToCheckError.at(
        "RUN", "is not in the ledger", hint="anonymizer ledger show LEDGER lists them"
    )


def key_of(engine: DuckDBEngine, path: Path, found: tuple[Entry, ...]) -> str | None:
    """The key to make the list with; None for a ledger of before there was a list."""
    key = read_key(path)
    if key is None:
        if is_listed(engine):
            raise EngineError(no_key(path))
        return None
    if any(entry.key_check not in key_checks(key) for entry in found):
        raise EngineError(no_key(path))
    EngineError.refuse(unlisted(engine, found, key))
    return key if is_listed(engine) else None


@contextmanager
def open_ledger(path: Path, *, read_only: bool) -> Iterator[DuckDBEngine]:
    """A connection to which a ledger is attached. Raises NothingToCheckError if it is none."""
    if not path.is_file():
        raise NothingToCheckError.at("LEDGER", no_file(path))
    path = path.resolve()
    with own_connection(None, databases=[path]) as engine:
        with attached(engine, path, read_only=True):
            if not is_ledger(engine):
                raise NothingToCheckError.at("LEDGER", f"{path.name} is not a ledger")
        with attached(engine, path, read_only=read_only):
            yield engine

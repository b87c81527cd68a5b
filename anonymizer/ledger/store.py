"""The database of a ledger: its tables, its key, and access to it."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anonymizer.compile import Table, ident, lit, work
from anonymizer.engines.duckdb.connection import DuckDBEngine, detaching
from anonymizer.engines.duckdb.sandbox import attach_problem, is_database, refuse_odd_logs
from anonymizer.errors import AnonymizerError, EncryptionError, EngineError, Problem
from anonymizer.process.files import read_beside, write_new
from anonymizer.release import objects

# The tables of a ledger, in the database that the policy names, and those of a run in scratch.


CATALOG = "anon_ledger"
SCHEMA = "anonymizer_ledger"


def _kept(name: str) -> Table:
    return Table(name, SCHEMA, CATALOG)


RELEASES = _kept("releases")
MEMBERS = _kept("members")
SIGNATURES = _kept("signatures")
DICTIONARY = _kept("dictionary")
SCHEMAS = _kept("schemas")
ROWS = _kept("rows")
LISTING = _kept("listing")
GROUPS = _kept("group_values")
COUNTED = _kept("counted_persons")
CELLS = _kept("counted_cells")
SPENDS = _kept("spends")

DIGESTS = work("ledger_digests")
NEW_MEMBERS = work("ledger_members")
NEW_SIGNATURES = work("ledger_signatures")
NEW_DICTIONARY = work("ledger_dictionary")
NUMBERED = work("ledger_numbered")
NEW_ROWS = work("ledger_rows")
NEW_COUNTED = work("ledger_counted")
NEW_CELLS = work("ledger_cells")
JOINT = work("ledger_joint")
JOINT_CELLS = work("ledger_joint_cells")
JOINT_CLASSES = work("ledger_joint_classes")
WITNESSES = work("ledger_witnesses")
SEEN = work("ledger_seen")
SERIES = work("ledger_series")
SIGNATURE_SINCE = work("ledger_signature_since")
HISTORY = work("history")
HISTORY_COMMON = work("history_common")
HISTORY_COUNTS = work("history_counts")
HISTORY_RELEASES = work("history_releases")
HISTORY_VALUES = work("history_values")
HISTORY_TEXTS = work("history_texts")

CREATE = (
    f"create schema if not exists {ident(Table(SCHEMA, None, CATALOG))}",
    f"create table if not exists {ident(RELEASES)} (release integer, run_id varchar, view varchar,"
    " target varchar, policy_digest varchar, created varchar, state varchar, owner varchar,"
    " key_check varchar, secret_digest varchar, several boolean, facets varchar[],"
    " scopes varchar[], marks varchar[], persons bigint, counterfeits bigint)",
    f"alter table {ident(RELEASES)} add column if not exists person_column varchar",
    f"alter table {ident(RELEASES)} add column if not exists person_kind varchar",
    f"alter table {ident(RELEASES)} add column if not exists forms varchar[]",
    f"alter table {ident(RELEASES)} add column if not exists held bigint[]",
    f"alter table {ident(RELEASES)} add column if not exists seal varchar",
    f"alter table {ident(RELEASES)} add column if not exists opens varchar[]",
    f"alter table {ident(RELEASES)} add column if not exists recoded varchar[]",
    f"alter table {ident(RELEASES)} add column if not exists grouped varchar[]",
    f"alter table {ident(RELEASES)} add column if not exists minimum bigint",
    f"create table if not exists {ident(MEMBERS)} (release integer, person uhugeint,"
    " class_id bigint, number bigint, buckets bigint[], marks uhugeint[], lineage bigint,"
    " since integer)",
    f"create table if not exists {ident(SIGNATURES)} (release integer, facet varchar, grp bigint,"
    " signature bigint[])",
    f"create table if not exists {ident(DICTIONARY)} (facet varchar, value bigint, text varchar)",
    f"create table if not exists {ident(SCHEMAS)} (release integer, k integer, events integer,"
    " rows boolean, tables varchar[], keys varchar[], columns varchar[])",
    f"create table if not exists {ident(ROWS)} (release integer, person uhugeint, source varchar,"
    " by_key uhugeint, content uhugeint, cells uhugeint)",
    f"create table if not exists {ident(LISTING)} (listing varchar)",
    f"create table if not exists {ident(GROUPS)} (release integer, grp uhugeint, facet varchar,"
    " value bigint, n bigint)",
    f"create table if not exists {ident(COUNTED)} (release integer, person uhugeint,"
    " atom uhugeint)",
    f"create table if not exists {ident(CELLS)} (release integer, atom uhugeint, cell uhugeint,"
    " kind bigint)",
    f"create table if not exists {ident(SPENDS)} (release integer, epsilon varchar,"
    " budget varchar)",
)
"""`members`: one row per published row; `person` is NULL for a counterfeit. `marks` are digests of
published values that are nearly unique; `since` is the release from which on a person's signature
was kept (0: no promise of that kind was made). `buckets` has the group of every facet, the class of
those whose values were not dealt; NULL where none was. `signatures`: the values of a class or
bucket, under their numbers in `dictionary`, some of them twice; all of them stand in the release
as well. `schemas`: a release of several tables, with what it promises against those who know rows;
of each table besides that of the persons, the kind of its key (NULL without one) and its event
columns. `rows`: one line per published row of those tables that somebody may know, found again by
the digest of its key or of its person and true events; equal `cells`, a digest by the run's secret,
say that two rows of the release look the same. `held`: what the other tables hold of a release, in
numbers. `opens`: the columns that a release publishes as they are. `seal`: a keyed digest of all
of that, and of the entry. `group_values`: of persons with the same classes in all releases so far,
how many have each value; the last release that changed it counts. `listing`: one keyed digest of
the numbers and runs of all releases. Of a table of counts, `grouped` has its columns and `minimum`
its smallest group; `counted_persons` has the finest group of each person, and `counted_cells` the
published rows in which a finest group is, both as keyed digests of labels. `kind`: 0 listed without
a figure, 1 with its figure, 2 in the figure of all that is left out. `recoded`: the columns that a
release of rows publishes otherwise than as they are, or protects. `spends`: the privacy loss of a
release of counts with noise, and the budget that its policy states, as decimals; nothing is kept of
its persons."""


# Opening a ledger: attached briefly, under the engine's lock, and detached again.


PATIENCE = 10.0
"""Seconds to wait for another run that has the ledger open."""


@contextmanager
def attached(engine: DuckDBEngine, path: Path, *, read_only: bool = False) -> Iterator[None]:
    """Attach the ledger; create it with mode 0600 if it does not exist.

    Raises EngineError if it is locked, is not a database, or contains releases.
    """
    _attach(engine, path, read_only)
    with detaching(engine, CATALOG, "ledger"):
        views = f"database_name = {lit(CATALOG)} and schema_name = {lit(SCHEMA)} and not internal"
        if engine.raw(f"select 1 from duckdb_views() where {views} limit 1", "ledger"):
            raise EngineError.at("ledger", f"{path.name} has a view where a ledger has tables only")
        if not read_only:
            if not is_ledger(engine) and objects.object_entries(engine, CATALOG):
                raise EngineError.at(
                    "ledger",
                    "is a database of releases, and a ledger must never be handed out",
                    hint="ledger: a file of its own",
                )
            for text in CREATE:
                engine.raw(text, "ledger")
            path.chmod(0o600)
        yield


def _attach(engine: DuckDBEngine, path: Path, read_only: bool) -> None:
    refuse_odd_logs(path, "ledger")
    mode = f"type duckdb, {'read_only' if read_only else 'read_write'}"
    until = time.monotonic() + PATIENCE
    while True:
        try:
            engine.attach(path, CATALOG, mode, "ledger")
            return
        except EncryptionError:
            raise
        except AnonymizerError as error:
            kinds = {kind.__name__ for kind in type(error.__cause__).__mro__}
            may_be_locked = kinds & {"IOException", "BinderException"} and is_database(path)
            if time.monotonic() > until or not may_be_locked:
                said, hint = attach_problem(path, "close the process that has it open")
                raise EngineError.at("ledger", said, hint=hint) from error
        time.sleep(0.2)


def is_ledger(engine: DuckDBEngine) -> bool:
    """Return whether the attached database is a ledger."""
    return objects.is_base_table(engine, RELEASES)


def settle_down(engine: DuckDBEngine) -> None:
    """Checkpoint the ledger, so that no write-ahead log remains next to its file."""
    engine.raw(f"checkpoint {ident(Table(CATALOG)).text}", "ledger")


# The ledger's key: 256 bits in a separate file. Without it the digests identify nobody.


DIGITS = re.compile(r"[0-9a-f]{64}\Z")


def key_file(ledger: Path) -> Path:
    """The path of a ledger's key."""
    return ledger.with_name(f"{ledger.name}.key")


def read_key(ledger: Path) -> str | None:
    """The key of a ledger; None if there is none. Raises EngineError for a damaged file."""
    try:
        text = read_beside(key_file(ledger), "ascii").strip()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise EngineError(_unreadable(ledger)) from error
    if not DIGITS.match(text):
        raise EngineError(_unreadable(ledger))
    return text


def make_key(ledger: Path) -> str:
    """Write a new key with mode 0600 and return it; the existing one if another run was faster."""
    path = key_file(ledger)
    aside = path.with_name(f"{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        write_new(aside, f"{secrets.token_hex(32)}\n".encode())
        with suppress(FileExistsError):  # a key is never replaced
            os.link(aside, path)
    except OSError as error:
        raise EngineError.at(
            "ledger",
            f"its key {path.name} cannot be written",
            hint="the folder of the ledger must exist and be writable",
        ) from error
    finally:
        aside.unlink(missing_ok=True)
    key = read_key(ledger)
    assert key is not None
    return key


def digest(key: str, text: str) -> str:
    """A keyed digest of a text that must not be stored itself (a run's secret)."""
    return hashlib.sha256(f"{key}:{text}".encode()).hexdigest()


def code(key: str, purpose: str, text: str) -> str:
    """HMAC-SHA256 (hex) of a text under a key that is derived for a purpose."""
    return hmac.new(digest(key, purpose).encode(), text.encode(), hashlib.sha256).hexdigest()


def bound(key: str) -> str:
    """The parameter of statements that stands for a key: 128 bits derived from it.

    With these, the text to digest mostly fits into one block of MD5.
    """
    return digest(key, "statements")[:32]


def key_checks(key: str) -> tuple[str, str, str]:
    """Checks by which an entry shows its key: one that has a seal and is in the list of
    releases, one of before there was a list, and one of before there were seals.
    """
    told = ("check of a listed entry", "check of a sealed entry", "check")
    listed, is_sealed, before = (digest(bound(key), text) for text in told)
    return listed, is_sealed, before


def _unreadable(ledger: Path) -> Problem:
    return Problem(
        "ledger",
        f"its key {key_file(ledger).name} cannot be read, or is not a key",
        allowed="64 hexadecimal digits",
        hint="restore it from a copy; without it earlier releases cannot be compared",
    )


def no_key(path: Path) -> Problem:
    """The problem of a ledger whose key is missing or a different one."""
    return Problem(
        "ledger",
        f"its key {path.name}.key is missing or is not the one its digests were made with",
        hint="restore the key; without it earlier releases cannot be compared",
    )

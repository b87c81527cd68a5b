"""Requests of single persons: the releases that they are in, and what is erased of them."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from anonymizer.compile import ident, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.encryption import is_encrypted
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.errors import NothingToCheckError
from anonymizer.ledger.entries import Entry, entries
from anonymizer.ledger.seal import digests, seal
from anonymizer.ledger.session import key_of, open_ledger
from anonymizer.ledger.store import (
    CATALOG,
    COUNTED,
    MEMBERS,
    RELEASES,
    ROWS,
    attached,
    bound,
    settle_down,
)
from anonymizer.process.text import many

OF_PERSONS = (MEMBERS, ROWS, COUNTED)
"""The tables of a ledger with digests of persons."""


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased of a person."""

    releases: tuple[Entry, ...]
    """The releases that they are in: these cannot be recalled."""
    rows: int
    """The rows of the ledger that named them."""


def releases_of(path: str | Path, *person: str) -> tuple[Entry, ...]:
    """The releases that a person is in, oldest first, by the text of the key or person column, or
    the texts of all its columns.

    Raises EngineError without the ledger's key, by which alone persons are recognized.
    """
    with open_ledger(Path(path), read_only=True) as engine:
        found = entries(engine)
        _refuse_other_number(found, person)
        digest = _digest(engine, _key(engine, Path(path), found), person)
        return _of(engine, found, digest)


def erase_person(path: str | Path, *person: str) -> Erased:
    """Replace the digests of a person by random numbers, which nobody can find again.

    Their rows stay: without them a class would seem whole that has one person less, and the next
    release would show who that was. The file is written anew, so that nothing is left in it.
    Raises NothingToCheckError if the ledger does not have them.
    """
    path = Path(path)
    with open_ledger(path, read_only=False) as engine:
        found = entries(engine)
        _refuse_other_number(found, person)
        key = _key(engine, path, found)
        digest = _digest(engine, key, person)
        concerned = _of(engine, found, digest)
        rows = _replace_all(engine, key, digest, concerned) if concerned else 0
        settle_down(engine)
    _write_anew(path.resolve())  # also where one that was killed has left the bytes of a person
    if not concerned:
        said = "is in no release of the ledger"
        hint = "the text of the column that key or person names, as the source has it"
        raise NothingToCheckError.at("KEY", said, hint=hint)
    return Erased(concerned, rows)


def _refuse_other_number(found: tuple[Entry, ...], person: tuple[str, ...]) -> None:
    """Raise NothingToCheckError if no release names its persons by so many columns."""
    named = sorted({entry.person_column for entry in found if entry.person_column is not None})
    if named and all(len(columns.split(", ")) != len(person) for columns in named):
        said = f"has {many(len(person), 'value')}"
        raise NothingToCheckError.at("KEY", said, hint=f"the text of {' or of '.join(named)}")


def _replace_all(engine: DuckDBEngine, key: str, digest: int, concerned: tuple[Entry, ...]) -> int:
    """Replace what is digested of a person, and seal their releases anew, in one transaction."""
    with engine.transaction("ledger"):
        rows = _replace(engine, digest)
        of = digests(engine)
        for entry in concerned:
            if entry.seal is not None:
                engine.raw(
                    f"update {ident(RELEASES)} set seal = {lit(seal(key, entry, of))}"
                    f" where release = {lit(entry.release)}",
                    "ledger",
                )
    return rows


def _key(engine: DuckDBEngine, path: Path, found: tuple[Entry, ...]) -> str:
    key = key_of(engine, path.resolve(), found)
    if key is None:
        raise NothingToCheckError.at("LEDGER", "has no releases under a key")
    return key


def _digest(engine: DuckDBEngine, key: str, values: tuple[str, ...]) -> int:
    person = values[0]
    if len(values) > 1:  # as `with_together` writes them
        person = " ".join(f"{len(value.encode())}:{value}" for value in values)
    text = f"select md5_number(concat({lit(bound(key))}, ':person:', {lit(person)}))"
    return int(engine.raw(text, "ledger")[0][0])


def _of(engine: DuckDBEngine, found: tuple[Entry, ...], digest: int) -> tuple[Entry, ...]:
    every = " union ".join(
        f"select release from {ident(table)} where person = {digest}::uhugeint"
        for table in OF_PERSONS
    )
    numbers = {int(number) for (number,) in engine.raw(every, "ledger")}
    return tuple(entry for entry in found if entry.release in numbers)


def _replace(engine: DuckDBEngine, digest: int) -> int:
    """Put random numbers in the place of everything that is digested of a person."""
    nobody = f"{secrets.randbits(128)}::uhugeint"
    drawn = f"md5_number(concat({lit(secrets.token_hex(16))}, rowid, ':', "
    changes = {
        MEMBERS: f"marks = list_transform(marks, lambda m: {drawn}m)))",
        ROWS: ", ".join(
            f"{name} = case when {name} is not null then {drawn}'{name}')) end"
            for name in ("by_key", "content", "cells")
        ),
        COUNTED: None,
    }
    rows = 0
    for table, more in changes.items():
        where = f"where person = {digest}::uhugeint"
        rows += int(engine.raw(f"select count(*) from {ident(table)} {where}", "ledger")[0][0])
        assigned = ", ".join(filter(None, (f"person = {nobody}", more)))
        engine.raw(f"update {ident(table)} set {assigned} {where}", "ledger")
    return rows


def _write_anew(path: Path) -> None:
    """Copy the ledger into a new file in its place: a database keeps what it has overwritten."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with (
            own_connection(None, databases=[path, fresh]) as engine,
            attached(engine, path, read_only=True),
        ):
            encrypted = is_encrypted(path)
            engine.attach(fresh, "fresh", "read_write", "ledger", encrypted=encrypted)
            engine.raw(f"copy from database {CATALOG} to fresh", "ledger")
            engine.raw("detach fresh", "ledger")
            shutil.copymode(path, fresh)
            fresh.replace(path)  # while no other run can write to the one that it replaces
    finally:
        fresh.unlink(missing_ok=True)

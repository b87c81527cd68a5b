"""Rewriting a database file without deleted data, and checking that the data is gone.

A dropped table's bytes stay in a DuckDB file until their blocks are used again. A new file is
written from the catalog, compared table by table and scanned; only then it replaces the old one.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from mmap import ACCESS_READ, mmap
from pathlib import Path

from anonymizer.compile import Table, ident, lit
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import SOURCE, DuckDBEngine
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.errors import AnonymizerError, GuaranteeError, Problem, TargetError, no_file
from anonymizer.process.files import move
from anonymizer.process.interrupts import decide, deciding
from anonymizer.process.run_folder import building_of
from anonymizer.process.text import many
from anonymizer.release.judge import fingerprint
from anonymizer.release.objects import HEADERS

OLD, NEW = SOURCE, "anon_new"
WINDOW = 16
"""Bytes of a searched piece of old text."""
PRINTABLE = re.compile(
    rb"(?:[\x20-\x7e]|[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}){4,}"
)
"""Text in UTF-8. Packed numbers seldom look like that much text."""
VARIED = 6
"""Least number of distinct bytes in a piece: runs of one byte occur everywhere."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The result of `rewrite`."""

    tables: int
    bytes_before: int
    bytes_after: int
    pieces: int
    """Pieces of text from the old file's unused space that were searched for and not found."""
    values: int
    """Values of the caller that were searched for and not found."""

    def as_dict(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in self.__slots__}


@deciding()
def rewrite(
    database: str | Path, absent: Sequence[str] = (), limits: Limits | None = None
) -> Rewritten:
    """Rewrite `database` without its unused space, in place.

    `absent`: values that must not be in the new file, byte for byte in UTF-8. `limits`: what the
    engine may use. Raises TargetError if the file cannot be rewritten, GuaranteeError if data that
    should be gone is found; the old file is unchanged then.
    """
    path = Path(database).resolve()
    if not path.is_file():
        raise TargetError.at("--database", no_file(database))
    if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        said = "or its folder cannot be written by this user"
        raise TargetError.at("--database", f"{path.name} {said}", hint="chmod u+w")
    aside = building_of(path, secrets.token_hex(8))
    try:
        tables, live_old, live_new = _copy(path, aside, limits or Limits())
        pieces = set(_pieces(path, live_old))
        _refuse_found(aside, pieces, live_new, absent)
        before, after = path.stat().st_size, aside.stat().st_size
        aside.chmod(path.stat().st_mode & 0o777)
        decide()
        _swap(aside, path)
    finally:
        for file in (aside, aside.with_name(f"{aside.name}.wal")):
            file.unlink(missing_ok=True)
    return Rewritten(tables, before, after, len(pieces), len(absent))


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of a DuckDB file: after three headers it has blocks of one size."""

    size: int
    live: frozenset[int]
    """Those that hold rows of tables."""

    def parts(self, path: Path) -> Iterator[tuple[bool, bytes]]:
        """The content of every block of the file, and whether rows of tables are in it."""
        with path.open("rb") as handle:
            handle.seek(HEADERS)
            for number in count():
                content = handle.read(self.size)
                if not content:
                    return
                yield number in self.live, content


def _copy(path: Path, aside: Path, limits: Limits) -> tuple[int, Blocks, Blocks]:
    """Copy everything in the catalog, and compare; return the data blocks of both files."""
    with ExitStack() as stack:
        try:
            # opened for writing, to apply its write-ahead log and exclude other processes
            engine = stack.enter_context(
                own_connection(path, databases=[aside], read_only=False, limits=limits)
            )
            engine.raw(f"checkpoint {OLD}", "--database")
        except AnonymizerError as error:
            raise TargetError(error.problems) from error
        engine.attach(aside, NEW, "read_write", "--database")
        engine.raw(f"copy from database {OLD} to {NEW}", "--database")
        engine.raw(f"checkpoint {NEW}", "--database")
        tables = _tables(engine, OLD)
        same = _objects(engine, OLD) == _objects(engine, NEW) and all(
            fingerprint(engine, Table(name, schema, OLD))
            == fingerprint(engine, Table(name, schema, NEW))
            for schema, name in tables
        )
        if not same:
            raise TargetError.at(
                "--database", "its copy differs from it", hint="the file stays as it is"
            )
        return len(tables), _blocks(engine, OLD), _blocks(engine, NEW)


def _tables(engine: DuckDBEngine, catalog: str) -> list[tuple[str, str]]:
    rows = engine.raw(
        "select schema_name, table_name from duckdb_tables()"
        f" where database_name = {lit(catalog)} and not internal order by 1, 2",
        "--database",
    )
    return [(str(schema), str(name)) for schema, name in rows]


def _objects(engine: DuckDBEngine, catalog: str) -> list[tuple[object, ...]]:
    """All objects of the catalog, by kind and name."""
    parts = [
        f"select {lit(kind)}, schema_name, {name} from {function}()"
        f" where database_name = {lit(catalog)}{extra}"
        for kind, name, function, extra in (
            ("table", "table_name", "duckdb_tables", " and not internal"),
            ("view", "view_name", "duckdb_views", " and not internal"),
            ("index", "index_name", "duckdb_indexes", ""),
            ("macro", "function_name", "duckdb_functions", " and not internal"),
            ("sequence", "sequence_name", "duckdb_sequences", ""),
            ("type", "type_name", "duckdb_types", " and not internal"),
        )
    ]
    return engine.raw(" union all ".join(parts) + " order by all", "--database")


def _blocks(engine: DuckDBEngine, catalog: str) -> Blocks:
    """The blocks of a file that hold rows of tables."""
    ((size,),) = engine.raw(
        f"select block_size from pragma_database_size() where database_name = {lit(catalog)}",
        "--database",
    )
    found: set[int] = set()
    for schema, name in _tables(engine, catalog):
        table = lit(ident(Table(name, schema, catalog)).text)
        rows = engine.raw(
            f"select block_id, additional_block_ids from pragma_storage_info({table})", "--database"
        )
        for block, further in rows:
            found |= {int(b) for b in (block, *(further or ())) if b is not None and b >= 0}
    return Blocks(size, frozenset(found))


def _pieces(path: Path, blocks: Blocks) -> Iterator[bytes]:
    """Pieces of text in the blocks of the old file that hold no rows any more, but for those that
    live blocks hold too.
    """
    dead: set[bytes] = set()
    for live, content in blocks.parts(path):
        if not live:
            dead |= set(_windows(content))
    alive: set[bytes] = set()
    for live, content in blocks.parts(path):
        if live:
            alive |= _pieces_in(content, dead)
    yield from dead - alive


def _windows(content: bytes) -> Iterator[bytes]:
    for run in PRINTABLE.finditer(content):
        text = run.group()
        for at in range(0, len(text) - WINDOW + 1, WINDOW):
            piece = text[at : at + WINDOW]
            if len(set(piece)) >= VARIED:
                yield piece


def _pieces_in(content: bytes, pieces: set[bytes]) -> set[bytes]:
    """The pieces that occur in `content`."""
    found: set[bytes] = set()
    for run in PRINTABLE.finditer(content):
        text = run.group()
        windows = {text[at : at + WINDOW] for at in range(len(text) - WINDOW + 1)}
        found |= windows & pieces
    return found


def _refuse_found(path: Path, pieces: set[bytes], blocks: Blocks, absent: Sequence[str]) -> None:
    """Scan the new file: its rows for old text, all of it for the values of the caller."""
    found = 0
    for live, content in blocks.parts(path):
        if live and pieces:
            found += len(_pieces_in(content, pieces))
    with path.open("rb") as handle, mmap(handle.fileno(), 0, access=ACCESS_READ) as whole:
        values = sum(1 for value in absent if whole.find(value.encode()) >= 0)
    problems = []
    if found:
        problems.append(
            Problem(
                "--database",
                f"text from its unused space is in the new file as well ({found:,} times): rows"
                " that it still has may hold it, too, as after a copy of a table was dropped",
                hint="the file stays as it is; `anonymizer run` publishes a release in a new file,"
                " and `copy from database` in the DuckDB shell writes any other database anew",
            )
        )
    if values:
        problems.append(
            Problem(
                "--absent",
                f"{values:,} of {many(len(absent), 'value')} found in the new file",
                hint="a table or view that still holds them; the file stays as it is",
            )
        )
    GuaranteeError.refuse(problems)


def _swap(aside: Path, path: Path) -> None:
    move(aside, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)

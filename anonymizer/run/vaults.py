"""Vaults: private files that map each published token to its value.

A vault is a DuckDB database with one table. It is written before the release is published, so
that every published token is in it; if the run then fails, it has tokens that were never
published.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from anonymizer.compile import Table, ident, lit
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.encryption import is_encrypted
from anonymizer.engines.duckdb.sandbox import attach_problem, own_connection
from anonymizer.errors import AnonymizerError, EncryptionError, EngineError, Problem
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.source.masking.masks import Mask

CATALOG = "anon_vault"
TOKENS = Table("tokens", "main", CATALOG)
COLUMNS = (("name", "VARCHAR"), ("value", "VARCHAR"), ("token", "VARCHAR"))


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a column: its name, the columns of values and tokens, and the vault."""

    path: str
    """The path in the policy that names the vault."""
    column: str
    file: Path
    rows: Table
    mask: Mask


def tokens_of(policy: Policy, masks: Iterable[Mask], rows: Table, at: str = "") -> Iterator[Tokens]:
    """The columns of a table whose tokens are recorded in a vault."""
    for mask in masks:
        vault = mask.options.get("vault")
        if vault is not None:
            path = at + column_path(mask.column, "vault")
            yield Tokens(path, mask.column, policy.resolve(vault).resolve(), rows, mask)


def refuse_misplaced(
    policies: Mapping[str, Policy], database: object, release: Path | None
) -> None:
    """Raise EngineError for vaults that others can read, or whose file has another purpose.

    `policies`: those of the tables, by the prefix of their paths.
    """
    source = Path(database).resolve() if isinstance(database, str | Path) else None
    problems: list[Problem] = []
    for at, policy in policies.items():
        ledger = policy.resolve(policy.ledger).resolve() if policy.ledger is not None else None
        others = {source: "the source", release: "the release", ledger: "the ledger"}
        for name, column in policy.columns.items():
            if column.vault is not None:
                file = policy.resolve(column.vault).resolve()
                path = at + column_path(name, "vault")
                problems += _misplaced(path, file, others.get(file))
    EngineError.refuse(problems)


def _misplaced(path: str, file: Path, other: str | None) -> Iterator[Problem]:
    if other is not None:
        yield Problem(path, f"is the file of {other}", hint="a file of its own")
    elif not file.parent.is_dir():
        said = "is in a folder that does not exist"
        yield Problem(path, said, hint=f"mkdir -p {file.parent.name}")
    elif file.exists() and os.name == "posix" and file.stat().st_mode & 0o077:
        said = f"{file.name} can be read by others, and it discloses what tokens stand for"
        yield Problem(path, said, hint=f"chmod 600 {file.name}")


def remember(engine: Engine, found: Iterable[Tokens]) -> None:
    """Add each token to its vault once. Raises EngineError if a vault cannot be written."""
    by_file: dict[Path, list[Tokens]] = {}
    for one in found:
        by_file.setdefault(one.file, []).append(one)
    for file, tokens in by_file.items():
        _write(engine, file, tokens)


def _write(engine: Engine, file: Path, tokens: list[Tokens]) -> None:
    assert isinstance(engine, DuckDBEngine)  # only DuckDB reads and writes vaults
    where = tokens[0].path
    if engine.encrypts and file.exists() and not is_encrypted(file):
        said = f"{file.name} is not encrypted, and the source is"
        raise EngineError.at(where, said, hint="a new file; the tokens of this one are made anew")
    with _vault_errors(where, file):
        engine.attach(file, CATALOG, "type duckdb, read_write", where)
        file.chmod(0o600)
    try:
        held = engine.raw(
            "select table_name, column_name, data_type from duckdb_columns()"
            f" where database_name = {lit(CATALOG)} and not internal order by 1, column_index",
            where,
        )
        if held and held != [(TOKENS.name, *column) for column in COLUMNS]:
            said = f"{file.name} is a database with other tables"
            raise EngineError.at(where, said, hint="a file of its own")
        listed = ", ".join(f"{name} {kind}" for name, kind in COLUMNS)
        with engine.transaction(where):
            engine.raw(f"create table if not exists {ident(TOKENS)} ({listed})", where)
            for one in tokens:
                engine.raw(
                    f"insert into {ident(TOKENS)} select distinct {lit(one.column)},"
                    f" cast({one.mask.original} as varchar), cast({one.mask.physical} as varchar)"
                    f" from {ident(one.rows)} where {one.mask.original} is not null"
                    f" except select * from {ident(TOKENS)}",
                    where,
                )
        engine.raw(f"checkpoint {CATALOG}", where)
    finally:
        with suppress(AnonymizerError):
            engine.raw(f"detach {CATALOG}", where)


def erase_values(file: Path, values: Collection[str]) -> int:
    """Erase the tokens of values from a vault, and return how many they were. The file is written
    anew, so that nothing of them is left in it. Raises EngineError if it is no vault.
    """
    fresh = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    where, listed = "--vault", ", ".join(lit(value).text for value in values)
    try:
        with own_connection(None, databases=[file, fresh]) as engine, _vault_errors(where, file):
            engine.attach(file, CATALOG, "type duckdb, read_only", where)
            encrypted = is_encrypted(file)
            engine.attach(fresh, "fresh", "read_write", where, encrypted=encrypted)
            kept = f"from {ident(TOKENS)} where value not in ({listed})"
            engine.raw(f"create table fresh.main.{TOKENS.name} as {kept}", where)
            ((before, after),) = engine.raw(
                f"select (select count(*) from {ident(TOKENS)}),"
                f" (select count(*) from fresh.main.{TOKENS.name})",
                where,
            )
            engine.raw("detach fresh", where)
            shutil.copymode(file, fresh)
            fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)
    return int(before - after)


@contextmanager
def _vault_errors(where: str, file: Path) -> Iterator[None]:
    """Report errors on opening as errors of the vault."""
    try:
        yield
    except EncryptionError:
        raise
    except (AnonymizerError, OSError) as error:
        said, hint = attach_problem(file, "close the process that has it open")
        raise EngineError.at(where, said, hint=hint) from error

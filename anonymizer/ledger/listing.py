"""The list of a ledger's releases, under its key: one that was removed as a whole is missed.

The seals tell what was changed in a release, and not that there was another one. So the ledger
keeps one keyed digest of the numbers and runs of all its releases, made anew with every entry that
is added or removed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace

from anonymizer.compile import ident, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import Problem
from anonymizer.ledger.entries import Entry, entries
from anonymizer.ledger.key import digest, key_checks
from anonymizer.ledger.seal import Digests, seal
from anonymizer.ledger.tables import LISTING, RELEASES

PURPOSE = "list of releases 1"
"""Derives the key of the list from the ledger's key."""


def is_listed(engine: DuckDBEngine) -> bool:
    """Whether the attached ledger has a list; it has none before the first run with its key."""
    return bool(_kept(engine))


def unlisted(engine: DuckDBEngine, found: Iterable[Entry], key: str) -> Iterator[Problem]:
    """What is wrong if the releases of the attached ledger are not those of its list.

    Ledgers of before there was a list have none. The key check of a listed entry is another one,
    so that a list that was removed is missed.
    """
    releases, kept = tuple(found), _kept(engine)
    listed = bool(kept) or any(entry.key_check == key_checks(key)[0] for entry in releases)
    if listed and not (len(kept) == 1 and hmac.compare_digest(kept[0], _listing(key, releases))):
        yield Problem(
            "ledger",
            "is damaged: its releases are not those that were recorded: one was removed or added"
            " as a whole",
            hint="restore the ledger from a copy; `anonymizer ledger forget` removes a release that"
            " nobody has",
        )


def list_releases(engine: DuckDBEngine, key: str) -> None:
    """Make the list of the releases that the attached ledger has now."""
    engine.raw(f"delete from {ident(LISTING)}", "ledger")
    now = _listing(key, entries(engine))
    engine.raw(f"insert into {ident(LISTING)} values ({lit(now)})", "ledger")


def mark_listed(engine: DuckDBEngine, found: Iterable[Entry], key: str, of: Digests) -> None:
    """Give entries of before there was a list the key check and the seal of listed ones."""
    check = key_checks(key)[0]
    for entry in found:
        if entry.key_check != check:
            marked = replace(entry, key_check=check)
            engine.raw(
                f"update {ident(RELEASES)} set key_check = {lit(check)},"
                f" seal = {lit(seal(key, marked, of))} where release = {lit(entry.release)}",
                "ledger",
            )


def _kept(engine: DuckDBEngine) -> list[str]:
    return [str(row[0]) for row in engine.raw(f"select listing from {ident(LISTING)}", "ledger")]


def _listing(key: str, found: Iterable[Entry]) -> str:
    text = json.dumps(sorted((entry.release, entry.run_id) for entry in found))
    return hmac.new(digest(key, PURPOSE).encode(), text.encode(), hashlib.sha256).hexdigest()

"""The seal of a release in a ledger: a keyed digest of all that the ledger holds of it.

Whoever changes a value without the ledger's key is noticed. Digests of lines are added up, so that
their order does not matter.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TypeAlias

from anonymizer.compile import Table, ident, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.ledger.entries import PUBLISHED, Entry, entries
from anonymizer.ledger.key import digest, key_checks
from anonymizer.ledger.tables import (
    DICTIONARY,
    GROUPS,
    MEMBERS,
    RELEASES,
    ROWS,
    SCHEMAS,
    SIGNATURES,
)

PURPOSE = "seals 1"
"""Derives the key of seals from the ledger's key."""
Digests: TypeAlias = Mapping[int, Sequence[str]]
"""The digests of what each table holds of a release, by its number."""


def _number(name: str) -> str:
    return f"coalesce(cast({name} as varchar), '-')"


def _digits(name: str) -> str:
    return f"coalesce(hex({name}), '-')"


def _text(name: str) -> str:
    return f"coalesce(md5({name}), '-')"


def _list(of: Callable[[str], str]) -> Callable[[str], str]:
    """Each member as `of` writes it."""

    def written(name: str) -> str:
        members = f"list_transform({name}, lambda v: {of('v')})"
        return f"coalesce('[' || array_to_string({members}, ',') || ']', '-')"

    return written


Columns: TypeAlias = Mapping[str, Callable[[str], str]]
_NUMBERS = _list(_number)
_OF_MEMBERS: Columns = {
    "person": _digits,
    **dict.fromkeys(("class_id", "number", "lineage", "since"), _number),
    "buckets": _NUMBERS,
    "marks": _list(_digits),
}
_OF_SCHEMAS: Columns = {
    **dict.fromkeys(("k", "events", "rows"), _number),
    **dict.fromkeys(("tables", "keys", "columns"), _list(_text)),
}
_OF_ROWS: Columns = {
    "source": _text,
    **dict.fromkeys(("person", "by_key", "content", "cells"), _digits),
}
_OF_SIGNATURES: Columns = {"facet": _text, "grp": _number, "signature": _NUMBERS}
_OF_GROUPS: Columns = {"grp": _digits, "facet": _text, "value": _number, "n": _number}
_OF_TEXTS: Columns = {"facet": _text, "value": _number, "text": _text}


def digests(engine: DuckDBEngine) -> dict[int, list[str]]:
    """The digests of everything that the attached ledger holds of its releases."""
    listed = f"select distinct release, facet, unnest(signature) as value from {ident(SIGNATURES)}"
    texts = f"(select * from ({listed}) join {ident(DICTIONARY)} using (facet, value))"
    read: tuple[tuple[str, str, Columns], ...] = (
        ("members", _in(MEMBERS), _OF_MEMBERS),
        ("signatures", _in(SIGNATURES), _OF_SIGNATURES),
        ("texts", texts, _OF_TEXTS),
        ("schemas", _in(SCHEMAS), _OF_SCHEMAS),
        ("rows", _in(ROWS), _OF_ROWS),
        ("groups", _in(GROUPS), _OF_GROUPS),
    )
    found: dict[int, list[str]] = {}
    for name, origin, columns in read:
        line = ", ".join(written(column) for column, written in columns.items())
        rows = engine.raw(
            "select release, count(*), sum(cast(h & 18446744073709551615 as ubigint)),"
            " sum(cast(h >> 64 as ubigint)) from"
            f" (select release, md5_number(concat_ws('|', {line})) as h from {origin})"
            " where release is not null group by release",
            "ledger",
        )
        for release, *figures in rows:
            found.setdefault(release, []).append(f"{name} {' '.join(map(str, figures))}")
    return found


def _in(table: Table) -> str:
    return ident(table).text


def seal(key: str, entry: Entry, of: Digests) -> str:
    """The seal of a release: HMAC-SHA256 of its entry and of what is held of it."""
    stated = {name: value for name, value in asdict(entry).items() if name != "seal"}
    if entry.opens is None:  # sealed before it was kept
        del stated["opens"]
    text = json.dumps([stated, of.get(entry.release, [])], sort_keys=True)
    return hmac.new(digest(key, PURPOSE).encode(), text.encode(), hashlib.sha256).hexdigest()


def sealed(engine: DuckDBEngine, key: str, run_id: str) -> str:
    """Seal the release of a run as it was recorded; return the seal it has once it is published."""
    of = digests(engine)
    (entry,) = (one for one in entries(engine) if one.run_id == run_id)
    engine.raw(
        f"update {ident(RELEASES)} set seal = {lit(seal(key, entry, of))}"
        f" where release = {lit(entry.release)}",
        "ledger",
    )
    return seal(key, replace(entry, state=PUBLISHED), of)


def changed(found: Iterable[Entry], key: str, of: Digests) -> list[Entry]:
    """Releases that are not as they were sealed.

    Ledgers of before there were seals have releases without one, but none after a sealed one. The
    key check of a sealed entry is another one, so that a seal that was removed is missed.
    """
    releases, before = tuple(found), key_checks(key)[-1]
    first = (e.release for e in releases if e.seal is not None or e.key_check != before)
    since = min(first, default=math.inf)
    return [
        entry
        for entry in releases
        if entry.release >= since
        and not hmac.compare_digest(entry.seal or "", seal(key, entry, of))
    ]

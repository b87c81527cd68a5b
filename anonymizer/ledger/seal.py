"""The seal of a ledger: of each release, of their list, and the check for damage."""

from __future__ import annotations

import hmac
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import TypeAdapter

from anonymizer.compile import ident, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import EngineError, Problem
from anonymizer.ledger.entries import PUBLISHED, UNSEALED, Entry, entries
from anonymizer.ledger.record import value_counts
from anonymizer.ledger.store import (
    CELLS,
    COUNTED,
    DICTIONARY,
    GROUPS,
    LISTING,
    MEMBERS,
    RELEASES,
    ROWS,
    SCHEMAS,
    SIGNATURES,
    SPENDS,
    code,
    key_checks,
    no_key,
)

# The seal of a release in a ledger: a keyed digest of all that the ledger holds of it.
#
# Whoever changes a value without the ledger's key is noticed. Digests of lines are added up, so
# that their order does not matter.


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
        ("members", ident(MEMBERS).text, _OF_MEMBERS),
        ("signatures", ident(SIGNATURES).text, _OF_SIGNATURES),
        ("texts", texts, _OF_TEXTS),
        ("schemas", ident(SCHEMAS).text, _OF_SCHEMAS),
        ("rows", ident(ROWS).text, _OF_ROWS),
        ("groups", ident(GROUPS).text, _OF_GROUPS),
        ("counted", ident(COUNTED).text, {"person": _digits, "atom": _digits}),
        ("cells", ident(CELLS).text, {"atom": _digits, "cell": _digits, "kind": _number}),
        ("spends", ident(SPENDS).text, {"epsilon": _text, "budget": _text}),
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


def seal(key: str, entry: Entry, of: Digests) -> str:
    """The seal of a release: HMAC-SHA256 of its entry and of what is held of it."""
    stated = {
        name: value
        for name, value in asdict(entry).items()
        if name != "seal" and not (name in UNSEALED and value is None)
    }
    text = json.dumps([stated, of.get(entry.release, [])], sort_keys=True)
    return code(key, PURPOSE, text)


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


# The list of a ledger's releases, under its key: one that was removed as a whole is missed.
#
# The seals tell what was changed in a release, and not that there was another one. So the ledger
# keeps one keyed digest of the numbers and runs of all its releases, made anew with every entry
# that is added or removed.


LISTING_PURPOSE = "list of releases 1"
"""Derives the key of the list from the ledger's key."""


def is_listed(engine: DuckDBEngine) -> bool:
    """True if the attached ledger has a list; it has none before the first run with its key."""
    return bool(_kept(engine))


def unlisted(engine: DuckDBEngine, found: Iterable[Entry], key: str) -> Iterator[Problem]:
    """The problem if the releases of the attached ledger are not those of its list.

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
    return code(key, LISTING_PURPOSE, text)


# Checks for ledgers that were damaged or edited. They are refused: a release would only be compared
# with the part that remains.


RESTORE = "restore the ledger from a copy"
_ENTRY = TypeAdapter(Entry)


def refuse_damaged(engine: DuckDBEngine, found: Iterable[Entry], path: Path, key: str) -> Digests:
    """Raise EngineError if the attached ledger is inconsistent with its table of releases, was
    changed, or is of another key. Returns the digests of its content.
    """
    entries = tuple(found)
    if not all(map(_is_recorded, entries)) or len({e.release for e in entries}) < len(entries):
        raise EngineError(_damaged("its table of releases has what no run has recorded"))
    if any(entry.key_check not in key_checks(key) for entry in entries):
        raise EngineError(no_key(path))
    EngineError.refuse(unlisted(engine, entries, key))
    EngineError.refuse(_missing(engine, entries))
    of = digests(engine)
    EngineError.refuse(
        Problem(
            "ledger",
            f"is damaged: what it holds of the release of run {entry.run_id} was changed",
            hint=f"{RESTORE}; or `anonymizer ledger forget {path.name} {entry.run_id}`, if nobody"
            " has that release",
        )
        for entry in changed(entries, key, of)
    )
    return of


def _is_recorded(entry: Entry) -> bool:
    """Return whether the entry's fields have valid types and values, and its owner names a host."""
    try:
        _ENTRY.validate_python(asdict(entry))
        named = isinstance(json.loads(entry.owner)["host"], str)
    except (ValueError, LookupError, TypeError, RecursionError):
        return False
    several = entry.forms is None or len(entry.forms) == len(entry.facets)
    return named and several and len(entry.facets) == len(entry.scopes)


def _missing(engine: DuckDBEngine, entries: tuple[Entry, ...]) -> Iterator[Problem]:
    """Entries that the ledger counts of a release, or refers to, and does not hold."""
    now = value_counts(engine)
    if any(e.held is not None and e.held != now.get(e.release, ())[: len(e.held)] for e in entries):
        yield _damaged("it does not hold as much of its releases as was recorded")
    counted: dict[Any, Any] = dict(
        engine.raw(
            "select release, count(distinct person) from (select release, person from"
            f" {ident(MEMBERS)} union all select release, person from {ident(COUNTED)})"
            " group by release",
            "ledger",
        )
    )
    if {entry.release: entry.persons for entry in entries if entry.persons} != {
        release: persons for release, persons in counted.items() if persons
    }:
        yield _damaged("it does not have the members of its releases")
    if any(_lacks_values(engine, entry, column) for entry in entries for column in entry.facets):
        yield _damaged("it does not have the values of all classes of its releases")
    if engine.raw(
        "select 1 from (select distinct facet, unnest(signature) as value"
        f" from {ident(SIGNATURES)}) s left join (select facet, value,"
        f" count(distinct text) as texts from {ident(DICTIONARY)} group by all) d"
        " using (facet, value)"
        " where s.value is not null and d.texts is distinct from 1 limit 1",
        "ledger",
    ):
        yield _damaged("it does not have the text of every value")


def _lacks_values(engine: DuckDBEngine, entry: Entry, column: str) -> bool:
    """Return whether a class or bucket of members has no values of a column."""
    return bool(
        engine.raw(
            f"select 1 from (select distinct {entry.place(column)} as grp from {ident(MEMBERS)}"
            f" where release = {lit(entry.release)}) m where grp is not null and not exists ("
            f"select 1 from {ident(SIGNATURES)} s where s.release = {lit(entry.release)}"
            f" and s.facet = {lit(column)} and s.grp = m.grp and len(s.signature) > 0) limit 1",
            "ledger",
        )
    )


def _damaged(said: str) -> Problem:
    return Problem("ledger", f"is damaged: {said}", hint=RESTORE)

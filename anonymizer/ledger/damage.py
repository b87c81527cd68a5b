"""Checks for ledgers that were damaged or edited. They are refused: a release would only be
compared with the part that remains.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from anonymizer.compile import ident, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import EngineError, Problem
from anonymizer.ledger.entries import PENDING, PUBLISHED, Entry
from anonymizer.ledger.key import key_checks, no_key
from anonymizer.ledger.listing import unlisted
from anonymizer.ledger.recording import held
from anonymizer.ledger.seal import Digests, changed, digests
from anonymizer.ledger.tables import DICTIONARY, MEMBERS, SIGNATURES

RESTORE = "restore the ledger from a copy"
RUN_ID = re.compile(r"\w{1,64}", re.ASCII)
"""Valid run ids: they are part of file names."""
TEXTS = (
    *("run_id", "view", "target", "policy_digest", "created", "owner"),
    *("key_check", "secret_digest"),
)
COUNTS = ("release", "persons", "counterfeits")
LISTS = ("facets", "scopes", "marks")


def refuse_damaged(engine: DuckDBEngine, found: Iterable[Entry], path: Path, key: str) -> Digests:
    """Raise EngineError if the attached ledger is inconsistent with its table of releases, was
    changed, or is of another key. Returns the digests of its content.
    """
    entries = tuple(found)
    EngineError.refuse(_odd(entries))
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


def _odd(entries: tuple[Entry, ...]) -> Iterator[Problem]:
    if not all(map(_is_recorded, entries)) or len({e.release for e in entries}) < len(entries):
        yield _damaged("its table of releases has what no run has recorded")


def _is_recorded(entry: Entry) -> bool:
    """Whether the entry's fields have valid types and values."""
    values: dict[str, Any] = {name: getattr(entry, name) for name in Entry.__slots__}
    lists = [values[name] for name in LISTS] + [values["forms"] or (), values["opens"] or ()]
    return (
        all(isinstance(values[name], str) for name in TEXTS)
        and all(isinstance(values[name], int) and values[name] >= 0 for name in COUNTS)
        and all(isinstance(one, tuple) and all(isinstance(v, str) for v in one) for one in lists)
        and RUN_ID.fullmatch(entry.run_id) is not None
        and entry.state in (PENDING, PUBLISHED)
        and isinstance(values["several"], bool)
        and len(entry.facets) == len(entry.scopes)
        and (entry.forms is None or len(entry.forms) == len(entry.facets))
        and (entry.held is None or None not in entry.held)
        and isinstance(values["seal"], str | None)
        and _names_host(entry.owner)
    )


def _names_host(owner: str) -> bool:
    try:
        return isinstance(json.loads(owner)["host"], str)
    except (ValueError, LookupError, TypeError, RecursionError):
        return False


def _missing(engine: DuckDBEngine, entries: tuple[Entry, ...]) -> Iterator[Problem]:
    """What the ledger counts of a release, or refers to, and does not hold."""
    now = held(engine)
    if any(e.held is not None and e.held != now.get(e.release, ())[: len(e.held)] for e in entries):
        yield _damaged("it does not hold as much of its releases as was recorded")
    counted: dict[Any, Any] = dict(
        engine.raw(
            f"select release, count(distinct person) from {ident(MEMBERS)} group by release",
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
    """Whether a class or bucket of members has no values of a column."""
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

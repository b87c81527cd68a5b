"""The seal of a release: its objects, the digests of its rows, and the manifest's own digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import TypeAdapter, with_config

from anonymizer.compile import Table, ident
from anonymizer.contract.layout import STRICT, only
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.policy.paths import name_text
from anonymizer.release.manifest import Manifest
from anonymizer.release.objects import Names, Runs

# Digests of published rows, which detect changed, removed and added rows.
#
# SHA-256 over blocks of rows. The encoding of a row is injective: every cell is the number of its
# bytes, a colon and its text; a NULL is `-1:`. If rows have a stored order, the seal covers it;
# otherwise the digests of the rows are sorted.
#
# A text column of few values is sealed as numbers and the list of the numbered values: hashing long
# texts repeatedly took half the time of a seal.


STORED = "duckdb-stored-2"
"""SHA-256 of the blocks' SHA-256, 1024 rows a block, in the order in which DuckDB stores them.
Cells of numbered columns are a number and a semicolon, ahead of the other cells. The SHA-256 of
the values of every numbered column, in binary order, follow those of the blocks."""
SORTED = "duckdb-sorted-1"
"""SHA-256 of the blocks' SHA-256; rows are sorted by their SHA-256, whose first three digits are
the block."""
BLOCK = 1024
AT_ONCE = 512
"""Blocks per statement, which holds the text of all their rows; this bounds the memory."""
SORTED_AT_ONCE = 1 << 19
"""Unordered rows that are sorted in one statement: some 200 MB."""
LINES = "anonymizer_lines"
VALUES_OF = "anonymizer_values_"
"""Prefix of the names of the lists of values."""
FIRST_BYTES = 256
"""Values of the first byte of a digest, by which unordered rows are divided."""
OFTEN, VALUES, NUMBERED = 8, 65_536, 24
"""A column is numbered if its values occur 8 times on average and are at most 65,536; at most 24
columns are."""


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class RowsDigest:
    """The sealed digest of a table's rows."""

    rows: int
    sha256: str
    definition: str
    """Method of the digest: engine, order, and version."""
    numbered: tuple[str, ...] = ()
    """Columns that are sealed as numbers."""


def stored_rows(
    runs: Runs,
    table: Table,
    columns: tuple[tuple[str, str], ...],
    numbered: Collection[str] | None = None,
) -> RowsDigest:
    """The digest of a DuckDB table's rows, in stored order.

    `numbered` are the numbered columns of a seal; by default they are chosen from the rows.
    """
    if any(name.lower() == "rowid" for name, _ in columns):
        return sorted_rows(runs, table, columns)  # a column hides the positions of the rows
    if numbered is None:
        numbered = _of_few_values(runs, table, columns)
    chosen = [name for name, kind in columns if name in numbered and kind == "VARCHAR"]
    others = [(f"r.{ident(name).text}", kind) for name, kind in columns if name not in chosen]
    source = ident(table).text
    # uncommitted rows have numbers with another start
    first, last = runs.raw(f"select min(rowid), max(rowid) from {source}", "seal")[0]
    starts = range(first or 0, (first or 0) if last is None else last + 1, BLOCK * AT_ONCE)
    lists = {
        f"{VALUES_OF}{i}": f"select value, row_number() over (order by value nulls first) as n"
        f" from (select distinct {ident(name).text} as value from {source})"
        for i, name in enumerate(chosen)
    }
    joins = " ".join(
        f"join {listed} on {listed}.value is not distinct from r.{ident(name).text}"
        for listed, name in zip(lists, chosen, strict=True)
    )
    cells = [f"{listed}.n, ';'" for listed in lists] + [_cell(*cell) for cell in others]
    digest, rows = sha256(), 0
    with _listed(runs, lists, kept=len(starts) > 1) as with_lists:
        for start in starts:
            text = (
                f"select (r.rowid - {start}) // {BLOCK} as block, r.rowid as place,"
                f" concat({', '.join(cells)}) as line from {source} as r {joins}"
                f" where r.rowid >= {start} and r.rowid < {start + BLOCK * AT_ONCE}"
            )
            found = runs.raw(
                f"{with_lists} select cast(coalesce(sum(n), 0) as bigint),"
                " coalesce(string_agg(digest, '' order by block), '') from ("
                " select block, count(*) as n,"
                " sha256(array_to_string(list(line order by place), '')) as digest"
                f" from ({text}) group by block)",
                "seal",
            )[0]
            rows += int(found[0])
            digest.update(str(found[1]).encode())
        if lists:
            digests = " || ".join(
                f"(select sha256(coalesce(string_agg(concat({_cell('value', 'VARCHAR')}), ''"
                f" order by n), '')) from {listed})"
                for listed in lists
            )
            digest.update(str(runs.raw(f"{with_lists} select {digests}", "seal")[0][0]).encode())
    return RowsDigest(rows, digest.hexdigest(), STORED, tuple(chosen))


@contextmanager
def _listed(runs: Runs, lists: Mapping[str, str], *, kept: bool) -> Iterator[str]:
    """The prefix of a statement that reads the lists. It is empty if they are `kept` in temporary
    tables, for several statements.
    """
    if not lists or not kept:
        named = ", ".join(f"{name} as materialized ({query})" for name, query in lists.items())
        yield f"with {named}" if named else ""
        return
    for name, query in lists.items():
        runs.raw(f"create or replace temp table {name} as {query}", "seal")
    yield ""
    for name in lists:
        runs.raw(f"drop table {name}", "seal")


def _of_few_values(
    runs: Runs, table: Table, columns: tuple[tuple[str, str], ...]
) -> tuple[str, ...]:
    """Text columns to number: few values, each occurring often."""
    texts = [name for name, kind in columns if kind == "VARCHAR"]
    if not texts:
        return ()
    counts = ", ".join(f"approx_count_distinct({ident(name).text})" for name in texts)
    rows, *found = runs.raw(f"select count(*), {counts} from {ident(table).text}", "seal")[0]
    fit = [(int(n), i) for i, n in enumerate(found) if n <= VALUES and int(n) * OFTEN <= int(rows)]
    return tuple(texts[i] for i in sorted(i for _, i in sorted(fit)[:NUMBERED]))


def sorted_rows(runs: Runs, relation: Table, columns: tuple[tuple[str, str], ...]) -> RowsDigest:
    """The digest of unordered rows, of anything that DuckDB can select from.

    A large relation is read once: its rows' digests are kept in a temporary table, which the engine
    can spill, and sorted part by part.
    """
    read = f"select sha256({row_text(columns)}) as line from {ident(relation)}"
    all_rows = int(runs.raw(f"select count(*) from {ident(relation)}", "seal")[0][0])
    parts = min(max(-(-all_rows // SORTED_AT_ONCE), 1), FIRST_BYTES)
    if parts > 1:
        kept = f"create or replace temp table {LINES} as select unhex(line) as line from ({read})"
        runs.raw(kept, "seal")
    digest, rows = sha256(), 0
    for low, high in pairwise(part * FIRST_BYTES // parts for part in range(parts + 1)):
        if parts > 1:
            read = f"select lower(hex(line)) as line from {LINES} where line >= unhex('{low:02x}')"
            read += f" and line < unhex('{high:02x}')" if high < FIRST_BYTES else ""
        found = runs.raw(
            "select cast(coalesce(sum(n), 0) as bigint),"
            " coalesce(string_agg(digest, '' order by block), '') from ("
            " select substr(line, 1, 3) as block, count(*) as n,"
            " sha256(array_to_string(list(line order by line), '')) as digest"
            f" from ({read}) group by block)",
            "seal",
        )[0]
        rows += int(found[0])
        digest.update(str(found[1]).encode())
    if parts > 1:
        runs.raw(f"drop table {LINES}", "seal")
    return RowsDigest(rows, digest.hexdigest(), SORTED)


def row_text(columns: tuple[tuple[str, str], ...]) -> str:
    """SQL for the text of a row, from names and types of its columns."""
    cells = (_cell(ident(name).text, kind) for name, kind in columns)
    return f"concat({', '.join(cells)})"


def _cell(column: str, kind: str) -> str:
    if kind.endswith("[]"):
        # the text of a list does not show where its members end
        member = _cell("member", kind.removesuffix("[]"))
        column = (
            f"array_to_string(list_transform({column}, lambda member: concat({member})), '')"
            f" || len({column})"
        )
    elif kind == "TIMESTAMP WITH TIME ZONE":
        column = f"epoch_us({column})"  # its text depends on the session's time zone
    text = f"cast({column} as varchar)"
    return f"coalesce(strlen({text}), -1), ':', {text}"


# The seal of a release: its objects, the digests of its rows, and the manifest's own digest.
#
# Changes can be detected with the policy, or with a signature over the digest. The digest alone
# shows that a release agrees with its manifest, but not who made them.


VERSION: Literal[1] = 1
CHANGED = "it was changed after it was published: run again"
Columns: TypeAlias = tuple[tuple[str, str], ...]
"""Name and type of every column, in order."""
Sign: TypeAlias = Callable[[str], str]
"""Signs a manifest's digest."""


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class SealedObject:
    """One table or view of a release."""

    schema: str
    name: str
    kind: str
    """view, rows, values or manifest; a `view` without definition is a table (replace_source)."""
    columns: Columns
    definition: Annotated[str | None, only(bool)] = None
    """The query of a view."""
    rows: Annotated[RowsDigest | None, only(bool)] = None
    """The digest of a published table, or of the one behind the view."""


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class Seal:
    """The part of a manifest that describes its release's objects."""

    objects: tuple[SealedObject, ...]
    alone: bool
    """True if the release is in a separate file, which holds nothing else."""
    digest: str
    version: Literal[1]


_SEAL = TypeAdapter(Seal)


def sealed(
    manifest: Manifest, objects: Iterable[SealedObject], *, alone: bool, sign: Sign | None = None
) -> Manifest:
    """The manifest with its seal, signed if there is a key."""
    data = json.loads(manifest.text())
    made = Seal(tuple(objects), alone, "", VERSION)
    data["seal"] = _SEAL.dump_python(made, mode="json", exclude_defaults=True)
    digest = data["seal"]["digest"] = manifest_digest(data)
    return Manifest(data, sign(digest) if sign is not None else None)


def manifest_digest(data: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of a manifest without its digest, as JSON without white space, keys sorted.

    An export adds its files to the manifest without changing the digest.
    """
    data = {name: value for name, value in data.items() if name != "export"}
    seal = {name: value for name, value in data["seal"].items() if name != "digest"}
    text = json.dumps({**data, "seal": seal}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def seal_of(manifest: Manifest) -> Seal:
    """The seal. Raises GuaranteeError if a manifest has no valid one."""
    try:
        seal = _SEAL.validate_json(json.dumps(manifest.data["seal"]))
    except (KeyError, TypeError, ValueError):
        seal = None  # raised below, without the values that this error has
    if seal is None:
        raise GuaranteeError.at(
            "manifest",
            "has no seal that can be read, so that nobody can tell what was judged",
            hint="it was changed, or made by another version: run again",
        )
    return seal


def manifest_problems(view: Table, manifest: Manifest) -> Iterator[Problem]:
    """The signs that a manifest is not the one sealed for the release of this view."""
    if manifest.found is not None and manifest.found.rstrip("\n") != manifest.text():
        yield Problem("manifest", "is not written as this tool writes it", hint=CHANGED)
    if seal_of(manifest).digest != manifest_digest(manifest.data):
        said = "its digest is not that of its content: a field changed"
        yield Problem("manifest", said, hint=CHANGED)
    if manifest.data.get("view") != f"{view.schema}.{view.name}":
        yield Problem("manifest.view", "names another release", hint=CHANGED)


def of_another(manifest: Manifest, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems of another release in the same file, marked as such."""
    shown = name_text(str(manifest.data.get("view")).removeprefix("main."))
    where = f"of {shown}, which is in the same file"
    return tuple(replace(one, message=f"{where}: {one.message}") for one in problems)


def projection(columns: Iterable[str], rows: Table) -> str:
    """The query of a published view: the frozen rows' columns in order."""
    return f"select {', '.join(ident(name).text for name in columns)} from {ident(rows)}"


def manifest_columns(*, signed: bool) -> Columns:
    """The columns of a manifest table."""
    names = ("manifest", "signature") if signed else ("manifest",)
    return tuple((name, "VARCHAR") for name in names)


def manifest_object(
    names: Names, manifest: Manifest | None, *, signed: bool = False
) -> SealedObject:
    """The table of an existing or planned manifest."""
    signed = signed or (manifest is not None and manifest.signature is not None)
    table = names.manifest(None)
    return SealedObject(names.schema, table.name, "manifest", manifest_columns(signed=signed))


def object_problems(seal: Seal, found: Iterable[SealedObject]) -> Iterator[Problem]:
    """The differences between the sealed objects and those found."""
    now = {(item.schema, item.name): item for item in found}
    then = {(item.schema, item.name): item for item in seal.objects}
    for place in sorted(now.keys() | then.keys()):
        shown = name_text(place[1])
        sealed_one, one = then.get(place), now.get(place)
        if one is None:
            yield Problem("release", f"lacks {shown}", hint=CHANGED)
        elif sealed_one is None:
            yield Problem("release", f"holds {shown}, which no manifest lists", hint=CHANGED)
        elif replace(one, rows=None) != replace(sealed_one, rows=None):
            yield Problem("release", f"{shown} is not defined as it was published", hint=CHANGED)
        elif one.rows is not None:
            yield from rows_problem(sealed_one, one.rows)


def rows_problem(item: SealedObject, found: RowsDigest) -> Iterator[Problem]:
    """The problem of rows that differ from the sealed ones, if they do."""
    if item.rows == found:
        return
    shown = name_text(item.name)
    said = f"the rows of {shown} are not those that were judged: values or their order changed"
    if item.rows is None or item.rows.definition != found.definition:
        said = f"the rows of {shown} are sealed in a way that this version does not know"
    elif item.rows.rows != found.rows:
        said = (
            f"the rows of {shown} are not those that were judged: there are {found.rows},"
            f" and {item.rows.rows} were"
        )
    yield Problem("release", said, hint=CHANGED)

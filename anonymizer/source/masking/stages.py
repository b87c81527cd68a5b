"""The masking statements: from the rows as read to the rows that all later steps read."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anonymizer.compile import Sql, Table, join, work
from anonymizer.errors import Problem, SourceError, no_file
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.policy.safe_harbor import CENSUS, FEW, GIVEN, NO_AREA, RESTRICTED, ZIP3
from anonymizer.process.text import many
from anonymizer.source.masking.expressions import (
    draws_rows,
    hmac,
    like_alias,
    mask_value,
    text_of,
)
from anonymizer.source.masking.masks import Mask, bind, key_names
from anonymizer.source.masking.values import found_alias, found_table, values_steps
from anonymizer.steps import Guard, Loop, Row, Stage, Step

# The ZIP code areas that may be published: those of three digits with enough inhabitants.


HEAD = ("zip3", "population")


def published_areas(policy: Policy, column: str) -> dict[str, Any]:
    """The source of the populations, and the restricted areas.

    With a file, areas that it does not list are restricted, too. Raises SourceError.
    """
    file = policy.columns[column].population
    if file is None:
        return {"population": CENSUS, "restricted": list(RESTRICTED)}
    where, path = column_path(column, "population"), policy.resolve(file)
    if not path.is_file():
        raise SourceError.at(where, no_file(file))
    found: dict[str, int] = {}
    problems: list[Problem] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as opened:
            for line, area, people in _lines(csv.reader(opened)):
                if area is None or people is None or area in found:
                    said = f"line {line} of the file has no area with its population, or one again"
                    problems.append(Problem(where, said, "three digits, a whole number"))
                    break
                found[area] = people
    except (OSError, ValueError, csv.Error):
        problems.append(Problem(where, "the file cannot be read as a CSV file in UTF-8"))
    if not problems and not found:
        said = "the file does not list populations"
        problems.append(Problem(where, said, hint=f"its first line is {','.join(HEAD)}"))
    SourceError.refuse(problems)
    enough = {area for area, people in found.items() if people > FEW}
    everywhere = (f"{number:03}" for number in range(1000))
    return {
        "population": GIVEN,
        "restricted": [area for area in everywhere if area not in enough and area != NO_AREA],
    }


def _lines(rows: Any) -> Iterator[tuple[int, str | None, int | None]]:
    head = tuple(name.strip().lower() for name in next(rows, ()))
    if not set(HEAD) <= set(head):
        return
    places = [head.index(name) for name in HEAD]
    for line, row in enumerate(rows, start=2):
        if not row:
            continue
        cells = [row[place].strip() if place < len(row) else "" for place in places]
        # (spreadsheets drop leading zeros)
        area = cells[0].zfill(3) if cells[0] else ""
        people = int(cells[1]) if cells[1].isascii() and cells[1].isdigit() else None
        yield line, area if ZIP3.match(area) and area.isascii() else None, people


RAW = work("raw_rows")
"""The rows as read, before any column is masked."""
PUBLISHED = work("rows_with_values")
"""Those that may be published, if NULLs leave some out."""
TRIES = 20
"""Number of further tokens to try if a token is a value of the column."""
ROUNDS = 10
"""Rounds of the permutation behind tokens of the format `like`: as many as FF1 has."""


def rows_drawn(masks: Sequence[Mask]) -> bool:
    """Return whether some mask draws for every row."""
    return any(draws_rows(mask) for mask in masks)


def masking_stages(
    policy: Policy,
    masks: Sequence[Mask],
    names: Sequence[Sql],
    target: Table,
    raw: Table = RAW,
    *,
    alone: bool = True,
    known: Sequence[Sql] = (),
    persons: bool = False,
) -> tuple[Stage, ...]:
    """The stages from `raw` to `target`, which also has the originals of masked columns.

    `names`: the columns of `raw`. `alone`: no other table has tokens under the same key.
    `known`: columns in which NULL leaves out a row, or with `persons` all rows of its person; masks
    that depend on other values ignore the rows left out.
    """
    keys = key_names(policy)
    redacts = [m for m in masks if m.kind == "redact" and m.values]
    likes = [m for m in masks if m.options.get("format") == "like"]
    emptied = {str(m.physical) for m in masks if m.kind in ("null", "constant")}
    known = [name for name in known if str(name) not in emptied]
    first: list[Step] = []
    published = raw
    if known and any(m.depends_on_column for m in masks):
        published = PUBLISHED
        kept = {"read": raw, "snapshot": published, "columns": known, "persons_whole": persons}
        first = [Step("rows that have the values asked for", "prepare/kept", kept)]
    made, binds = _masked_values(masks, keys, published)
    copies = policy.key is None and rows_drawn(masks)
    if copies:
        made["identity"] = Sql("r.identity")
    originals = {str(m.physical): (Sql(f"r.{m.physical}"), m.original) for m in masks}
    tokens = [_tokens(keys[m.column]) for m in likes]
    context = {
        "raw": raw,
        "published": published,
        "masked": target,
        "columns": [
            *((made.get(str(name), Sql(f"r.{name}")), name) for name in names),
            *originals.values(),
        ],
        "others": [name for name in names if str(name) != "identity"],
        "copies": copies,
        "found": [(found_table(m), found_alias(m), Sql(f"r.{m.physical}")) for m in redacts],
        "tables": [found_table(m) for m in redacts],
        "likes": [
            (table, like_alias(m), text_of(m, Sql(f"r.{m.physical}")))
            for table, m in zip(tokens, likes, strict=True)
        ],
        "tokens": list(dict.fromkeys(tokens)),
    }
    return (
        *first,
        *values_steps(redacts, raw),
        *_like_stages(likes, keys, raw, alone=alone),
        Step("mask the columns", "masking/masked", context, binds=binds),
    )


def _masked_values(
    masks: Sequence[Mask], keys: Mapping[str, str], published: Table
) -> tuple[dict[str, Sql], tuple[str, ...]]:
    """The values after all masks of each column, in order, and their bound parameters."""
    made: dict[str, Sql] = {}
    binds: dict[str, None] = {}
    for mask in masks:
        name, key = str(mask.physical), keys[mask.column]
        made[name] = mask_value(mask, made.get(name, Sql(f"r.{name}")), key, published)
        parts = (bind(key, part) for part in ("inner", "outer", "draw"))
        binds |= dict.fromkeys(part for part in parts if f"${part}" in str(made[name]))
    return made, tuple(binds)


def _tokens(key: str) -> Table:
    """Work table of the tokens of all columns under one key: distinct for distinct values, equal
    for equal ones.
    """
    return work(f"tokens_{key}")


def _like_stages(
    likes: Sequence[Mask], keys: Mapping[str, str], raw: Table, *, alone: bool
) -> Iterator[Stage]:
    for key in dict.fromkeys(keys[m.column] for m in likes):
        together = [m for m in likes if keys[m.column] == key]
        yield from (_plain_letters(m, raw) for m in together)
        yield from _tokens_like(together, key, raw, alone=alone)


def _plain_letters(mask: Mask, raw: Table) -> Guard:
    def explain(row: Row) -> Problem:
        said = many(row[0], "value has other letters", "values have other letters")
        return Problem(
            column_path(mask.column, "format"),
            f"like replaces the letters a to z and digits, and {said}",
            allowed="hex, uuid, number",
        )

    text = text_of(mask, mask.physical)
    return Guard(
        Step("plain letters", "masking/foreign_letters", {"raw": raw, "text": text}),
        explain,
        SourceError,
    )


def _tokens_like(masks: Sequence[Mask], key: str, raw: Table, *, alone: bool) -> Iterator[Stage]:
    context = {
        "raw": raw,
        "tokens": _tokens(key),
        "texts": join([text_of(m, m.physical) for m in masks], ", "),
        "rounds": [(n, Sql(f"r{n}"), Sql(f"r{n - 1}"), n % 2 == 1) for n in range(1, ROUNDS + 1)],
        "last": Sql(f"r{ROUNDS}"),
        "digest_of_a": hmac(Sql("concat(tweak, ':', round, ':', form, ':', a)"), key),
        "digest_of_b": hmac(Sql("concat(tweak, ':', round, ':', form, ':', b)"), key),
    }
    binds = (bind(key, "inner"), bind(key, "outer"))
    name = f"tokens of {', '.join(m.column for m in masks)}"
    yield Step(name, "masking/like", context, binds=binds)
    if not alone or "key_file" in masks[0].options:
        # a token that depends on other values of a table would differ in the next one
        return
    yield Loop(
        f"other {name}",
        (Step(f"other {name}", "masking/settle_like", context, binds=binds),),
        Step(f"{name} to settle", "masking/unsettled_like", {**context, "tries": TRIES}),
        TRIES,
        asked_first=True,
    )

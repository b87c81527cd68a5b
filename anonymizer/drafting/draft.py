"""A draft of a policy for a table: roles with their reasons as comments. To be reviewed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymizer.assess.opening import Opened, open_table
from anonymizer.compile import ident, render
from anonymizer.drafting import words
from anonymizer.drafting.guess import Guess, Profile, guess, profiles
from anonymizer.drafting.persons import countable, repeats_like_persons
from anonymizer.engines.duckdb import Limits
from anonymizer.errors import Problem, SourceError
from anonymizer.policy import Policy
from anonymizer.policy.values import file_format, table_parts
from anonymizer.session import Database

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
WORDS_OF_YAML = {"null", "true", "false"}
K = 5
L = 3


@dataclass(frozen=True, slots=True)
class Draft:
    """A policy as text, and the guesses behind it."""

    text: str
    guesses: dict[str, Guess]
    key: str | None
    person: str | None

    def as_dict(self) -> dict[str, Any]:
        return {
            "policy": self.text,
            "columns": {n: {"role": g.role, "reason": g.reason} for n, g in self.guesses.items()},
            "key": self.key,
            "person": self.person,
        }


def draft(
    table: str, database: Database = None, *, base: str | Path = ".", limits: Limits | None = None
) -> Draft:
    """Draft a policy for `table` of `database`, or for a data file.

    `base` is the folder that the policy will stand in: its paths start there. Raises SourceError
    where the table is not found or has no column that others may know.
    """
    with open_table(table, database, limits=limits) as opened:
        found = profiles(opened)
        guesses = {p.column: guess(p) for p in found}
        if found and found[0].rows == 0:
            raise SourceError(Problem("TABLE", "has no rows", hint="there is nothing to look at"))
        key = next((p.column for p in found if p.unique and words.says(p.column, words.KEY)), None)
        person, perhaps = _person(found, guesses, key)
        varying = _varying(opened, guesses, person)
        lines = _lines(opened, table, Path(base), found, guesses, key, person, perhaps, varying)
        text = "\n".join(lines) + "\n"
    Policy.loads(text, base)  # a draft that is no policy is a defect of the tool
    return Draft(text, guesses, key, person)


def _person(
    found: tuple[Profile, ...], guesses: dict[str, Guess], key: str | None
) -> tuple[str | None, Profile | None]:
    """The column that numbers persons of several rows, and one that may where that is not sure.

    The finest, where there are several.
    """
    told = [p for p in found if countable(p.sql_type) and guesses[p.column].role == "identifier"]
    named = [p for p in told if words.names_person(p.column)]
    if any(p.unique for p in named):
        return None, None  # every row is a person of its own
    repeating = [
        p
        for p in told
        if p.column != key and repeats_like_persons(p.column, p.different or 0, p.known)
    ]
    likely = [p for p in repeating if p in named]
    sure = max(
        (p for p in likely if p.known == p.rows), key=lambda p: p.different or 0, default=None
    )
    if sure is not None:
        return sure.column, None
    return None, max(likely or repeating, key=lambda p: p.different or 0, default=None)


def _varying(opened: Opened, guesses: dict[str, Guess], person: str | None) -> int:
    """Persons whose rows differ in a quasi-identifier."""
    quasi = [ident(name) for name, found in guesses.items() if found.role == "quasi"]
    if person is None or not quasi:
        return 0
    source = opened.relation
    parameters: dict[str, Any] = {"source": source.table or source.sql, "relation": source.sql}
    parameters |= {"person": ident(person), "columns": quasi}
    text = render("drafting/varying.sql.j2", parameters).text
    return int(opened.engine.raw(text, "persons")[0][0])


def _lines(
    opened: Opened,
    table: str,
    base: Path,
    found: tuple[Profile, ...],
    guesses: dict[str, Guess],
    key: str | None,
    person: str | None,
    perhaps: Profile | None,
    varying: int,
) -> Iterator[str]:
    form = file_format(table) if opened.relation.table is None else None
    stem = Path(table).stem if form else table_parts(table)[-1]
    yield f"# A draft for {stem} ({found[0].rows:,} rows), made from names, types and counts."
    yield "# Review every role: only you know what others know, and what people want kept secret."
    yield "version: 1"
    if form:
        path = os.path.relpath(Path(table).resolve(), base.resolve()).replace(os.sep, "/")
        yield f"source: {{file: {_scalar(path)}}}"
    else:
        yield f"source: {{table: {_scalar(table)}}}"
    if key is not None:
        yield f"key: {_scalar(key)}   # unique and never NULL; tells rows apart, never published"
    if person is not None:
        yield f"person: {_scalar(person)}   # several rows per person: guarantees count persons"
    if perhaps is not None:
        mean = perhaps.known / (perhaps.different or 1)
        yield (
            f"# person: {_scalar(perhaps.column)}   # {mean:.1f} rows per value: if it tells whose"
            " row it is, name it, or guarantees count rows"
        )
        if perhaps.known < perhaps.rows:
            yield f"#   ({perhaps.rows - perhaps.known:,} rows have none, which a run refuses)"
    if varying:
        said = f"{varying:,} persons have rows that differ in a quasi column"
        yield f"merge_person_rows: true     # {said}"
    yield "columns:                    # identifier, quasi, sensitive, keep, drop"
    width = max(len(_scalar(p.column)) for p in found)
    for p in found:
        role = guesses[p.column]
        options = ", ".join([f"role: {role.role}", *_options(p, role)])
        name = f"{_scalar(p.column)}:".ljust(width + 1)
        yield f"  {name} {{{options}}}   # {_comment(role.reason)}"
    yield f"privacy: {{k_anonymity: {K}}}    # 5 inside an organization; 11 or more for the public"
    yield "suppression_limit: 0.05     # at most this share may be left out; more fails the run"
    yield "algorithm: {name: mondrian}"
    yield "# A file of its own: who gets the release must not get the raw table with it."
    release = f"{re.sub(r'[^A-Za-z0-9_-]+', '_', stem)}_release.duckdb"
    yield f"publish: {{name: {_scalar(stem + '_anonymous')}, database: {release}}}"


def _options(p: Profile, role: Guess) -> Iterator[str]:
    if role.role == "quasi" and p.text and words.says(p.column, words.POSTAL):
        yield "hierarchy: {builder: prefix}"
    if role.role == "sensitive":
        # each class has to hold l values: one that is too frequent, or too few values, allow less
        frequent = (p.known or 1) / (p.commonest or 1)
        l = max(2, min(L, p.different or 2, int(frequent)))
        yield f"protect: {{l_diversity: {l}}}"


def _scalar(text: str) -> str:
    if PLAIN.match(text) and text.lower() not in WORDS_OF_YAML:
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _comment(text: str) -> str:
    return " ".join(text.split())

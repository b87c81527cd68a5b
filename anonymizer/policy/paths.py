"""Paths in a policy, the words of names, and did-you-mean hints."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches

from anonymizer.errors import Problem

# Paths in a policy, such as `columns.age.role`; unusual names are in double quotes.


LONGEST = 80


def path_text(steps: Iterable[object]) -> str:
    """Steps joined by dots."""
    return ".".join(map(name_text, steps))


def name_text(step: object) -> str:
    """One step: unchanged if plain, else quoted, with control characters escaped."""
    if step is None or isinstance(step, bool):
        return {None: "null", True: "true", False: "false"}[step]
    if isinstance(step, int):
        return str(step)
    text = str(step)
    if len(text) > LONGEST:
        text = text[:LONGEST] + "…"
    if re.fullmatch(r"[^\W\d][\w$-]*", text):
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def column_path(name: str, *options: object) -> str:
    """The path of a column, or of one of its options."""
    return path_text(("columns", name, *options))


# Paths of problems inside one of several tables.


def table_path(table: str, *steps: object) -> str:
    """The path of a table, or of something in it."""
    return path_text(("tables", table, *steps))


def within(table: str, problems: Iterable[Problem]) -> Iterator[Problem]:
    """Problems of a single-table policy, with the paths of one of several tables."""
    for problem in problems:
        path = f"{table_path(table)}."
        hint = problem.hint and of_source(path, problem.hint)
        yield replace(problem, path=path + problem.path, hint=hint)


def of_source(path: str, text: str) -> str:
    """A text of a single-table policy, with the `path` of the table before that of its query."""
    return re.sub(r"(?<![\w.])source\.query", lambda found: path + found[0], text)


# The words of a column's name.


def words(name: str) -> list[str]:
    """The words of a name: `patientId`, `patient_id` and `PATIENT-ID` have the same.

    Accents are left out: `Größe` is `grosse`.
    """
    letters = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = "".join(c for c in letters if not unicodedata.combining(c))
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", plain)
    return [word for word in re.split(r"[^a-z]+", spaced.lower()) if word]


# Did-you-mean hints: they name allowed values, never the given one.


def closest(given: object, allowed: Iterable[str]) -> str | None:
    """A hint naming the allowed word closest to `given`, or None if none is close."""
    if not isinstance(given, str) or len(given) > 100:
        return None
    words = list(allowed)
    folded = {word.lower(): word for word in reversed(words)}
    near = get_close_matches(given.lower().replace("-", "_"), list(folded), n=1, cutoff=0.6)
    return f"did you mean {folded[near[0]]}?" if near else None

"""Random policies with masks over random tables: published and verified by all, or refused."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import AnonymizerError
from anonymizer.independent.judge import judge
from anonymizer.run.scripts import script
from tests.masking.runs import KEPT, key_file
from tests.masking.values import NUMBERS, TYPES, column, table
from tests.runs import THRIFTY, policy
from tests.selection import some

RUNS = int(os.environ.get("ANONYMIZER_FUZZ", "25"))
ROWS = 90
OPEN = {"acknowledge_unique": True}
GROUPED = (
    "INTEGER",
    "SMALLINT",
    "DOUBLE",
    "DECIMAL(9,2)",
    "DATE",
    "TIMESTAMP",
    "VARCHAR",
    "BOOLEAN",
)
ALGORITHMS: tuple[dict[str, Any], ...] = (
    {"name": "mondrian"},
    {"name": "mondrian", "split": "median"},
    {"name": "lgb"},
    {"name": "full_domain"},
    {"name": "danonyir"},
    {"name": "none"},
)


def few(kind: str, dice: Random) -> list[Any]:
    """Values of which many are equal."""
    known = [v for v in column(kind, 40, dice, nulls=0) if v == v and str(v) not in ("inf", "-inf")]
    some = dice.sample(known, 6)
    return [dice.choice([*some, *some, None]) for _ in range(ROWS)]


def a_mask(kind: str, dice: Random) -> dict[str, Any]:
    """A mask, most of the time one that fits."""
    number = kind in NUMBERS
    at: Any = dice.choice((1, 37, "2001-02-03", 12.5))
    fitting: list[dict[str, Any]] = [
        {"role": "token", "format": dice.choice(("hex", "uuid", "number", "like"))},
        {"role": "token", "key_file": "tokens.key"},
        {"role": "null"},
        {"role": None},
        {"role": "constant", "value": dice.choice(("x", 1, 2.5, True, "ü'"))},
    ]
    if number or "DATE" in kind or "TIME" in kind:
        which = dice.choice(("top_code", "bottom_code"))
        found: dict[str, Any] = (
            {"at_least": dice.choice((2, 5))} if dice.random() < 0.5 else {"at": at}
        )
        fitting.append({"role": which, **found, **OPEN})
        to = dice.choice((1, 5, 0.25)) if number else dice.choice(("year", "month", "week"))
        fitting.append({"role": "round", "to": to, **OPEN})
    if number:
        noise: dict[str, Any] = {dice.choice(("amount", "share")): dice.choice((1, 0.5))}
        fitting.append({"role": "noise", **noise, **OPEN})
        fitting.append({"role": "round", "to": 10, "method": "random", **OPEN})
    elif "DATE" in kind or "TIME" in kind:
        fitting += [{"role": "shift", "within": dice.choice(("30 days", 14))}] * 3
        if dice.random() < 0.5:
            fitting[-1] = {**fitting[-1], "keep": ["weekday"], "per": "who"}
    elif kind == "VARCHAR":
        fitting += [{"role": "redact", **OPEN}] * 3
    return dice.choice(fitting)


def a_case(folder: Path, dice: Random) -> tuple[Any, Any, dict[str, Any]]:
    """A policy, its database, and what its run is asked."""
    columns: dict[str, tuple[str, list[Any]]] = {
        "id": ("INTEGER", list(range(ROWS))),
        "who": ("VARCHAR", [f"p{n % 45}" for n in range(ROWS)]),
    }
    roles: dict[str, Any] = {
        "id": dice.choice((KEPT, "drop", {"role": "token", "format": "number"})),
        "who": dice.choice(("drop", "identifier", {"role": "token"})),
    }
    algorithm = dice.choice(ALGORITHMS)
    for name in ("a", "b"):
        kind = dice.choice(GROUPED)
        columns[name] = (kind, few(kind, dice))
        roles[name] = {"role": "quasi"}
        if dice.random() < 0.3:
            roles[name] |= dice.choice(({"top_code": 30}, {"round": 10}, {"bottom_code": 5}))
        if algorithm["name"] == "full_domain":
            roles[name] |= {"hierarchy": {"builder": "cardinality"}}
    if dice.random() < 0.7:
        columns["ill"] = ("INTEGER", [n * 7 % 5 * 100 for n in range(ROWS)])
        roles["ill"] = {"role": "sensitive", "protect": {"l_diversity": 2}}
        if dice.random() < 0.5:
            roles["ill"] |= dice.choice(
                ({"top_code": 300}, {"round": 200}, {"top_code": {"at_least": 3}})
            )
    for number in range(dice.randint(1, 5)):
        kind = dice.choice(TYPES)
        columns[f"m{number}"] = (
            kind,
            column(kind, ROWS, dice) if dice.random() < 0.6 else few(kind, dice),
        )
        roles[f"m{number}"] = a_mask(kind, dice)
    if algorithm["name"] == "none":
        for name in ("a", "b"):
            roles[name] = KEPT
    rest: dict[str, Any] = {
        "algorithm": algorithm,
        "suppression_limit": 1.0,
        "publish": {"name": "masked"},
    }
    if dice.random() < 0.5 or algorithm["name"] == "danonyir":
        rest |= {"person": "who", "merge_person_rows": True}
    if dice.random() < 0.3:
        rest["key"] = "id"
        roles["id"] = "drop" if roles["id"] == KEPT else roles["id"]
    if dice.random() < 0.3:
        rest["publish"]["cells"] = "typed"
    key_file(folder)
    database: Any = table(folder, columns)
    how = dice.choice(("table", "table", "query", "file", "replace"))
    if how == "query":
        rest["source"] = {"query": "select * from people where id < 80"}
    elif how == "file":
        with duckdb.connect(str(database)) as connection:
            connection.execute(f"copy people to '{folder / 'people.parquet'}' (format parquet)")
        rest["source"], database = {"file": "people.parquet"}, None
    elif how == "replace":
        rest["publish"] |= {"database": None, "replace_source": True}
        del rest["publish"]["name"]
    k = None if algorithm["name"] == "none" else 2
    asked = policy(folder, roles, k, **rest)
    return asked, database, {"replace_source": True} if how == "replace" else {}


@some(2, 3)
@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("number", range(RUNS))
def test_a_random_policy_is_published_and_verified_or_refused(tmp_path: Path, number: int) -> None:
    dice = Random(9000 + number)
    refused: AnonymizerError | None = None
    try:
        asked, database, more = a_case(tmp_path, dice)
        anonymizer.run(asked, database, seed=number, limits=THRIFTY, **more)
    except AnonymizerError as error:
        refused = error
    if refused is not None:
        assert refused.problems
        assert all(problem.path and problem.message for problem in refused.problems)
        assert not (tmp_path / "release.duckdb").exists()
        return
    place = None if (tmp_path / "release.duckdb").exists() else database
    assert anonymizer.verify(asked, place).passed
    if place is not None:
        return
    assert anonymizer.verify(None, tmp_path / "release.duckdb").passed
    own = judge(tmp_path / "release.duckdb")
    assert own.passed, [check for check in own.checks if not check.passed]
    out = tmp_path / "report.html"
    with contextlib.suppress(AnonymizerError):
        anonymizer.plan(asked, database).sql()
    with contextlib.suppress(AnonymizerError):
        anonymizer.write_report(asked, out)
    with contextlib.suppress(AnonymizerError):
        anonymizer.write_report(asked, out, source=database)
    with contextlib.suppress(AnonymizerError):
        anonymizer.attack(asked, database)
    with contextlib.suppress(AnonymizerError):
        script(asked, database, None)

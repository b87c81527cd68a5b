"""Policies whose scripts are executed, and two ways to execute them: the library, and the shell."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb

from anonymizer import Policy
from anonymizer.process.secret import Seed
from anonymizer.run.scripts import script
from tests.runs import Rows, fetch, policy

TYPES = {
    "age": "INTEGER",
    "town": "VARCHAR",
    "sex": "VARCHAR",
    "ill": "VARCHAR",
    "zip": "VARCHAR",
    "who": "INTEGER",
    "hide": "BOOLEAN",
    "visit": "INTEGER",
}


def _row(i: int) -> tuple[Any, ...]:
    who = i // 2
    return (
        20 + who * 37 % 53,
        f"t{who * who % 5}",
        "mf"[i % 2],
        "abcde"[(i * i * 7 + i // 3) % 5],
        f"{21000 + i * 71 % 60:05d}" if i % 40 else None,
        who,
        i % 7 == 0,
        i,
    )


ROWS = [_row(i) for i in range(240)]
TOWNS = "".join(f"t{i};{'AB'[i % 2]};*\n" for i in range(5))

Setting = dict[str, Any]
DROPPED = dict.fromkeys(TYPES, "drop")
ILL = {"role": "sensitive"}
DIVERSE = {**ILL, "protect": {"l_diversity": 2}}
CLOSE = {**ILL, "protect": {"t_closeness": 0.5}}


def _climbed(builder: str = "cardinality") -> Setting:
    return {"role": "quasi", "hierarchy": {"builder": builder}}


AGE = {"role": "quasi", "kind": "numeric"}
HIDDEN = {**AGE, "sensitive_when": "hide", "protect": {"l_diversity": 2}}
LISTED = {"role": "quasi", "hierarchy": {"file": "towns.csv"}}
FLAT = {**DROPPED, "age": AGE, "town": "quasi", "sex": "quasi", "ill": DIVERSE}
TREES = {
    **DROPPED,
    "age": _climbed(),
    "town": LISTED,
    "sex": _climbed("frequency"),
    "zip": _climbed("prefix"),
    "ill": DIVERSE,
}
PERSONS = {**DROPPED, "age": _climbed(), "town": LISTED, "ill": ILL}


def _asked(columns: Setting, k: int | None = 3, /, **rest: Any) -> Setting:
    return {"columns": columns, "k": k, **rest}


def _algorithm(name: str, **options: Any) -> Setting:
    return {"algorithm": {"name": name, **options}}


def _reserved(algorithm: str, merge: bool = True, **model: Any) -> Setting:
    merged = {"merge_person_rows": True} if merge else {}
    return _asked(
        PERSONS,
        person="who",
        privacy=model,
        suppression_limit=0.2,
        **merged,
        **_algorithm(algorithm),
    )


SETTINGS: dict[str, Setting] = {
    "mondrian": _asked(FLAT),
    "mondrian median": _asked(FLAT, **_algorithm("mondrian", split="median")),
    "mondrian loss": _asked(FLAT, **_algorithm("mondrian", split="loss")),
    "mondrian refined": _asked(
        {**FLAT, "ill": "keep"}, **_algorithm("mondrian", split="loss", refine=2)
    ),
    "mondrian median refined": _asked(
        {**FLAT, "ill": "keep"}, **_algorithm("mondrian", split="median", refine=2)
    ),
    "mondrian eir": _reserved("mondrian", eir_l=2),
    "mondrian alpha beta": _reserved("mondrian", ir_alpha_beta={"alpha": 0.9, "beta": 0.9}),
    "on the fly": _asked({**TREES, "age": _climbed("on_the_fly")}),
    "typed": _asked(TREES, publish={"cells": "typed"}),
    "query": _asked(
        FLAT,
        source={"query": "select * from people where age < 60 -- the young"},
        publish={"name": "young"},
    ),
    "key": _asked(FLAT, key="visit"),
    "nulls": _asked({**FLAT, "zip": {"role": "quasi", "nulls": "suppress"}}, suppression_limit=0.1),
    "security levels": _asked(
        {**FLAT, "ill": {**ILL, "protect": {"levels": {1: ["a"], 0: ["b"]}, "default_level": 0}}},
        None,
        privacy={"level_l": {0: 1, 1: 2}},
        **_algorithm("msb"),
    ),
    "t by distance": _asked(
        {
            **TREES,
            "ill": {
                **ILL,
                "hierarchy": {"builder": "prefix"},
                "protect": {"t_closeness": {"t": 0.6, "distance": "hierarchical"}},
            },
        }
    ),
    "population": _asked(
        FLAT, privacy={"k_map": {"k": 4, "population": {"table": "people"}}}, key="visit"
    ),
    "lgb": _asked(FLAT, **_algorithm("lgb")),
    "lgb ncp": _asked(FLAT, **_algorithm("lgb", generalization="ncp")),
    "lgb flags": _asked({**FLAT, "age": HIDDEN}, suppression_limit=0.1, **_algorithm("lgb")),
    "lgb persons": _asked({**PERSONS, "ill": DIVERSE}, person="who", **_algorithm("lgb")),
    "full_domain": _asked(TREES, suppression_limit=0.05, **_algorithm("full_domain")),
    "full_domain budget": _asked(
        TREES, suppression_limit=0.05, **_algorithm("full_domain", budget=60)
    ),
    "full_domain t": _asked({**TREES, "ill": CLOSE}, **_algorithm("full_domain")),
    "privacyfrost": _asked(TREES, **_algorithm("privacyfrost")),
    "privacyfrost t": _asked({**TREES, "ill": CLOSE}, **_algorithm("privacyfrost")),
    "privacyfrost suppressing": _asked(
        {**TREES, "ill": CLOSE}, suppression_limit=0.05, **_algorithm("privacyfrost", budget=60)
    ),
    "msb": _asked(FLAT, None, **_algorithm("msb")),
    "msb exact": _asked({**FLAT, "town": DIVERSE}, None, **_algorithm("msb", mode="exact")),
    "danonyir": _reserved("danonyir", ir_kl={"k": 3, "l": 2}),
    "danonyir eir": _reserved("danonyir", eir_l=2),
    "none": _asked({**DROPPED, "town": "keep", "ill": ILL}, None, **_algorithm("none")),
    "none persons": _asked(
        {**DROPPED, "zip": {"role": "keep", "nulls": "suppress"}, "sex": "keep"},
        None,
        person="who",
        suppression_limit=0.1,
        **_algorithm("none"),
    ),
    "geneir": _reserved("geneir", merge=False, ir_kl={"k": 3, "l": 2}),
    "geneir eir": _reserved("geneir", merge=False, eir_l=2),
}
"""Every algorithm with the options that change which statements there are."""


def given(folder: Path, name: str, **rest: Any) -> Policy:
    """The policy of a setting, with the files that it names."""
    (folder / "towns.csv").write_text(TOWNS)
    setting = {**SETTINGS[name], **rest}
    return policy(folder, setting.pop("columns"), setting.pop("k"), **setting)


def written(asked: Policy, database: Path) -> str:
    """The script that `anonymizer compile` prints."""
    return script(asked, str(database), None)[1]


def execute(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    """Every statement of a script, without the lines that only the shell knows."""
    lines = (line for line in text.splitlines() if not line.startswith("."))
    for statement in duckdb.extract_statements("\n".join(lines)):
        connection.execute(statement).fetchall()


def by_library(text: str, seed: int = 1) -> Rows:
    """The rows that a script leaves where every statement goes through the library."""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(f"set variable secret = '{Seed.test(seed).secret}'")
        execute(connection, text)
        return fetch(connection, "from anon_scratch.main.staged")


def shell() -> str:
    """The DuckDB shell."""
    found = shutil.which("duckdb", path=str(Path(sys.executable).parent)) or shutil.which("duckdb")
    assert found is not None, "the DuckDB shell is not installed: pip install duckdb-cli"
    return found


def in_shell(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Let the shell execute a file."""
    (folder / "run.sql").write_text(text)
    return subprocess.run(
        [shell(), "-init", "/dev/null", *options, "-f", "run.sql"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def by_shell(folder: Path, text: str, seed: int = 1) -> Rows:
    """The rows that a script leaves where the shell executes it."""
    copied = f"{text}\ncopy anon_scratch.main.staged to 'staged.parquet';\n"
    secret = ("-cmd", f"set variable secret = '{Seed.test(seed).secret}'")
    done = in_shell(folder, copied, *secret)
    assert done.returncode == 0, done.stderr
    assert "WARN" not in done.stdout + done.stderr
    with duckdb.connect() as connection:
        return fetch(connection, f"from '{folder / 'staged.parquet'}'")

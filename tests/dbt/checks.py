"""One table, and what the checks of the package find on it with the macros of DuckDB: for every
adapter that runs here, and for emulators of others.
"""

from __future__ import annotations

from typing import Any

import duckdb

from tests.macros.conftest import SCRIPT

VISITS = """
select
    {number} as visit,
    concat('patient ', cast({number} % 150 as {text})) as patient,
    nullif(20 + ({number} * 37) % 9, 25) as age,
    case when {number} % 3 = 0 then 'female' else 'male' end as sex,
    case ({number} * {number}) % 11 % 5 when 0 then 'Flu' when 1 then 'Asthma' when 2 then 'Cancer'
        when 4 then 'Fracture' end as disease,
    case when {number} < 2 then 'a' when {number} < 7 then 'b' when {number} < 12 then 'B'
        else 'c' end as place
from {numbers}
"""
BLANKED = """
select 'a' as sex, 20 as figure union all select 'b', null union all select '(all)', 23
"""
"""Counts with a total, from which the hidden figure follows."""
QUASI, S = ["sex", "age"], {"quasi": ["sex"], "sensitive": "disease"}
TABLES = {"visits": {"visit": int, "patient": str, "age": int, "sex": str, "disease": str,
                     "place": str},
          "blanked": {"sex": str, "figure": int}}  # fmt: skip
COUNTS: dict[str, dict[str, Any]] = {
    "counts": {"by": ["disease", "age"], "n": 7},
    "counts_of_three": {"by": ["disease", "age", "sex"], "n": 8},
    "counts_of_patients": {"by": ["sex"], "n": 5, "person": "patient"},
    "counts_of_the_next": {"by": ["place"], "n": 5},
    "counts_of_nobody": {"by": ["sex", "age"], "n": 101},
}
"""Arguments of `anon_counts` on the table."""
WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "in_several": ("visits", {"by": QUASI, "n": 5, "person": "patient"}, "are in several groups"),
    "without": ("visits", {"by": ["sex"], "n": 5, "person": "age"}, "some rows have no person"),
    "odd": ("blanked", {"by": ["sex"], "n": 5}, "a group is called (all)"),
}
"""Arguments for which it must fail: the table, the arguments, and what is said."""


def loaded() -> duckdb.DuckDBPyConnection:
    """DuckDB with the macros and the tables."""
    connection = duckdb.connect()
    connection.execute(SCRIPT.read_text(encoding="utf-8")).fetchall()
    made = VISITS.format(number="i", numbers="range(300) as numbers (i)", text="varchar")
    connection.execute(f"create table visits as {made}")
    connection.execute(f"create table blanked as {BLANKED}")
    return connection


def rows(connection: duckdb.DuckDBPyConnection, text: str) -> list[tuple[Any, ...]]:
    return connection.execute(text).fetchall()


def counted(connection: duckdb.DuckDBPyConnection, name: str) -> list[tuple[Any, ...]]:
    """What the macro of DuckDB counts."""
    given = COUNTS[name]
    person = f", person := '{given['person']}'" if "person" in given else ""
    return rows(connection, f"from anon_counts('visits', {given['by']}, {given['n']}{person})")


def bounds() -> dict[str, tuple[str, str, dict[str, Any], str, Any, Any]]:
    """Tests with what the macros of DuckDB find: the table, the arguments, and a bound that holds
    and one that fails. Distances have nine digits: an emulator computes in 64 bits.
    """
    with loaded() as connection:
        ((k,),) = rows(connection, "from anon_k('visits', ['sex', 'age'])")
        ((p,),) = rows(connection, "from anon_person_k('visits', ['sex', 'age'], 'patient')")
        ((distinct, entropy, c),) = rows(
            connection, "from anon_l('visits', ['sex'], 'disease', l := 3)"
        )
        ((equal, ordered),) = rows(connection, "from anon_t('visits', ['sex'], 'disease')")
    person = {"quasi": QUASI, "person": "patient"}
    given: dict[str, tuple[str, dict[str, Any], str, Any, Any]] = {
        "k": ("k_anonymity", {"quasi": QUASI}, "k", k, k + 1),
        "person": ("person_k_anonymity", person, "k", p, p + 1),
        "distinct": ("l_diversity", S, "l", distinct, distinct + 1),
        "entropy": ("l_diversity", {**S, "kind": "entropy"}, "l", entropy - 1e-6, entropy + 1e-6),
        "recursive": ("l_diversity", {**S, "kind": "recursive", "l": 3}, "c", c + 1e-6, c - 1e-6),
        "equal": ("t_closeness", S, "t", round(equal + 1e-9, 9), round(equal - 1e-9, 9)),
        "ordered": ("t_closeness", {**S, "distance": "ordered"}, "t",
                    round(ordered + 1e-9, 9), round(ordered - 1e-9, 9)),
        "raw": ("no_raw_columns", {}, "columns", ["name"], ["PATIENT"]),
    }  # fmt: skip
    figures = {"measure": "figure"}
    return {
        **{name: ("visits", *one) for name, one in given.items()},
        "small": ("blanked", "no_small_cells", figures, "n", 20, 21),
        "one_step": ("blanked", "one_step", {**figures, "by": ["sex"]}, "n", 3, 4),
    }

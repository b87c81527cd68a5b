"""The INFORMS tables as benchmarks of persons use them: the persons with a diagnosis."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anonymizer import Policy
from benchmarks.common import DATA, HIERARCHIES

QUASI = (
    "birth_month",
    "birth_year",
    "sex",
    "race",
    "education_years",
    "marital_status",
    "poverty",
    "hispanic",
)
NUMERIC = {"birth_month", "birth_year", "education_years"}
TAXONOMIES = ("fine", "coarse")


def table(folder: Path) -> Path:
    """The 102,673 rows of the 26,735 persons with a diagnosis code, as one file."""
    import duckdb

    target = folder / "informs.parquet"
    if not target.exists():
        columns = ", ".join(f"p.{name}" for name in QUASI)
        with duckdb.connect() as connection:
            connection.execute(
                f"copy (select p.person_id, {columns}, c.icd9_code as diagnosis"
                f" from '{DATA}/informs_persons.parquet' p"
                f" join '{DATA}/informs_conditions.parquet' c using (person_id)"
                f" where c.icd9_code is not null order by 1, 10) to '{target}'"
            )
    return target


def large_table(folder: Path, copies: int = 10) -> Path:
    """Copies of every person with a birth year moved by up to two years, and codes of others."""
    import duckdb

    target = folder / f"informs_{copies}.parquet"
    if not target.exists():
        columns = ", ".join(
            "x.birth_year + cast(hash(x.person_id, copy) % 5 as integer) - 2 as birth_year"
            if name == "birth_year"
            else f"x.{name}"
            for name in QUASI
        )
        with duckdb.connect() as connection:
            connection.execute(
                "create table numbered as select row_number() over"
                f" (order by person_id, diagnosis) as i, * from '{table(folder)}'"
            )
            (total,) = connection.execute("select count(*) from numbered").fetchall()[0]
            connection.execute(
                "copy (with x as (select n.*, r.copy,"
                f" 1 + hash(n.i, r.copy) % {total} as j from numbered n, range({copies}) r(copy))"
                f" select x.person_id || '-' || copy as person_id, {columns}, m.diagnosis"
                f" from x join numbered m on m.i = x.j) to '{target}'"
            )
    return target


def equal_table(folder: Path, copies: int = 10) -> Path:
    """Copies of every person under new ids, equal in everything else."""
    import duckdb

    target = folder / f"informs_equal_{copies}.parquet"
    if not target.exists():
        with duckdb.connect() as connection:
            connection.execute(
                "copy (select i.person_id || '-' || copy as person_id, i.* exclude (person_id)"
                f" from '{table(folder)}' i, range({copies}) r(copy)) to '{target}'"
            )
    return target


def policy(
    source: Path,
    privacy: Mapping[str, Any],
    algorithm: Mapping[str, Any],
    d: int = 6,
    taxonomy: str | None = None,
) -> Policy:
    """A policy over the first `d` quasi-identifiers, `taxonomy` naming a set of hierarchies."""
    columns: dict[str, Any] = {"person_id": {"role": "drop"}, "diagnosis": {"role": "sensitive"}}
    for i, name in enumerate(QUASI):
        columns[name] = {"role": "drop"}
        if i < d:
            kind = "numeric" if name in NUMERIC else "categorical"
            columns[name] = {"role": "quasi", "kind": kind}
            if taxonomy is not None:
                file = HIERARCHIES / "informs" / taxonomy / f"{name}.csv"
                columns[name]["hierarchy"] = {"file": str(file)}
    return Policy.model_validate(
        {
            "version": 1,
            "source": {"file": str(source)},
            "person": "person_id",
            "columns": columns,
            "privacy": dict(privacy),
            "algorithm": dict(algorithm),
            "suppression_limit": 1,
            "publish": {"name": "informs", "database": "unused.duckdb"},
        }
    )

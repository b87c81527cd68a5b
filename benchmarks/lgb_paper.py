"""The experiments of Li and He (2023), Figs. 5-8, on census data of the same kind.

    python -m benchmarks.lgb_paper [--quick]

Differences from the paper are stated in the result; the sample and the flags have fixed seeds.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

import anonymizer
from anonymizer import Policy
from anonymizer.compile import Table
from anonymizer.contract.originals import Originals
from anonymizer.measure import query_error
from benchmarks.common import (
    DATA,
    HIERARCHIES,
    RESULTS,
    line_plot,
    machine,
    markdown_table,
    series_of,
    write_csv,
)

ROWS = 31_055
KS = (5, 8, 10)
LS = (5, 8, 10, 12, 15, 18, 20)
DENSITIES = (10, 20, 30, 40)
QUASI = ("relationship", "marital_status", "race", "education", "hours_per_week")
SEMI = ("sex", "age", "occupation_code")
VARIANTS: dict[str, dict[str, Any]] = {
    "mdp": {"generalization": "mdp"},
    "ncp": {"generalization": "ncp"},
    "ncp rebalanced": {"generalization": "ncp", "rebalance": True},
    "loss": {"generalization": "loss"},
}
ERROR_COLUMNS = ["variant", "k", "l", "error", "median error", "sure error"]
DIFFERENCES = """\
Differences from the paper: American Community Survey 2018 of 14 states instead of an IPUMS extract;
31,055 rows drawn with a fixed seed from the 85,109 with occupation, hours and positive wages.
Distinct values here (paper): relationship 18 (13), marital status 5 (6), race 9 (9), education
folded to 11 (11), hours 95 (93), sex 2 (2), age 81 (73), occupation 529 (257), wage 804 (719).
Flags are drawn independently per column. The number of values in a categorical predicate is not
stated in the paper; here it is uniform. `ncp` divides by fixed seeds and tries again where LGB
freezes a class; `ncp rebalanced` moves the cut so that both sides have k rows; `loss` is not in
the paper."""


def make_source(path: Path) -> None:
    """The sample, with one flag column per semi-sensitive attribute and density."""
    flags = ", ".join(
        f"hash(row_number() over (order by o), '{column}') % 1000 < {10 * density}"
        f" as flag_{column}_{density}"
        for column in SEMI
        for density in DENSITIES
    )
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            f"""
            create table fold as
                select * from read_csv('{HIERARCHIES / "education_fold.csv"}', delim=';',
                    header=false, columns={{'value': 'varchar', 'folded': 'varchar'}});
            create table acs as
                with workers as (
                    select *, md5(household_id || '/' || person_no || '/2018') as o
                    from '{DATA / "acs2018_persons.parquet"}'
                    where occupation_code is not null and hours_per_week is not null
                        and wage_income > 0
                ),
                sample as (select * from workers order by o limit {ROWS})
                select relationship, marital_status, race, folded as education, hours_per_week,
                    sex, age, occupation_code, wage_income, {flags}
                from sample join fold on fold.value = sample.education
            """
        )
        rows = connection.execute("select count(*) from acs").fetchone()
        assert rows == (ROWS,), rows


def policy(k: int, l: int, density: int, options: dict[str, Any], nodes: bool) -> Policy:
    columns: dict[str, Any] = {name: {"role": "quasi"} for name in QUASI}
    for name in SEMI:
        rule = {"t_closeness": 0.2} if name == "sex" else {"l_diversity": l}
        when = f"flag_{name}_{density}"
        columns[name] = {"role": "quasi", "sensitive_when": when, "protect": rule}
    columns["wage_income"] = {"role": "sensitive", "protect": {"l_diversity": l}}
    for name in SEMI:
        for other in DENSITIES:
            columns[f"flag_{name}_{other}"] = {"role": "drop"}
    if nodes:
        for name in ("relationship", "marital_status", "race", "occupation_code"):
            columns[name]["hierarchy"] = {"file": str(HIERARCHIES / f"{name}.csv")}
        columns["education"]["hierarchy"] = {"file": str(HIERARCHIES / "education_folded.csv")}
    return Policy.model_validate(
        {
            "version": 1,
            "source": {"table": "acs"},
            "columns": columns,
            "privacy": {"k_anonymity": k},
            "algorithm": {"name": "lgb", **options},
            "publish": {"name": "release", "database": "release.duckdb"},
        }
    )


def measure(
    source: Path,
    variant: str,
    k: int,
    l: int,
    density: int,
    queries: int,
    *,
    nodes: bool = False,
    ranges: str = "paper",
) -> dict[str, Any]:
    """One release: its loss, and the error of random SUM queries on it."""
    made = policy(k, l, density, {**VARIANTS[variant], "ranges": ranges}, nodes)
    with tempfile.TemporaryDirectory() as folder:
        text = made.to_dict()
        text["publish"]["database"] = str(Path(folder) / "release.duckdb")
        release = anonymizer.run(Policy.model_validate(text), source, seed=1)
        record: dict[str, Any] = {
            "variant": variant,
            "k": k,
            "l": l,
            "flags %": density,
            "cells": "nodes" if nodes else "sets",
            "ranges": ranges,
        }
        wanted = ("ncp", "ncp_sum", "c_dm", "classes", "class_mean", "class_max")
        record |= {name: release.measures[name] for name in wanted}
        record |= {n: v for n, v in release.measures.items() if n.startswith("bucket_range")}
        record["seconds"] = release.measures["seconds_anonymizing"]
        if queries:
            record |= errors(source, release, density, queries)
    return record


def errors(source: Path, release: Any, density: int, queries: int) -> dict[str, float]:
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"attach '{release.database}' as r (read_only)")
        connection.execute(f"attach '{source}' as s (read_only)")
        connection.execute(
            "create table originals as select row_number() over () as row_ref, * from s.acs"
        )
        names = (*QUASI, *SEMI, "wage_income")
        found = query_error(
            lambda text: connection.execute(text).fetchall(),
            Table("release", "main", "r"),
            release.manifest.layout,
            Originals(
                Table("originals", "main", "memory"),
                {name: name for name in names},
                {name: f"flag_{name}_{density}" for name in SEMI},
            ),
            "wage_income",
            queries=queries,
            seed=7,
            table=lambda name: Table(name, "main", "memory"),
        )
    return {
        "error": found.expected_mean,
        "median error": found.expected_median,
        "sure error": found.sure_mean,
        "redrawn": found.redrawn,
    }


def experiments(
    source: Path, queries: int, ks: tuple[int, ...], ls: tuple[int, ...]
) -> Iterator[Any]:
    """Every k and l for the paper's two variants; the others, which do not depend on l, at one."""
    for variant in VARIANTS:
        compared = variant in ("mdp", "ncp")
        for k in ks:
            for l in ls if compared else ls[:1]:
                yield measure(source, variant, k, l, 20, queries if compared else 0)
            yield measure(source, variant, k, ls[0], 20, 0, nodes=True)
    for k in ks:
        yield measure(source, "mdp", k, ls[0], 20, 0, ranges="tight")
    for density in DENSITIES:
        if density != 20:
            for k in {min(ks), max(ks)}:
                for l in ls:
                    yield measure(source, "mdp", k, l, density, queries)


def report(records: list[dict[str, Any]], queries: int) -> None:
    plain = [r for r in records if r["cells"] == "sets" and r["ranges"] == "paper"]
    twenty = [r for r in plain if r["flags %"] == 20]
    first = min(r["l"] for r in plain)
    by_kl = {(r["variant"], r["k"], r["l"]): r for r in twenty}
    ks = sorted({r["k"] for r in twenty})
    compared = [
        {
            "k": k,
            "mdp NCP": by_kl["mdp", k, first]["ncp"],
            **{
                f"{v} / mdp": by_kl[v, k, first]["ncp"] / by_kl["mdp", k, first]["ncp"]
                for v in VARIANTS
                if v != "mdp"
            },
            **{f"{v} C_DM": by_kl[v, k, first]["c_dm"] for v in VARIANTS},
        }
        for k in ks
    ]
    nodes = [r for r in records if r["cells"] == "nodes"]
    tight = [r for r in records if r["ranges"] == "tight"]
    ranges = [
        {
            "k": r["k"],
            **{
                f"{name.removeprefix('bucket_range.')} ({kind})": row[name]
                for kind, row in (("paper", by_kl["mdp", r["k"], r["l"]]), ("tight", r))
                for name in r
                if name.startswith("bucket_range") and not name.endswith("sex")
            },
        }
        for r in tight
    ]
    same = all(
        len({r["c_dm"] for r in twenty if r["variant"] == v and r["k"] == k}) == 1
        for v in VARIANTS
        for k in ks
    )
    text = f"""# LGB: the paper's experiments rerun

{machine()}; {queries} random queries each.

{DIFFERENCES}

## Figs. 5 and 6: C_DM and NCP (20 % flags, l = {first})

NCP is the mean per quasi-identifying cell, with value sets.

{markdown_table(compared)}

C_DM depends on l: {"no, it is the same for every l" if same else "yes"}.

With hierarchy nodes instead of value sets:

{markdown_table(nodes, ["variant", "k", "ncp", "c_dm", "classes"])}

## Bucket ranges (share of the domain, mean over buckets)

{markdown_table(ranges)}

## Fig. 7: relative error of SUM queries

{markdown_table([r for r in twenty if "error" in r], ERROR_COLUMNS)}

## Fig. 8: density of flags, mdp

{markdown_table(density_rows(plain))}

![NCP](lgb_ncp.png) ![error](lgb_error.png) ![density](lgb_density.png)
"""
    (RESULTS / "lgb_paper.md").write_text(text)
    line_plot(
        "lgb_ncp.png",
        "NCP by k",
        "k",
        "mean NCP",
        series_of([r for r in twenty if r["l"] == first], lambda r: str(r["variant"]), "k", "ncp"),
    )
    line_plot(
        "lgb_error.png",
        "SUM query error (20 % flags)",
        "l",
        "mean relative error",
        series_of(
            [r for r in twenty if "error" in r and r["variant"] != "ncp rebalanced"],
            lambda r: f"{r['variant']}, k={r['k']}",
            "l",
            "error",
        ),
    )
    line_plot(
        "lgb_density.png",
        "SUM query error by share of flags (mdp, k=10)",
        "l",
        "mean relative error",
        series_of(
            [r for r in plain if r["variant"] == "mdp" and r["k"] == max(ks)],
            lambda r: f"{r['flags %']} %",
            "l",
            "error",
        ),
    )


def density_rows(plain: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows: dict[tuple[int, int], dict[str, Any]] = {}
    for r in plain:
        if r["variant"] == "mdp" and "error" in r:
            row = rows.setdefault((r["k"], r["l"]), {"k": r["k"], "l": r["l"]})
            row[f"{r['flags %']} %"] = r["error"]
    return [rows[key] for key in sorted(rows)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one k, two l, 50 queries")
    parser.add_argument("--queries", type=int, default=1000, help="random queries per release")
    asked = parser.parse_args()
    ks, ls, queries = ((5,), (5, 20), 50) if asked.quick else (KS, LS, asked.queries)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "acs.duckdb"
        make_source(source)
        records = []
        for record in experiments(source, queries, ks, ls):
            print({k: v for k, v in record.items() if not k.startswith("bucket")}, flush=True)
            records.append(record)
    write_csv("lgb_paper.csv", records)
    report(records, queries)


if __name__ == "__main__":
    main()

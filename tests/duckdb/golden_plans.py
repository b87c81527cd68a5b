"""Plans of settings of every kind, of hierarchies, and policies for a second release."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import anonymizer
from anonymizer.compile import Table
from anonymizer.hierarchy import stages
from anonymizer.steps import Plan
from tests.duckdb.golden_outlined import CHANGED, OUTLINED, PERSONS
from tests.duckdb.golden_settings import (
    DIVERSE,
    KEPT,
    ROWS,
    TWO,
    TYPES,
    UNIQUE,
    WHOLE,
    Setting,
    asked,
    hidden,
    sensitive,
)
from tests.duckdb.hierarchy_build import OPTIONS
from tests.runs import policy, source
from tests.schema import hospital

SEVERAL_TABLES: dict[str, Setting] = {
    "several_tables_everybody_reserved": {"privacy.ir_kl": {"k": 2, "l": 2}},
    "several_tables_named": {
        "tables.visits.source": {"query": "select *, 'Dr ' || ward as name from visits"},
        "tables.visits.columns.name": {"role": "keep"},
        "tables.visits.columns.diagnosis.acknowledge": ["national_id"],
    },
    "several_tables_ruled_events": {"tables.visits.columns.ward.protect": {"eir_l": 2}},
    "several_tables_two_events": {
        "privacy.knows": {"events": 2, "rows": True},
        "tables.visits.columns.diagnosis.protect": {"eir_l": 2},
        "tables.labs.orphans": "drop",
    },
    "several_tables_three_events": {
        "privacy.knows": {"events": 3, "sensitive": True},
        "tables.visits.columns.diagnosis.protect": {"t_closeness": 0.5},
        "tables.patients.columns.died.protect": {"t_closeness": 0.5},
    },
    "several_tables_lifted": {
        "tables.visits.source": {"query": "select *, 'N' as region from visits"},
        "tables.visits.columns.region": {"role": "quasi", "of": "person"},
        "tables.labs.source": {"query": "select *, 'A' as blood, 1 as twin from labs"},
        "tables.labs.columns.twin": {"role": "quasi", "of": "person"},
        "tables.labs.columns.blood": {"role": "quasi", "of": "person"},
    },
    "several_tables_remaining": {
        "privacy.knows": {"events": 1, "rows": True, "sensitive": True},
        "tables.labs.columns.value": {"role": "sensitive", "protect": {"l_diversity": 2}},
    },
    "several_tables_masked": {
        "privacy.knows": {"events": 1},
        "tables.visits.columns.day": {"role": "shift", "within": 30},
        "tables.labs.source": {"query": "select *, date '2020-01-01' as taken from labs"},
        "tables.labs.columns.taken": {"role": "shift", "within": 30},
        "tables.labs.columns.test": {"role": "token"},
    },
    "several_tables_rows": {
        "privacy.knows": {"rows": True},
        "tables.visits.columns.day": {"role": "drop"},
        "tables.visits.columns.ward": {"role": "keep"},
        "tables.labs.columns.test": {"role": "keep"},
        "tables.labs.columns.value": {"role": "top_code", "at_least": 2},
    },
}
"""Changes of the policy of the hospital."""

HIERARCHIES: dict[str, tuple[Setting, str, str]] = {
    "conventional_double": ({"builder": "conventional"}, "DOUBLE", "numeric"),
    "divisor_chain": ({"builder": "divisor", "min_width": 10}, "SMALLINT", "numeric"),
    "divisor_independent": ({"builder": "divisor", "mode": "independent"}, "DOUBLE", "numeric"),
    "divisor_given": ({"builder": "divisor", "divisors": [5, 10]}, "INTEGER", "numeric"),
    "cardinality": ({"builder": "cardinality", "min_width": 10}, "SMALLINT", "numeric"),
    "cardinality_double": ({"builder": "cardinality"}, "DOUBLE", "numeric"),
    "on_the_fly": ({"builder": "on_the_fly"}, "INTEGER", "numeric"),
    "intervals_wide": ({"builder": "intervals", "cuts": [20, 40]}, "BIGINT", "numeric"),
    "suffix": ({"builder": "suffix", "lengths": [4, 2]}, "VARCHAR", "categorical"),
    "taxonomy": ({"table": "codes"}, "VARCHAR", "categorical"),
}
"""Options, type and kind of a column whose hierarchy is built."""

SECOND_RELEASES: dict[str, Setting] = {
    "ledger_classes": asked(
        "mondrian",
        {**KEPT, "ill": sensitive(DIVERSE), "born": UNIQUE, "cost": UNIQUE},
        key="visit",
        ledger="private.duckdb",
    ),
    "ledger_m_invariance": {**OUTLINED["m_invariance"]},
    "ledger_buckets_of_persons": asked(
        "lgb",
        {
            **TWO,
            "sex": hidden(sensitive_when="age < 25"),
            "ill": sensitive(DIVERSE),
            "cost": UNIQUE,
        },
        ledger="private.duckdb",
        **PERSONS,
    ),
}
"""Policies of which a release is made again, so that the ledger compares."""


def hierarchy(name: str) -> Plan:
    """The steps that build a hierarchy."""
    spec, sql_type, kind = HIERARCHIES[name]
    options = OPTIONS.validate_python(spec)
    made = stages(
        1, sql_type, kind, options, column="x", base=Path(), resolve=lambda name: Table(name, "s")
    )
    return Plan(name, made)


def plans(folder: Path, every: int) -> Iterator[tuple[str, Plan]]:
    """Settings with their plans: the whole ones, and of the others one in so many.

    What is changed for a setting stays changed until the next one is asked for.
    """
    database = source(folder, TYPES, ROWS)
    (folder / "wards.csv").write_text("A;*\nB;*\n")
    (folder / "born.csv").write_text("2000-01-01;winter;*\n2000-03-07;spring;*\n")
    for name, given in (*WHOLE.items(), *[*OUTLINED.items()][::every]):
        with pytest.MonkeyPatch.context() as lowered:
            for limit in CHANGED.get(name, []):
                lowered.setattr(*limit)
            yield name, anonymizer.plan(policy(folder, **given), database)
    hospital.write(folder / "hospital.duckdb")
    for name, changes in [*SEVERAL_TABLES.items()][::every]:
        yield name, anonymizer.plan(hospital.policy(folder, changes), folder / "hospital.duckdb")

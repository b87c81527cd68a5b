"""Settings of which an outline is kept: the options of every algorithm, on the same small table."""

from __future__ import annotations

from functools import partial
from typing import Any

from anonymizer.algorithms.core import cells, encode, loss, partition
from anonymizer.algorithms.core import lower_bound as bound
from anonymizer.algorithms.core import proportional_assignment as dealing
from anonymizer.algorithms.lattice import recode
from anonymizer.algorithms.privacyfrost import search
from anonymizer.engines.duckdb import source
from anonymizer.source.profile import TableProfile
from tests.duckdb.golden_settings import (
    CLOSE,
    CLOSE_IN_ORDER,
    CLOSE_IN_TREE,
    DIVERSE,
    KEPT,
    LIMITS,
    PREFIX,
    TREES,
    TWO,
    UNKNOWN_OUT,
    Setting,
    asked,
    hidden,
    sensitive,
    tree,
)

PERSONS: Setting = {"person": "patient"}
POPULATION: Setting = {
    "k_map": {"k": 3, "population": "people"},
    "delta_presence": {"min": 0.1, "max": 1, "population": "people"},
}
MONDRIAN: Setting = {"name": "mondrian"}
LGB: Setting = {"name": "lgb"}
FULL: Setting = {"name": "full_domain"}
FROST: Setting = {"name": "privacyfrost"}
MSB: Setting = {"name": "msb"}
LEVELS: Setting = {"levels": {0: ["flu"], 2: ["gout"]}, "default_level": 1}
LEVEL_L: Setting = {"level_l": {0: 1, 1: 2, 2: 3}}
TYPED: Setting = {"publish": {"cells": "typed"}}

OUTLINED: dict[str, Setting] = {
    "grid": asked("mondrian", TWO, publish={"bounds": "grid"}),
    "grid_typed": asked("mondrian", TWO, publish={"bounds": "grid", "cells": "typed"}),
    "masks": asked(
        "mondrian",
        {
            "visit": "identifier",
            "patient": {"role": "token", "format": "like"},
            "age": {"role": "quasi", "top_code": {"at_least": 4}, "bottom_code": 18},
            "born": {"role": "shift", "within": 30},
            "ward": "redact",
            "cost": {"role": "noise", "amount": 3},
            "sex": {"role": "constant", "value": "hidden"},
            "ill": sensitive(),
        },
        person="patient",
        merge_person_rows=True,
    ),
    "masks_with_a_key": asked(
        "none",
        {
            "visit": {"role": "token", "format": "uuid"},
            "born": {"role": "round", "to": "month"},
            "cost": {"role": "round", "to": 2, "method": "random"},
            "zip": {"role": "null"},
        },
        key="visit",
        privacy={},
    ),
    "mondrian_driven_median": asked(
        {**MONDRIAN, "split": "median"},
        {
            "patient": "identifier",
            "ward": "identifier",
            "sex": "identifier",
            **TWO,
            "ill": sensitive(CLOSE),
            "cost": sensitive(CLOSE_IN_ORDER),
        },
        **TYPED,
    ),
    "mondrian_persons": asked(
        MONDRIAN,
        {"visit": "identifier", "age": UNKNOWN_OUT, "sex": UNKNOWN_OUT, "zip": tree()},
        key="visit",
        **PERSONS,
    ),
    "mondrian_identity_reserved": asked(
        {**MONDRIAN},
        {**TWO, "ill": "sensitive"},
        privacy={"ir_alpha_beta": LIMITS, "eir_l": 2},
        **PERSONS,
    ),
    "mondrian_population": asked(MONDRIAN, {"age": "quasi", "zip": tree()}, privacy=POPULATION),
    "mondrian_population_of_persons": asked(
        {**MONDRIAN, "split": "median", "strict": False},
        {**TWO, "ill": "sensitive"},
        privacy={**POPULATION, "eir_l": 2},
        **PERSONS,
    ),
    "mondrian_many_rows": asked(MONDRIAN, {**TWO, "zip": tree(), "sex": "quasi"}),
    "mondrian_many_values": asked(
        MONDRIAN, {"age": "quasi", "sex": "quasi", "ill": sensitive(DIVERSE)}
    ),
    "mondrian_refine": asked(
        {**MONDRIAN, "refine": "full"},
        {"age": UNKNOWN_OUT, "sex": UNKNOWN_OUT, "zip": tree(), "ward": "quasi"},
    ),
    "mondrian_parts": asked(
        {**MONDRIAN, "part_size": 4}, {**TWO, "zip": tree(), "ill": sensitive(DIVERSE)}
    ),
    "mondrian_parts_of_rows": asked(
        {**MONDRIAN, "split": "median", "strict": False, "part_size": 4},
        {
            **TWO,
            "ill": sensitive(CLOSE_IN_TREE, hierarchy=PREFIX),
            "cost": sensitive(CLOSE_IN_ORDER),
        },
    ),
    "mondrian_parts_of_persons": asked(
        {**MONDRIAN, "part_size": 4},
        {**TWO, "ill": "sensitive"},
        privacy={**POPULATION, "eir_l": 2},
        merge_person_rows=True,
        **PERSONS,
    ),
    "mondrian_refine_driven": asked({**MONDRIAN}, TWO),
    "mondrian_dealt": asked(MONDRIAN, {**TWO, "ill": sensitive(CLOSE)}),
    "mondrian_dealt_driven": asked(
        {**MONDRIAN, "refine": "full"},
        {**TWO, "cost": sensitive({**CLOSE_IN_ORDER, "beta_likeness": 1})},
    ),
    "lgb_ncp": asked(
        {**LGB, "generalization": "ncp", "rebalance": True},
        {
            "age": "quasi",
            "born": "quasi",
            "zip": hidden(hierarchy=PREFIX),
            "ill": sensitive({"t_closeness": 0.3}),
        },
        **TYPED,
    ),
    "lgb_to_the_letter": asked(
        {**LGB, "generalization": {"ncp": "literal"}},
        {"age": "quasi", "sex": "quasi", "ill": sensitive(DIVERSE)},
    ),
    "lgb_tight": asked(
        {**LGB, "generalization": "loss", "ranges": "tight"},
        {"age": "quasi", "sex": hidden({"t_closeness": 0.6}), "cost": sensitive(DIVERSE)},
    ),
    "lgb_promoted_persons": asked(
        {**LGB, "generalization": "ncp"},
        {"age": hidden(), "sex": "quasi", "ill": sensitive(CLOSE)},
        **PERSONS,
    ),
    "full_domain_ncp": asked(
        {**FULL, "optimum": "ncp"},
        {
            "age": tree("divisor", mode="independent"),
            "born": {"role": "quasi", "hierarchy": {"file": "born.csv"}},
            "ward": {"role": "quasi", "hierarchy": {"file": "wards.csv"}},
            "ill": sensitive(DIVERSE),
        },
        suppression_limit=0.1,
    ),
    "full_domain_c_dm_persons": asked(
        {**FULL, "optimum": "c_dm"}, {**TREES, "born": tree("date")}, **TYPED, **PERSONS
    ),
    "full_domain_t": asked(
        {**FULL, "optimum": "glm"},
        {**TREES, "ill": sensitive(CLOSE), "cost": sensitive(CLOSE_IN_ORDER)},
        suppression_limit=0.2,
    ),
    "full_domain_tree_distance": asked(
        {**FULL, "optimum": "dcp"},
        {
            "zip": tree("suffix"),
            "ill": sensitive({**CLOSE_IN_TREE, "delta_disclosure": 2}, hierarchy=PREFIX),
        },
        suppression_limit=0.1,
    ),
    "full_domain_distortion": asked(
        {**FULL, "optimum": "distortion"},
        {"age": tree("frequency"), "ward": tree("frequency")},
    ),
    "full_domain_budget_c_dm": asked(
        {**FULL, "budget": 40, "optimum": "c_dm"},
        {**TREES, "age": tree("divisor", mode="independent"), "ill": sensitive(CLOSE)},
        **PERSONS,
    ),
    "full_domain_budget_unbounded": asked(
        {**FULL, "budget": 9}, {"age": tree("divisor", mode="independent")}
    ),
    "privacyfrost_recursive": asked(
        {**FROST, "presampling_k": 2, "tie_break": "sum"},
        {"zip": tree(), "ward": {**tree("frequency"), "priority": 2.5}, "ill": sensitive(DIVERSE)},
    ),
    "privacyfrost_driven": asked(
        {**FROST, "score": "log"},
        {"age": tree("conventional"), "cost": sensitive(CLOSE_IN_ORDER)},
    ),
    "privacyfrost_suppressing": asked(
        {**FROST, "budget": 40, "tie_break": "sum"},
        {"zip": tree(), "ward": tree("frequency"), "ill": sensitive(CLOSE)},
        suppression_limit=0.1,
    ),
    "privacyfrost_budget": asked(
        {**FROST, "score": "log", "resume": False, "budget": 40},
        {"zip": tree(), "ward": tree("frequency")},
    ),
    "privacyfrost_full_domain": asked(
        {**FROST, "score": "eta", "d": 3.5, "partial_domain": False},
        {**TREES, "ill": sensitive(CLOSE_IN_TREE, hierarchy=PREFIX), "cost": sensitive(CLOSE)},
    ),
    "msb_exact_mbf": asked(
        {**MSB, "mode": "exact", "strategy": "mbf"},
        {
            **TWO,
            "ill": sensitive(DIVERSE),
            "ward": sensitive(DIVERSE, null_as_value=True),
            "cost": sensitive(DIVERSE),
        },
        privacy={},
    ),
    "msb_batched_msdcf_levels": asked(
        {**MSB, "strategy": "msdcf", "generalize": {"k": 2}},
        {"age": "quasi", "ill": sensitive(LEVELS), "sex": sensitive({"levels": {1: ["m", "f"]}})},
        privacy=LEVEL_L,
    ),
    "msb_persons": asked(
        MSB,
        {"age": "quasi", "ill": sensitive(DIVERSE), "cost": sensitive(DIVERSE)},
        privacy={},
        **PERSONS,
    ),
    "danonyir_eir_l": asked(
        "danonyir",
        {**TWO, "zip": tree(), "sex": "sensitive", "ill": "sensitive"},
        privacy={"eir_l": 2},
        suppression_limit=0.1,
        **PERSONS,
    ),
    "danonyir_alpha_beta": asked(
        {"name": "danonyir", "block_size": "all"},
        {"age": "quasi", "sex": "quasi", "cost": "quasi", "ill": "sensitive"},
        privacy={"eir_alpha_beta": LIMITS, "eir_l": 2},
        merge_person_rows=True,
        **PERSONS,
    ),
    "geneir_alpha_beta": asked(
        "geneir",
        {"sex": tree("frequency"), "ill": "sensitive"},
        privacy={"ir_alpha_beta": LIMITS, "eir_l": 2},
        **PERSONS,
    ),
    "geneir_two_diseases": asked(
        "geneir",
        {
            "age": tree("conventional"),
            "zip": tree("suffix"),
            "ill": "sensitive",
            "ward": sensitive(null_as_value=True),
        },
        privacy={"eir_l": 2},
        **PERSONS,
    ),
    "append_only": asked(
        "mondrian",
        {**KEPT, "born": "quasi", "ill": "sensitive"},
        key="visit",
        ledger="private.duckdb",
        republish={"append_only": True},
    ),
    "follow": asked(
        "mondrian",
        {**KEPT, "born": "quasi", "ill": sensitive({"l_diversity": 2})},
        key="visit",
        ledger="private.duckdb",
        republish={"follow": True, "wait": 2},
    ),
    "m_invariance": asked(
        "mondrian",
        {**KEPT, "ill": sensitive({"l_diversity": 3})},
        privacy={},
        key="visit",
        ledger="private.duckdb",
        republish={"m": 3},
    ),
    "m_invariance_persons": asked(
        "mondrian",
        {**TWO, "zip": tree(), "sex": "quasi", "ill": sensitive({"l_diversity": 3})},
        privacy={},
        ledger="private.duckdb",
        republish={"m": 3},
        **PERSONS,
    ),
    "lgb_weights": asked(
        {**LGB, "generalization": "ncp"},
        {"age": {"role": "quasi", "weight": 4}, "zip": tree(), "ill": sensitive(DIVERSE)},
    ),
    "lgb_parts": asked(
        {**LGB, "generalization": "ncp", "part_size": 4},
        {"age": hidden(), "zip": tree(), "sex": hidden(), "ill": sensitive(DIVERSE)},
    ),
    "lgb_parts_of_persons": asked(
        {**LGB, "part_size": 4},
        {"age": hidden(), "sex": "quasi", "ill": "sensitive"},
        privacy={"k_anonymity": 2, "ir_kl": {"k": 2, "l": 2}},
        **PERSONS,
    ),
}

DRIVEN: tuple[Any, str, Any] = (source, "TableProfile", partial(TableProfile, recursive=False))
"""As on an engine whose recursive statements keep no row per key."""
CHANGED: dict[str, list[tuple[Any, str, Any]]] = {
    "mondrian_many_rows": [
        (partition, "AT_ONCE", 8),
        (loss, "MOST_BITS", 1),
        (cells, "WORD_BITS", 1),
        (bound, "NEAREST", 1),
        (bound, "FEWEST_SAMPLED", 2),
    ],
    "mondrian_many_values": [(partition, "MANY_VALUES", 4), (encode, "JOINED_AT_ONCE", 1)],
    "mondrian_driven_median": [DRIVEN],
    "mondrian_refine_driven": [DRIVEN],
    "mondrian_dealt_driven": [DRIVEN],
    "mondrian_parts": [(bound, "MOST_UNITS", 8)],
    "m_invariance_persons": [(encode, "JOINED_AT_ONCE", 1)],
    "mondrian_dealt": [(dealing, "FEW_VALUES", 2)],
    "mondrian_identity_reserved": [DRIVEN, (encode, "WORD_LIMIT", 8)],
    "full_domain_c_dm_persons": [(encode, "WORD_LIMIT", 8)],
    "full_domain_t": [(recode, "WORD", 6)],
    "privacyfrost_driven": [(search, "RECURSIVE_UP_TO", 0)],
    "privacyfrost_recursive": [(recode, "WORD", 6)],
    "privacyfrost_suppressing": [(recode, "WORD", 6)],
    "privacyfrost_budget": [(recode, "WORD", 6)],
}
"""Limits that a setting lowers, so that this table is a large one."""

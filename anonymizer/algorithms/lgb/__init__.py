"""LGB (Li and He 2022): local generalization and bucketization of semi-sensitive attributes."""

from anonymizer.algorithms.descriptor import (
    COMPOSITION,
    DEFINETTI,
    DOWNCODING,
    PART_SIZE,
    REFINEMENT,
    SKEWNESS,
    Algorithm,
)
from anonymizer.policy.algorithms import Lgb

ALGORITHM = Algorithm(
    options=Lgb,
    compiler="anonymizer.algorithms.lgb.compiler:compile_lgb",
    towards=frozenset({"size", "protection", "persons"}),
    distances=frozenset({"equal", "ordered"}),
    words="Local generalization and bucketization: quasi-identifiers are generalized class by"
    " class, sensitive cells are mixed in buckets of different values (Li and He 2022).",
    attacks=(
        COMPOSITION,
        DOWNCODING,
        REFINEMENT,
        DEFINETTI,
        SKEWNESS,
        "one known sensitive value (Li and He 2022, Fig. 2): may leave fewer than k rows",
        "visible flags: which cells are sensitive is published and may itself say something",
    ),
    note=", with buckets",
    limits=(PART_SIZE,),
)

"""Multi-sensitive bucketization: several sensitive attributes with security levels."""

from anonymizer.algorithms.descriptor import (
    COMPOSITION,
    DEFINETTI,
    MINIMALITY,
    SKEWNESS,
    Algorithm,
    lacking,
)
from anonymizer.policy.algorithms import Msb

ALGORITHM = Algorithm(
    options=Msb,
    compiler="anonymizer.algorithms.msb.compiler:compile_msb",
    towards=frozenset({"size", "l_diversity", "levels"}),
    words="Multi-sensitive bucketization: rows are put into groups whose sensitive values are"
    " published apart.",
    attacks=(COMPOSITION, DEFINETTI, MINIMALITY, SKEWNESS),
    lacking=lacking("its tables of values could not take their places in one step", ("spark",)),
)

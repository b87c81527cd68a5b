"""Multi-sensitive bucketization: several sensitive attributes with security levels."""

from anonymizer.algorithms.descriptor import (
    COMPOSITION,
    DEFINETTI,
    MINIMALITY,
    SKEWNESS,
    Algorithm,
)
from anonymizer.policy.algorithms import Msb

ALGORITHM = Algorithm(
    options=Msb,
    compiler="anonymizer.algorithms.msb.compiler:compile_msb",
    towards=frozenset({"size", "l_diversity", "levels"}),
    words="Multi-sensitive bucketization: rows are put into groups whose sensitive values are"
    " published apart.",
    attacks=(COMPOSITION, DEFINETTI, MINIMALITY, SKEWNESS),
)

"""PrivacyFrost2 (Kiyomoto and Miyake 2014): a score-driven search of the generalization lattice."""

from anonymizer.algorithms.descriptor import (
    COMPOSITION,
    DOWNCODING,
    MINIMALITY,
    REFINEMENT,
    SKEWNESS,
    Algorithm,
)
from anonymizer.policy.algorithms import PrivacyFrost

ALGORITHM = Algorithm(
    options=PrivacyFrost,
    compiler="anonymizer.algorithms.privacyfrost.compiler:compile_privacyfrost",
    towards=frozenset({"size", "protection", "share", "units"}),
    distances=frozenset({"equal", "ordered", "hierarchical"}),
    words="PrivacyFrost: full-domain levels are refined by priority, where the guarantees allow.",
    attacks=(COMPOSITION, DOWNCODING, REFINEMENT, MINIMALITY, SKEWNESS),
)

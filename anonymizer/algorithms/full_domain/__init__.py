"""Full-domain generalization: every attribute at one level of its hierarchy."""

from anonymizer.algorithms.attacks import COMPOSITION, DOWNCODING, MINIMALITY, SKEWNESS
from anonymizer.algorithms.descriptor import Algorithm
from anonymizer.policy.algorithms import FullDomain

ALGORITHM = Algorithm(
    options=FullDomain,
    compiler="anonymizer.algorithms.full_domain.compiler:compile_full_domain",
    towards=frozenset({"size", "protection", "share"}),
    distances=frozenset({"equal", "ordered", "hierarchical"}),
    words="Full-domain recoding: every column is published on one level of its hierarchy.",
    attacks=(COMPOSITION, DOWNCODING, MINIMALITY, SKEWNESS),
)

"""No algorithm: every row is published, and only changed as its columns specify."""

from anonymizer.algorithms.attacks import COMPOSITION, JOINING, SINGLING_OUT
from anonymizer.algorithms.descriptor import Algorithm
from anonymizer.policy.algorithms import NoAlgorithm

ALGORITHM = Algorithm(
    options=NoAlgorithm,
    compiler="anonymizer.algorithms.none.compiler:compile_none",
    towards=frozenset(),
    words="No algorithm: every row is published, in random order; nothing is generalized.",
    attacks=(JOINING, SINGLING_OUT, COMPOSITION),
)

"""The algorithm `danonyir`: clustering of persons under identity-reserved guarantees.

Source: Wang, Du, Luo, Li, "Two privacy-preserving approaches for data publishing with identity
reservation" (2018), algorithms 1 to 7.
"""

from anonymizer.algorithms.attacks import COMPOSITION, MINIMALITY, REFINEMENT, SKEWNESS
from anonymizer.algorithms.descriptor import Algorithm, lacking
from anonymizer.policy.algorithms import Danonyir

ALGORITHM = Algorithm(
    options=Danonyir,
    compiler="anonymizer.algorithms.danonyir.compiler:compile_danonyir",
    towards=frozenset({"size", "persons"}),
    merges_persons=True,
    words="Clustering of persons with all of their records under an identity-reserved model"
    " (Wang et al. 2018).",
    attacks=(COMPOSITION, REFINEMENT, MINIMALITY, SKEWNESS),
    lacking=lacking("its statements use lists and structs"),
)

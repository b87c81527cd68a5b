"""The algorithm `geneir`: bottom-up generalization of persons under identity-reserved guarantees.

Source: Tong, Tao, Tang, Yang, "Identity-reserved anonymity in privacy preserving data publishing"
(2010), as Wang et al. (2018, §5.1 and §6.1.3) describe it.
"""

from anonymizer.algorithms.attacks import COMPOSITION, DOWNCODING, MINIMALITY, SKEWNESS
from anonymizer.algorithms.descriptor import Algorithm, lacking
from anonymizer.policy.algorithms import Geneir

ALGORITHM = Algorithm(
    options=Geneir,
    compiler="anonymizer.algorithms.geneir.compiler:compile_geneir",
    towards=frozenset({"size", "persons"}),
    words="Generalization of persons with all of their records under an identity-reserved"
    " model (Wang et al. 2018).",
    attacks=(COMPOSITION, DOWNCODING, MINIMALITY, SKEWNESS),
    lacking=lacking("its statements use lists and structs"),
)

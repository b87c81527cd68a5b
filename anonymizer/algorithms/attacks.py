"""Known attacks on the releases of some algorithms, as certificates describe them.

`verify` compares them with those in the manifest: if the wording changes, older releases fail.
"""

COMPOSITION = (
    "composition (Ganta et al. 2008): a second release of overlapping persons can be intersected"
)
DOWNCODING = (
    "downcoding (Cohen 2022): minimal generalizations can be refined from the release's own rules"
)
REFINEMENT = "combinatorial refinement (2025): local recoding can be narrowed without other data"
MINIMALITY = (
    "minimality (Wong et al. 2007): cuts that depend on sensitive values tell something of them"
)
DEFINETTI = (
    "deFinetti (Kifer 2009): a model of who has which value can be learned from bucketized data"
)
SKEWNESS = "skewness and similarity (Li et al. 2007): different values may be alike in meaning"
JOINING = (
    "joining: every column that is published as it is can be joined on, with another table or with"
    " what somebody knows"
)
SINGLING_OUT = (
    "singling out: no row is made like another, so that a few known values tell whose row it is"
)

"""Mondrian: multidimensional top-down partitioning (LeFevre et al. 2006), classes in parallel."""

from anonymizer.algorithms.attacks import COMPOSITION, DOWNCODING, MINIMALITY, REFINEMENT, SKEWNESS
from anonymizer.algorithms.descriptor import PART_SIZE, Algorithm, Limit
from anonymizer.policy.algorithms import Mondrian

ALGORITHM = Algorithm(
    options=Mondrian,
    compiler="anonymizer.algorithms.mondrian.compiler:compile_mondrian",
    towards=frozenset({"size", "protection", "share", "persons", "population"}),
    distances=frozenset({"equal", "ordered", "hierarchical"}),
    merges_persons=True,
    words="Mondrian: the table is cut again and again along one column at a time, while both"
    " parts keep the guarantees; the rows of a part get the same cells (LeFevre et al. 2006).",
    attacks=(COMPOSITION, DOWNCODING, REFINEMENT, MINIMALITY, SKEWNESS),
    limits=(
        Limit("loop", "driven"),
        Limit(
            "loop",
            "recursive",
            {
                "postgres": (
                    "no recursive statement there keeps one row per key",
                    "loop: auto, which gives the same classes",
                )
            },
        ),
        PART_SIZE,
    ),
)

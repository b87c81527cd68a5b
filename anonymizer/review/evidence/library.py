"""Figures and sentences of the report that several standards ask for."""

from __future__ import annotations

from anonymizer.algorithms.registry import ALGORITHMS
from anonymizer.measure.proofs import RECORDS
from anonymizer.review.evidence.facts import Facts
from anonymizer.review.evidence.parts import Figure, Sentences


def guarantees(facts: Facts) -> Sentences:
    """The guarantees of the policy."""
    return facts.report.guarantees


def method(facts: Facts) -> Sentences:
    """Description of the algorithm."""
    return (ALGORITHMS[facts.report.policy.algorithm.name].words,)


def observer(facts: Facts) -> Sentences:
    """The knowledge that the risk figures assume of the observer."""
    return (f"The figures of risk are for an observer who knows {facts.report.known}.",)


def limits(facts: Facts) -> Sentences:
    """What the policy does not guarantee."""
    attacks = (f"Not prevented: {said}" for said in facts.report.attacks)
    return (facts.report.certificate, *attacks)


RISK = Figure("Largest risk of re-identification (1 / smallest class)", "risk.after.prosecutor_max")
RISKS = (
    RISK,
    Figure("Average risk of re-identification", "risk.after.prosecutor_average"),
    Figure(
        "Smallest equivalence class, in {unit}", "risk.after.k", of_persons="risk.after.person_k"
    ),
    Figure("Equivalence classes", "risk.after.classes"),
    Figure("Share of {unit} alone in their class", "risk.after.unique_share"),
    Figure(
        "Complete records that the cells prove and fewer than k {unit} may share",
        f"measures.{RECORDS}",
    ),
)
RISKS_BEFORE = (
    Figure("Largest risk in the source", "risk.before.prosecutor_max"),
    Figure("Average risk in the source", "risk.before.prosecutor_average"),
    Figure("Share of {unit} of the source alone in their class", "risk.before.unique_share"),
)
UTILITY = (
    Figure("Rows published", "measures.rows"),
    Figure("Share of {unit} left out", "measures.suppressed_share"),
    Figure("Information lost in a generalized cell, on average (NCP, 0 to 1)", "measures.ncp"),
    Figure("Error of random count queries, median", "query_error.median"),
)
ATTACKED = (
    Figure("Persons or rows that the attacks looked for", "attack.linking.targets"),
    Figure("Largest chance of an attack to pick the right one", "attack.linking.most"),
    Figure("Share found on average", "attack.linking.success"),
)

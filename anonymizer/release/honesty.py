"""Honest words: what a certificate of this tool says, and which attacks the models do not stop."""

from __future__ import annotations

from anonymizer.policy import Msb, Policy

CERTIFICATE = (
    "Syntactic guarantee under the stated knowledge; not differential privacy. It says how many"
    " rows, persons or values an observer cannot tell apart who knows the quasi-identifiers."
)

_COMPOSITION = (
    "composition (Ganta et al. 2008): a second release of overlapping persons can be intersected"
)
_DOWNCODING = (
    "downcoding (Cohen 2022): minimal generalizations can be refined from the release's own rules"
)
_REFINEMENT = "combinatorial refinement (2025): local recoding can be narrowed without other data"
_MINIMALITY = (
    "minimality (Wong et al. 2007): cuts that depend on sensitive values tell something of them"
)
_DEFINETTI = (
    "deFinetti (Kifer 2009): a model of who has which value can be learned from bucketized data"
)
_SKEWNESS = "skewness and similarity (Li et al. 2007): different values may be alike in meaning"

PRESENCE = (
    "presence: quasi-identifiers are published exactly, so who knows those of a person sees whether"
    " the person is in the table; generalize: {k: 5} protects that as well"
)

ATTACKS = {
    "mondrian": (_COMPOSITION, _DOWNCODING, _REFINEMENT, _MINIMALITY, _SKEWNESS),
    "lgb": (
        _COMPOSITION,
        _DOWNCODING,
        _REFINEMENT,
        _DEFINETTI,
        _SKEWNESS,
        "one known sensitive value (Li and He 2023, Fig. 2): may leave fewer than k rows",
        "visible flags: which cells are sensitive is published and may itself say something",
    ),
    "full_domain": (_COMPOSITION, _DOWNCODING, _MINIMALITY, _SKEWNESS),
    "privacyfrost": (_COMPOSITION, _DOWNCODING, _REFINEMENT, _MINIMALITY, _SKEWNESS),
    "msb": (
        _COMPOSITION,
        _DEFINETTI,
        _MINIMALITY,
        _SKEWNESS,
    ),
    "danonyir": (_COMPOSITION, _REFINEMENT, _MINIMALITY, _SKEWNESS),
    "geneir": (_COMPOSITION, _DOWNCODING, _MINIMALITY, _SKEWNESS),
}


def certificate() -> str:
    """The sentence that stands with every release."""
    return CERTIFICATE


def known_attacks(policy: Policy) -> list[str]:
    """Attacks on the model that the release does not stop."""
    presence = (PRESENCE,) if presence_disclosed(policy) else ()
    return [*ATTACKS[policy.algorithm.name], *presence]


def presence_disclosed(policy: Policy) -> bool:
    """Whether quasi-identifiers are published exactly, which shows who is in the table."""
    return isinstance(policy.algorithm, Msb) and policy.algorithm.generalize is None

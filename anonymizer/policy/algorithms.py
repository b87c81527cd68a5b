"""The algorithms and their options: one model each, told apart by `name`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from anonymizer.policy.frozen import TAG, Options, fail
from anonymizer.policy.suggest import closest
from anonymizer.policy.values import AtLeastTwo, Positive, PositiveNumber, Whole


class Mondrian(Options):
    """Multi-dimensional top-down partitioning (LeFevre et al. 2006)."""

    name: Literal["mondrian"]
    split: Literal["loss", "median"] = "loss"
    """`loss`: the admissible cut that saves most information loss; `median`: the paper's."""
    compare: Positive = 4
    """With `loss`: so many cuts of a class, the best of each attribute, are compared by what they
    save over all attributes; 1: by what they save in the attribute that is cut, which is also the
    way under rules that compare a class with the whole table, and under rules on persons."""
    refine: Annotated[int, Field(ge=0, le=20)] = 0
    """Rounds of a last pass that moves rows to neighbouring classes while that loses less; only
    where k_anonymity is all that is asked of classes."""
    strict: bool = True
    """True: equal values stay together (the paper's strict partitioning); false: rows equal to
    the median may go to either side."""
    loop: Literal["auto", "recursive", "driven"] = "auto"
    """One recursive statement, or one statement per level; `auto` chooses by size. The classes
    are the same."""


class Lgb(Options):
    """Local generalization and bucketization, with sensitivity cell by cell."""

    name: Literal["lgb"]
    generalization: Literal["mdp", "ncp", "loss"] = "mdp"
    """Multi-dimensional partitioning (Algorithm 3), partitioning by NCP (Algorithm 4), or
    loss-driven cuts."""
    small_patterns: Literal["promote", "suppress"] = "promote"
    """Rows of flag patterns held by fewer than k: flag more of their cells, or suppress them."""
    rebalance: bool = False
    """Move tuples between groups after partitioning (only with generalization ncp)."""
    ranges: Literal["paper", "tight"] = "paper"
    """Bucket ranges as in Algorithm 2, or tighter ones by cuts between equal values."""


class FullDomain(Options):
    """Full-domain generalization: every node of the lattice is judged."""

    name: Literal["full_domain"]
    optimum: Literal["ncp", "glm", "c_dm", "dcp", "distortion"] = "ncp"
    """The measure that the published node minimizes among those that hold."""


class PrivacyFrost(Options):
    """PrivacyFrost2: score-driven full-domain search with priorities."""

    name: Literal["privacyfrost"]
    score: Literal["basic", "eta", "log"] = "basic"
    """The scoring function."""
    d: PositiveNumber = 2.0
    """Threshold of the eta score; without effect on the others."""
    p: Whole = 0
    """Margin over k at which the pre-computation stops."""
    presampling_k: Positive = 1
    """Rows of groups smaller than this at the pre-sampling levels are removed (k'); 1: none."""
    partial_domain: bool = True
    """De-generalize single classes at the end."""
    tie_break: Literal["none", "sum"] = "none"
    """Between equal scores: the first by priority (the paper's), or the larger sum of distinct
    values."""


class GeneralizeToo(Options):
    """Generalize the quasi-identifiers as well, so that membership is protected."""

    k: AtLeastTwo
    """Smallest class of equal quasi-identifiers."""


class Msb(Options):
    """Several sensitive attributes, separated into groups: multi-sensitive bucketization."""

    name: Literal["msb"]
    strategy: Literal["mbf", "msdcf", "mmdcf"] = "mmdcf"
    """Selection order: maximal bucket, maximal single- or multi-dimension capacity first."""
    security_level_first: bool = False
    """Order by security level first (the MSLF variants); default: true where columns have
    levels."""
    mode: Literal["exact", "batched"] = "batched"
    """The paper's greedy one record at a time, or many groups per statement."""
    generalize: GeneralizeToo | None = None
    """Generalize quasi-identifiers too; without it they are published exactly."""
    allow_singletons: bool = False
    """Allow groups of one record, all of whose values are of level 0."""


def _block_size(given: object) -> object:
    if given == "all" or (isinstance(given, int) and not isinstance(given, bool) and given > 1):
        return given
    raise fail("must be a whole number of persons or all", allowed="2 or more, or all")


class Danonyir(Options):
    """DAnonyIR: clustering of persons for the identity-reserved models."""

    name: Literal["danonyir"]
    block_size: Annotated[int | Literal["all"], BeforeValidator(_block_size)] = 128
    """Persons per block of similar quasi-identifiers; `all` is the paper's algorithm."""


class Geneir(Options):
    """GeneIR: bottom-up generalization for the identity-reserved models."""

    name: Literal["geneir"]


ALGORITHMS: dict[str, type[Options]] = {
    "mondrian": Mondrian,
    "lgb": Lgb,
    "full_domain": FullDomain,
    "privacyfrost": PrivacyFrost,
    "msb": Msb,
    "danonyir": Danonyir,
    "geneir": Geneir,
}


def _named(given: object) -> object:
    if isinstance(given, Options):
        return given
    if not isinstance(given, Mapping):
        raise fail(
            "must be a mapping", allowed=", ".join(ALGORITHMS), hint="algorithm: {name: mondrian}"
        )
    if "name" not in given:
        raise fail("is missing", at="name", allowed=", ".join(ALGORITHMS))
    name = given["name"]
    if not isinstance(name, str) or name not in ALGORITHMS:
        hint = closest(name, ALGORITHMS)
        raise fail("is not an algorithm", at="name", allowed=", ".join(ALGORITHMS), hint=hint)
    return given


def _tag(given: Any) -> str:
    return TAG + str(given["name"] if isinstance(given, Mapping) else given.name)


Algorithm = Annotated[
    Annotated[Mondrian, Tag(TAG + "mondrian")]
    | Annotated[Lgb, Tag(TAG + "lgb")]
    | Annotated[FullDomain, Tag(TAG + "full_domain")]
    | Annotated[PrivacyFrost, Tag(TAG + "privacyfrost")]
    | Annotated[Msb, Tag(TAG + "msb")]
    | Annotated[Danonyir, Tag(TAG + "danonyir")]
    | Annotated[Geneir, Tag(TAG + "geneir")],
    Discriminator(_tag),
    BeforeValidator(_named),
]
"""Any of the algorithms, told apart by `name`."""

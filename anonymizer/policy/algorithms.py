"""The algorithms and their options: one model each, discriminated by `name`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, get_args

from pydantic import BeforeValidator, Discriminator, Field, Tag

from anonymizer.policy.paths import closest
from anonymizer.policy.values import TAG, AtLeastTwo, Options, Positive, PositiveNumber, Whole, fail

# Properties of every algorithm that the policy layer needs.


class AlgorithmOptions(Options):
    """Properties of every algorithm that a policy uses; the rest is in `anonymizer.algorithms`."""

    if TYPE_CHECKING:
        name: str

    values_in: ClassVar[Literal["class", "bucket", "group"]] = "class"
    """The place of a protected column's values: in the rows of their class, in buckets
    of the column, or in groups with a separate table."""
    over_levels: ClassVar[bool] = False
    """True if every quasi-identifier is published on a level of its hierarchy."""
    classless: ClassVar[bool] = False
    """True if rows form no classes or groups, so that no guarantee can hold."""
    clusters_persons: ClassVar[bool] = False
    """True if it completes classes by an identity-reserved guarantee, which it therefore needs."""

    @classmethod
    def algorithm(cls) -> str:
        """The algorithm's name."""
        return str(get_args(cls.model_fields["name"].annotation)[0])

    @property
    def promises(self) -> Mapping[str, Any]:
        """Table guarantees that the options ask for, by name."""
        return {}

    @property
    def may_divide(self) -> bool:
        """True if a large table is solved in parts."""
        return getattr(self, "part_size", "all") != "all"

    @property
    def must_divide(self) -> bool:
        """True if the table has to be solved in parts."""
        return isinstance(getattr(self, "part_size", None), int)

    @property
    def exact(self) -> bool:
        """True if quasi-identifiers are published unchanged."""
        return False

    @property
    def unweighted(self) -> str | None:
        """The alternative if weights have no effect; None: they have."""
        return "algorithm: {name: mondrian}"


def _effort(given: object) -> object:
    """Report anything but a keyword or a number of rounds with one message."""
    rounds = isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= 20
    if rounds or given in ("auto", "full"):
        return given
    raise fail("is no way to refine classes", allowed="auto, full, or 0 to 20 rounds of swaps")


def _part_size(given: object) -> object:
    number = isinstance(given, int) and not isinstance(given, bool) and given >= 2
    if number or given in ("auto", "all"):
        return given
    raise fail("is no size of a part", allowed="auto, all, or 2 or more distinct tuples")


PartSize = Annotated[
    Annotated[int, Field(ge=2)] | Literal["auto", "all"], BeforeValidator(_part_size)
]


class Mondrian(AlgorithmOptions):
    """Multi-dimensional top-down partitioning (LeFevre et al. 2006)."""

    name: Literal["mondrian"]
    split: Literal["loss", "median"] = "loss"
    """`loss`: the admissible cut that reduces the information loss most; `median`: as in the paper.
    """
    compare: Positive = 4
    """With `loss`: how many cuts of a class, the best of each attribute, are compared by their gain
    over all attributes. 1: only the gain in the attribute that is cut counts, as it always does
    under rules that compare a class with the whole table and under rules on persons."""
    refine: Annotated[
        Annotated[int, Field(ge=0, le=20)] | Literal["auto", "full"], BeforeValidator(_effort)
    ] = "auto"
    """A last pass that moves rows to better classes: `auto` takes about as long as the cuts, `full`
    continues until nothing is saved, a number sets the rounds of swaps, 0 skips the pass. Not under
    guarantees on persons (`ir_`, `eir_`) or against a population. Under a rule that compares
    classes with the whole table, rows with equal values may be separated."""
    strict: bool = True
    """True: equal values stay together (the paper's strict partitioning); false: rows equal to
    the median may go to either side."""
    part_size: PartSize = "auto"
    """Distinct tuples per part: a larger table is divided by coarse cuts, and every part is solved
    separately, so that memory is bounded by the size of a part. `auto`: 250,000, for tables of more
    than 500,000 distinct tuples; `all`: the table is solved in one piece, as is every table whose
    rows are dealt to classes under a rule that compares classes with the table."""

    @property
    def unweighted(self) -> str | None:
        return None if self.split == "loss" else "algorithm: {name: mondrian, split: loss}"

    @property
    def must_refine(self) -> bool:
        """True if the last pass is required, instead of made only where possible."""
        return self.refine not in (0, "auto")


class ToTheLetter(Options):
    """An algorithm as printed, for comparisons with its paper: sequential, and for small tables."""

    ncp: Literal["literal"]
    """Tuples one by one, in random order; seeds that are the farthest; a class is whole as soon as
    one part has fewer than k rows. At most 1,000 distinct tuples."""


class Lgb(AlgorithmOptions):
    """Local generalization and bucketization, with sensitivity cell by cell."""

    name: Literal["lgb"]
    values_in = "bucket"
    generalization: Literal["mdp", "ncp", "loss"] | ToTheLetter = "mdp"
    """Multi-dimensional partitioning (Algorithm 3), partitioning by NCP (Algorithm 4; as printed:
    {ncp: literal}), or loss-driven cuts."""
    small_patterns: Literal["promote", "suppress"] = "promote"
    """Rows whose pattern of sensitive cells fewer than k rows share: make more of their cells
    sensitive, or suppress them."""
    rebalance: bool = False
    """Move tuples between groups after partitioning (only with generalization ncp)."""
    ranges: Literal["paper", "tight"] = "paper"
    """Bucket ranges as in Algorithm 2, or tighter ones by cuts between equal values."""
    part_size: PartSize = "auto"
    """Distinct tuples per part, as with mondrian; classes are made per part, buckets over the whole
    column. `auto`: 250,000, for tables of more than 500,000 distinct tuples; `all`: the table is
    solved in one piece."""

    @property
    def unweighted(self) -> str | None:
        return "generalization: ncp, or loss" if self.generalization == "mdp" else None

    @property
    def literal(self) -> bool:
        """True for Algorithm 4 as printed."""
        return isinstance(self.generalization, ToTheLetter)

    @property
    def by_seeds(self) -> bool:
        """True for groups that grow from two seeds."""
        return self.generalization == "ncp" or self.literal


class FullDomain(AlgorithmOptions):
    """Full-domain generalization: the best node of the lattice."""

    name: Literal["full_domain"]
    over_levels = True
    optimum: Literal["ncp", "glm", "c_dm", "dcp", "distortion"] = "ncp"
    """The measure that the published node minimizes among the nodes that satisfy the guarantees."""
    budget: Positive | None = None
    """Judge at most this many nodes of the lattice, half of them for a bound of the loss, and
    publish the best one found. Default: as many as prove the optimum; 1,000 if the lattice has more
    than 1,000,000 nodes."""

    @property
    def unweighted(self) -> str | None:
        return "optimum: ncp, glm or distortion" if self.optimum in ("c_dm", "dcp") else None


class PrivacyFrost(AlgorithmOptions):
    """PrivacyFrost2: score-driven full-domain search with priorities."""

    name: Literal["privacyfrost"]
    over_levels = True
    score: Literal["basic", "eta", "log"] = "basic"
    """The scoring function."""
    d: PositiveNumber = 2.0
    """Threshold of the eta score; no effect on the others."""
    p: Whole = 0
    """Margin over k at which the pre-computation stops."""
    presampling_k: Positive = 1
    """Rows of groups smaller than this at the pre-sampling levels are removed (k'); 1: none."""
    partial_domain: bool = True
    """Specialize single classes at the end."""
    tie_break: Literal["none", "sum"] = "none"
    """Between equal scores: the first by priority (the paper's), or the larger sum of distinct
    values."""
    resume: bool = True
    """Where the escape finds no table although a finer one than the best holds, take that one and
    go on from there. `false` stops, as Fig. 3 of the paper does."""
    budget: Positive | None = None
    """Continue the search from its result and judge at most this many more tables, half of them for
    a bound of the score. Default: it ends there."""

    @property
    def unweighted(self) -> str | None:
        return "priority, which is the weight of a column in the score of privacyfrost"


class GeneralizeToo(Options):
    """Generalize the quasi-identifiers as well, so that membership is protected."""

    k: AtLeastTwo
    """Smallest class of equal quasi-identifiers."""


class Msb(AlgorithmOptions):
    """Several sensitive attributes, separated into groups: multi-sensitive bucketization."""

    name: Literal["msb"]
    values_in = "group"
    strategy: Literal["mbf", "msdcf", "mmdcf"] = "mmdcf"
    """Selection order: maximal bucket, maximal single- or multi-dimension capacity first."""
    security_level_first: bool = False
    """Order by security level first (the MSLF variants); default: true if columns have levels."""
    mode: Literal["exact", "batched"] = "batched"
    """The paper's greedy algorithm, one record at a time, or many groups per statement."""
    generalize: GeneralizeToo | None = None
    """Generalize quasi-identifiers too; without it they are published exactly."""
    allow_singletons: bool = False
    """Allow groups of one record, all of whose values are of level 0."""

    @property
    def promises(self) -> Mapping[str, Any]:
        # at least the k of the table, as the policy's checks guarantee
        return {"k_anonymity": self.generalize.k} if self.generalize is not None else {}

    @property
    def exact(self) -> bool:
        return self.generalize is None

    @property
    def unweighted(self) -> str | None:
        return "algorithm: {generalize: {k: 5}}" if self.generalize is None else None


def _block_size(given: object) -> object:
    if given == "all" or (isinstance(given, int) and not isinstance(given, bool) and given > 1):
        return given
    raise fail("must be a whole number of persons or all", allowed="2 or more, or all")


class Danonyir(AlgorithmOptions):
    """DAnonyIR: clustering of persons for the identity-reserved models."""

    name: Literal["danonyir"]
    clusters_persons = True
    block_size: Annotated[int | Literal["all"], BeforeValidator(_block_size)] = 128
    """Persons per block of similar quasi-identifiers; `all` is the paper's algorithm."""

    @property
    def unweighted(self) -> str | None:
        return None


class Geneir(AlgorithmOptions):
    """GeneIR: bottom-up generalization for the identity-reserved models."""

    name: Literal["geneir"]
    over_levels = True
    clusters_persons = True

    @property
    def unweighted(self) -> str | None:
        return None


class NoAlgorithm(AlgorithmOptions):
    """Every row is published, with no classes and no guarantee: only the roles of the columns
    apply, and the release is pseudonymised.
    """

    name: Literal["none"]
    classless = True


OPTIONS: tuple[type[AlgorithmOptions], ...] = (
    Mondrian,
    Lgb,
    FullDomain,
    PrivacyFrost,
    Msb,
    Danonyir,
    Geneir,
    NoAlgorithm,
)
"""The options of every algorithm, in the order in which they are listed."""

ALGORITHMS = {options.algorithm(): options for options in OPTIONS}


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


if TYPE_CHECKING:
    Algorithm: TypeAlias = AlgorithmOptions
else:
    _TAGGED = (Annotated[options, Tag(TAG + name)] for name, options in ALGORITHMS.items())
    Algorithm = Annotated[reduce(or_, _TAGGED), Discriminator(_tag), BeforeValidator(_named)]
"""Any of the algorithms, distinguished by `name`."""

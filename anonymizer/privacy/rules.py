"""From a policy's words to rules: `protect` of a column, `privacy` of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from anonymizer.compile import Sql
from anonymizer.privacy.alpha import Alpha, AlphaOfK
from anonymizer.privacy.beta_likeness import BetaLikeness
from anonymizer.privacy.delta_disclosure import DeltaDisclosure
from anonymizer.privacy.distinct_l import DistinctL
from anonymizer.privacy.eir import EirPersonShare, EirValueShare
from anonymizer.privacy.eir_l import EirL
from anonymizer.privacy.entropy_l import EntropyL
from anonymizer.privacy.ir import IrK, IrL, PersonShare, ValueShare
from anonymizer.privacy.k_anonymity import KAnonymity
from anonymizer.privacy.levels import Levels
from anonymizer.privacy.population import KMap, PresenceAtLeast, PresenceAtMost
from anonymizer.privacy.recursive_cl import RecursiveCL
from anonymizer.privacy.rule import Rule
from anonymizer.privacy.t_equal import TCloseness, TEqual
from anonymizer.privacy.t_hierarchical import THierarchical
from anonymizer.privacy.t_ordered import TOrdered

if TYPE_CHECKING:
    from anonymizer.policy.privacy import Privacy
    from anonymizer.policy.protect import Protect


def rules_of(
    column: str,
    protect: Protect,
    null_as_value: bool = False,
    *,
    height: int = 0,
    level_l: Mapping[int, int] | None = None,
) -> tuple[Rule, ...]:
    """The rules of one column, all judged over its histogram.

    `height`: levels of the column's hierarchy above the leaves (for hierarchical t). `level_l`: the
    l of every security level; without it `levels` makes no rule.
    """
    rules: list[Rule] = []
    if protect.l_diversity is not None:
        rules.append(DistinctL(column, protect.l_diversity, null_as_value=null_as_value))
    if protect.entropy_l is not None:
        rules.append(EntropyL(column, protect.entropy_l, null_as_value=null_as_value))
    if protect.recursive_cl is not None:
        c, l = protect.recursive_cl.c, protect.recursive_cl.l
        rules.append(RecursiveCL(column, c, l, null_as_value=null_as_value))
    if protect.t_closeness is not None:
        rules.append(t_rule(column, protect.t_closeness.t, protect.t_closeness.distance, height))
    if protect.alpha is not None:
        rules.append(Alpha(column, protect.alpha, null_as_value=null_as_value))
    if protect.beta_likeness is not None:
        rules.append(BetaLikeness(column, protect.beta_likeness, null_as_value=null_as_value))
    if protect.delta_disclosure is not None:
        rules.append(DeltaDisclosure(column, protect.delta_disclosure, null_as_value=null_as_value))
    if protect.levels is not None and level_l is not None:
        rules.append(Levels(column, level_l, null_as_value=null_as_value))
    return tuple(rules)


def t_rule(column: str, t: float, distance: str, height: int = 0) -> TCloseness:
    """t-closeness by the name of its distance. NULL is a category whatever `null_as_value`."""
    match distance:
        case "equal":
            return TEqual(column, t)
        case "ordered":
            return TOrdered(column, t)
        case "hierarchical" if height > 0:
            return THierarchical(column, t, height)
        case _:
            raise ValueError(f"no t-closeness by distance {distance} with {height} levels")


def table_rules(privacy: Privacy) -> tuple[Rule, ...]:
    """The rules of the table that look at no values: k and the comparisons with a population.

    `k_anonymity` and the k of `alpha_k` become one rule, the k of `ir_k` and `ir_kl` another
    (judged over pairs, counting persons).
    """
    rules: list[Rule] = []
    ks = [privacy.k_anonymity, privacy.alpha_k.k if privacy.alpha_k else None]
    if k := max(filter(None, ks), default=None):
        rules.append(KAnonymity(None, k))
    persons = [privacy.ir_k, privacy.ir_kl.k if privacy.ir_kl else None]
    if k := max(filter(None, persons), default=None):
        rules.append(IrK(None, k))
    if privacy.k_map is not None:
        rules.append(KMap(None, privacy.k_map.k))
    if privacy.delta_presence is not None:
        rules.append(PresenceAtLeast(None, privacy.delta_presence.min))
        rules.append(PresenceAtMost(None, privacy.delta_presence.max))
    return tuple(rules)


def table_rules_of(
    column: str,
    privacy: Privacy,
    null_as_value: bool = False,
    *,
    declared: Sql | None = None,
) -> tuple[Rule, ...]:
    """What the table's guarantees ask of one sensitive column.

    `declared`: SQL for the code, in this column, of the value that `alpha_k` names (NULL where the
    column does not have it). Raises `ValueError` (a defect of the caller) if it is missing.
    """
    rules: list[Rule] = []
    if privacy.alpha_k is not None:
        if privacy.alpha_k.value is not None and declared is None:
            raise ValueError("alpha_k names a value: its code is needed")
        only = declared if privacy.alpha_k.value is not None else None
        rules.append(AlphaOfK(column, privacy.alpha_k.alpha, only, null_as_value=null_as_value))
    if privacy.ir_kl is not None:
        rules.append(IrL(column, privacy.ir_kl.l, null_as_value=null_as_value))
    if limits := privacy.ir_alpha_beta:
        rules.append(PersonShare(column, limits.alpha))
        rules.append(ValueShare(column, limits.beta, null_as_value=null_as_value))
    if privacy.eir_l is not None:
        rules.append(EirL(column, privacy.eir_l, null_as_value=null_as_value))
    if limits := privacy.eir_alpha_beta:
        rules.append(EirPersonShare(column, limits.alpha))
        rules.append(EirValueShare(column, limits.beta, null_as_value=null_as_value))
    return tuple(rules)


def of_basis(rules: Sequence[Rule], *basis: str) -> tuple[Rule, ...]:
    """Those of `rules` that are judged over a relation of one of these kinds."""
    return tuple(rule for rule in rules if rule.basis in basis)

"""Privacy models: their parameters, and the SQL that judges a class. See `rule` for the frame."""

from anonymizer.privacy.alpha import Alpha, AlphaOfK
from anonymizer.privacy.beta_likeness import BetaLikeness
from anonymizer.privacy.buckets import BucketRule, bucket_rule
from anonymizer.privacy.delta_disclosure import DeltaDisclosure
from anonymizer.privacy.distinct_l import DistinctL
from anonymizer.privacy.eir import EirPersonShare, EirValueShare
from anonymizer.privacy.eir_l import EirL
from anonymizer.privacy.entropy_l import EntropyL
from anonymizer.privacy.hitting import (
    has_hitting_set,
    hitting_set,
    minimum_hitting_set_size,
    undecided_classes,
)
from anonymizer.privacy.ir import IrK, IrL, PersonShare, ValueShare
from anonymizer.privacy.judge import judge_sql, layered_sql, merge_layers
from anonymizer.privacy.k_anonymity import KAnonymity
from anonymizer.privacy.levels import Levels, value_l_sql
from anonymizer.privacy.population import KMap, PresenceAtLeast, PresenceAtMost
from anonymizer.privacy.recursive_cl import RecursiveCL
from anonymizer.privacy.rule import Rule
from anonymizer.privacy.rules import of_basis, rules_of, t_rule, table_rules, table_rules_of
from anonymizer.privacy.screens import Screen, conjunction, screen, survives_additions
from anonymizer.privacy.t_equal import TCloseness, TEqual
from anonymizer.privacy.t_hierarchical import THierarchical
from anonymizer.privacy.t_ordered import TOrdered

__all__ = [
    "Alpha",
    "AlphaOfK",
    "BetaLikeness",
    "BucketRule",
    "DeltaDisclosure",
    "DistinctL",
    "EirL",
    "EirPersonShare",
    "EirValueShare",
    "EntropyL",
    "IrK",
    "IrL",
    "KAnonymity",
    "KMap",
    "Levels",
    "PersonShare",
    "PresenceAtLeast",
    "PresenceAtMost",
    "RecursiveCL",
    "Rule",
    "Screen",
    "TCloseness",
    "TEqual",
    "THierarchical",
    "TOrdered",
    "ValueShare",
    "bucket_rule",
    "conjunction",
    "has_hitting_set",
    "hitting_set",
    "judge_sql",
    "layered_sql",
    "merge_layers",
    "minimum_hitting_set_size",
    "of_basis",
    "rules_of",
    "screen",
    "survives_additions",
    "t_rule",
    "table_rules",
    "table_rules_of",
    "undecided_classes",
    "value_l_sql",
]

"""The policy: frozen models, read from YAML; all problems are collected and raised together."""

from anonymizer.policy.algorithms import (
    Algorithm,
    Danonyir,
    FullDomain,
    Geneir,
    Lgb,
    Mondrian,
    Msb,
    NoAlgorithm,
    PrivacyFrost,
)
from anonymizer.policy.columns import Column
from anonymizer.policy.hierarchies import Hierarchy
from anonymizer.policy.model import (
    AggregatePolicy,
    AnyPolicy,
    Policy,
    SchemaPolicy,
    load_policy,
)
from anonymizer.policy.privacy import Population, Privacy, Protect, RecursiveCL, TCloseness
from anonymizer.policy.publish import Publish, Republish, Source, Workload
from anonymizer.policy.values import FrozenMap

__all__ = [
    "AggregatePolicy",
    "Algorithm",
    "AnyPolicy",
    "Column",
    "Danonyir",
    "FrozenMap",
    "FullDomain",
    "Geneir",
    "Hierarchy",
    "Lgb",
    "Mondrian",
    "Msb",
    "NoAlgorithm",
    "Policy",
    "Population",
    "Privacy",
    "PrivacyFrost",
    "Protect",
    "Publish",
    "RecursiveCL",
    "Republish",
    "SchemaPolicy",
    "Source",
    "TCloseness",
    "Workload",
    "load_policy",
]

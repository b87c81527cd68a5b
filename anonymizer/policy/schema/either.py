"""A policy of one table or of several."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias, cast

from anonymizer.errors import PolicyError
from anonymizer.policy.model import Policy, SchemaPolicy

AnyPolicy: TypeAlias = Policy | SchemaPolicy


INSTEAD = {
    "compile": "plan lists the steps; in Python, plan(policy, database).sql() has their SQL",
    "lattice": "name one of the tables in a policy of its own",
}
"""What to do with several tables in place of a verb."""


def load_policy(path: str | Path, preset: str | None = None) -> AnyPolicy:
    """Like `Policy.load`, which reads both kinds, but typed as both kinds."""
    return cast("AnyPolicy", Policy.load(path, preset))


def single(policy: AnyPolicy, verb: str) -> Policy:
    """The policy of one table. Raises PolicyError for several, which the verb does not support."""
    if isinstance(policy, SchemaPolicy):
        said = f"are several, and `{verb}` works on policies of one table"
        raise PolicyError.at("tables", said, hint=INSTEAD.get(verb))
    return policy

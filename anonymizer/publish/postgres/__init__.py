"""Releases in the Postgres database that holds their source."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from anonymizer.engines.base import Limits
from anonymizer.engines.session import Session
from anonymizer.policy import Policy
from anonymizer.publish.postgres.in_database import PostgresTarget
from anonymizer.publish.postgres.objects import PostgresPublished, published_in
from anonymizer.publish.postgres.replacement import ReplaceTarget
from anonymizer.release.objects import Names


def place_of(policy: Policy, database: Any) -> None:
    """See `anonymizer.publish.target.Publisher`."""
    del policy, database


def target(policy: Policy, session: Session, names: Names) -> PostgresTarget:
    """See `anonymizer.publish.target.Publisher`."""
    if policy.publish.replace_source:
        return ReplaceTarget.of(policy, session, names)
    return PostgresTarget.of(policy, session, names)


def open_published(
    policy: Policy | None, database: Any, limits: Limits
) -> AbstractContextManager[PostgresPublished]:
    """See `anonymizer.publish.target.Publisher`."""
    del policy
    return published_in(database, limits)

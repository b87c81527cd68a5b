"""Releases from Spark: folders of Parquet files, or views in Spark's catalog."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from anonymizer.engines.base import Limits
from anonymizer.engines.session import Session
from anonymizer.engines.spark.connection import SparkEngine
from anonymizer.engines.spark.source import is_session, spark_engine
from anonymizer.policy import Policy
from anonymizer.publish.spark.catalog import CatalogTarget, in_catalog
from anonymizer.publish.spark.parquet import ParquetTarget
from anonymizer.publish.spark.published import PublishedFolder, PublishedInCatalog, published_folder
from anonymizer.release.objects import Names


def place_of(policy: Policy, database: Any) -> None:
    """See `anonymizer.publish.target.Publisher`."""
    del policy, database


def target(policy: Policy, session: Session, names: Names) -> ParquetTarget | CatalogTarget:
    """See `anonymizer.publish.target.Publisher`."""
    engine = session.engine
    assert isinstance(engine, SparkEngine)
    if policy.publish.database is not None:
        return ParquetTarget(names, policy.resolve(policy.publish.database).resolve())
    return CatalogTarget(in_catalog(names, engine.spark), engine.spark)


@contextmanager
def open_published(
    policy: Policy | None, database: Any, limits: Limits
) -> Iterator[PublishedFolder | PublishedInCatalog]:
    """See `anonymizer.publish.target.Publisher`."""
    if is_session(database):
        with spark_engine(policy, database, secrets.token_hex(8), limits) as engine:
            engine.all_on_spark = True
            yield PublishedInCatalog(engine)
        return
    with published_folder(policy, database, limits) as found:
        yield found

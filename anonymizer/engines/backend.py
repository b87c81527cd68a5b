"""What a run needs of an engine beside statements: a source, a place to publish, and to look back.

The embedded engine has all of it in `session` and `release`; this is the interface of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from anonymizer.compile import Table

if TYPE_CHECKING:
    import pandas as pd

    from anonymizer.engines.base import Engine, EngineName, Limits
    from anonymizer.plan import Plan
    from anonymizer.policy import Policy
    from anonymizer.release.manifest import Manifest
    from anonymizer.release.names import Names
    from anonymizer.session import Session


class Target(Protocol):
    """Where a release goes that was staged and judged in the run's work tables."""

    names: Names
    warnings: tuple[str, ...]
    """What a user should know of this place."""

    @property
    def place(self) -> Path | None:
        """The file or folder of the release, where it is one."""

    def check(self, engine: Engine) -> None:
        """Raises TargetError for a place that cannot take the release, before anything is read."""

    def publish(
        self, engine: Engine, staged: Table, manifest: Manifest, tables: Mapping[str, Table]
    ) -> None:
        """Publish the staged rows and the further tables by name; all at once or not at all."""

    def frame(self) -> pd.DataFrame:
        """The published rows, read back."""


class Published(Protocol):
    """A release that stands, opened to be judged again or copied."""

    engine: Engine

    def views(self, policy: Policy | None) -> list[Table]:
        """The policy's view, or every view that this tool published there."""

    def manifest(self, view: Table) -> Manifest:
        """Raises NothingToCheckError where the view has no manifest that can be read."""


class Backend(Protocol):
    """An engine other than the embedded one."""

    def session(
        self, policy: Policy, database: Any, run_id: str, limits: Limits
    ) -> AbstractContextManager[Session]:
        """Open the source, with a place for work tables that is gone afterwards."""

    def target(self, policy: Policy, session: Session, names: Names) -> Target:
        """Where the release of `policy` goes."""

    def published(self, policy: Policy | None, database: Any) -> AbstractContextManager[Published]:
        """Open what was published, read-only."""


def script_of(name: EngineName) -> Callable[[Plan, Policy], str]:
    """What writes a policy's plan as a script that runs on an engine as it is."""
    module = import_module(f"anonymizer.engines.{name}_script")
    return cast("Callable[[Plan, Policy], str]", module.script)


def backend(name: EngineName) -> Backend:
    """The backend of an engine; its library is imported when it is used."""
    return cast(Backend, import_module(f"anonymizer.engines.{name}_backend").BACKEND)

"""Sources that are replaced by their release: consent, and whether they have changed."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.compile import Sql
from anonymizer.compile.render import CREATES
from anonymizer.engines.base import Engine
from anonymizer.errors import SourceError, TargetError
from anonymizer.process.text import many
from anonymizer.steps import Step


def refuse_changed(engine: Engine, snapshot: Step) -> None:
    """Raise SourceError if the source differs from the snapshot: rows that were added since would
    be lost.
    """
    text = snapshot.statement().text
    found = CREATES.match(text)
    assert found is not None
    then, now = Sql(f"from {found['target']}"), Sql(f"({text[found.end() :]})")
    rows = engine.raw(
        f"select (select count(*) from (select * {then} except all {now}))"
        f" + (select count(*) from ({now} except all select * {then}))",
        "publish",
    )
    if rows[0][0]:
        raise SourceError.at(
            "source",
            f"{many(rows[0][0], 'row')} changed while the run was at work, and would be lost",
            hint="run again while nothing writes to the table",
        )


def dropped_source(table: str, lost: Sequence[str]) -> str:
    """Describe what becomes of a source that its release replaces, with what is lost with it."""
    also = f" and with {', '.join(lost)}" if lost else ""
    return (
        f"the source table {table} is dropped with all its rows{also}, and its release is put in"
        " its place"
    )


def refuse_without_consent(agreed: bool) -> None:
    """Raise TargetError unless the caller has agreed to lose the source."""
    if not agreed:
        raise TargetError.at(
            "publish.replace_source",
            "the source table would be replaced for good, and nobody has agreed to that",
            hint="--yes-replace-source (in Python: replace_source=True); have a copy",
        )

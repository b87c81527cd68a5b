"""Open the desk for a policy, or for a table whose policy is drafted first."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.session import open_session
from anonymizer.errors import AnonymizerError, PolicyError, TargetError
from anonymizer.explore.bench import Bench, alone
from anonymizer.explore.desk import Desk
from anonymizer.explore.edits import Target, one_table
from anonymizer.explore.outcome import History, State
from anonymizer.policy import Policy
from anonymizer.policy.values import file_format
from anonymizer.review.draft.draft import draft
from anonymizer.review.draft.guess import Guess

SAMPLED = 1_000
"""Rows of the sample, which can be tried within half a second."""
SUFFIXES = (".yml", ".yaml")
DEFAULT = "policy.yml"


@dataclass(frozen=True, slots=True)
class Given:
    """The desk's input."""

    text: str
    policy: Policy
    base: Path
    guesses: Mapping[str, Guess]
    target: Path
    title: str


def given(
    subject: str, database: str | None, target: str | None, limits: Limits | None = None
) -> Given:
    """Read the policy, or draft one for a table, and determine where it will be saved.

    Raises PolicyError for subjects that the desk does not support, TargetError if it cannot be
    saved at the target.
    """
    if Path(subject).suffix.lower() in SUFFIXES:
        return _of_policy(Path(subject), database, target, limits)
    path = Path(target or DEFAULT)
    if path.exists():
        hint = "open it: anonymizer explore FILE; or name a new one: -o FILE"
        raise TargetError.at("-o", f"{path.name} exists", hint=hint)
    base = path.parent
    if not os.access(base, os.W_OK):
        said = f"{path} is in a folder that cannot be written"
        raise TargetError.at("-o", said, hint="name a file in another folder: -o FILE")
    made = draft(subject, database, base=base, limits=limits)
    policy = one_table(Policy.loads(made.text, base))
    title = Path(subject).name if file_format(subject) else subject
    return Given(made.text, policy, base, made.guesses, path, title)


def _of_policy(
    path: Path, database: str | None, target: str | None, limits: Limits | None
) -> Given:
    policy = one_table(Policy.load(path))
    if policy.engine != "duckdb" or (database or "").startswith("postgresql:"):
        raise PolicyError.at("engine", "is not offered by explore", allowed="duckdb")
    saved = Path(target) if target is not None else path
    if saved.resolve().parent != path.resolve().parent:
        hint = "the paths of the policy start there"
        raise TargetError.at("-o", "is in another folder than the policy", hint=hint)
    if saved != path and saved.exists():
        raise TargetError.at("-o", f"{saved.name} exists", hint="name a new file")
    text = path.read_bytes().decode("utf-8-sig")
    source = policy.source
    title = {"table": source.table, "file": Path(source.file or "").name}.get(source.kind)
    guesses = _guesses(policy, database, limits)
    return Given(text, policy, path.parent, guesses, saved, title or "a query")


def _guesses(policy: Policy, database: str | None, limits: Limits | None) -> Mapping[str, Guess]:
    """The guesses of a draft for the same table; none for a query."""
    source = policy.source
    subject = source.table if source.kind == "table" else None
    if source.kind == "file":
        subject = str(policy.resolve(source.file or ""))
    if subject is None:
        return {}
    try:
        return draft(subject, database, base=policy.base, limits=limits).guesses
    except AnonymizerError:
        return {}  # only the reasons are missing then


@contextmanager
def opened(
    begun: Given,
    database: str | None,
    *,
    show_rows: bool = False,
    limits: Limits | None = None,
    sampled: int = SAMPLED,
) -> Iterator[Desk]:
    """Open the desk with three sessions on the source: two on a sample, one on all rows."""
    policy = alone(begun.policy)
    with ExitStack() as stack:
        benches = [
            Bench.of(policy, stack.enter_context(open_session(policy, database, limits=limits)), n)
            for n in (sampled, sampled, None)
        ]
        state = State(0, "as it was opened", begun.text, begun.policy)
        desk = Desk(
            title=begun.title,
            base=begun.base,
            first=begun.text,
            history=History([state]),
            target=Target.of(begun.target),
            database=database,
            sample=benches[0],
            side=benches[1],
            whole=benches[2],
            reasons={
                name: {"role": one.role, "reason": one.reason}
                for name, one in begun.guesses.items()
            },
            show_rows=show_rows,
        )
        stack.callback(desk.close)
        yield desk

"""`anonymizer verify --independent`: the second verifier, which shares no code with the first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from anonymizer.commands.options import shown
from anonymizer.commands.output import Output
from anonymizer.errors import GuaranteeError, NothingToCheckError, Problem

if TYPE_CHECKING:
    from anonymizer.contract.checks import Origin
    from anonymizer.independent import Judgement
    from anonymizer.policy import Policy


State: TypeAlias = tuple[int, ...] | None
"""Identifies a file and its version: changes if the file is replaced or modified."""


def state_of(policy: Policy | None, database: str | None) -> State:
    """The state of a release's file, to detect changes between the two verifiers."""
    try:
        found = _place(policy, database).stat()
    except OSError:
        return None
    # (a file's change time cannot be set back)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def judge_independently(
    output: Output,
    policy: Policy | None,
    database: str | None,
    population: str | None,
    *,
    origin: Origin,
    state: State,
    unverified: tuple[str, ...] = (),
) -> None:
    """Verify a file against its manifest. Raises Unfulfilled (exit code 1) if it does not hold.

    `origin`: what shows who published it. `state`: of the file, before it was first opened; raises
    GuaranteeError if it is another one now. `unverified`: what the first verifier could not judge.
    """
    from anonymizer.commands.progress import unverified_lines
    from anonymizer.independent import ChangedError, UnreadableError, judge
    from anonymizer.independent.__main__ import FIGURES, lines

    place = _place(policy, database)
    view = None
    if policy is not None:
        from anonymizer.policy.schema.derived import lead_of
        from anonymizer.release.names import Names
        from anonymizer.release.population import population_files

        view = Names.of(policy, "").release
        named = next(filter(Path.is_file, population_files(lead_of(policy))), None)
        population = str(named) if population is None and named is not None else population
    try:
        found = judge(
            place,
            view,
            population_file=population,
            population_person=policy.person if policy is not None else None,
        )
    except UnreadableError as error:
        path, _, said = str(error).partition(": ")
        refusal = GuaranteeError if isinstance(error, ChangedError) else NothingToCheckError
        several = policy is None and "none is named" in said
        hint = "name the POLICY of one" if several else None
        raise refusal(Problem(path, said, hint=hint)) from error
    except (MemoryError, RecursionError) as error:
        raise NothingToCheckError.at("release", "is too large to be read here") from error
    if state_of(policy, database) != state:
        said = "was changed or replaced while it was judged"
        raise GuaranteeError.at("release", said, hint="verify again; copy it to a place of yours")
    problems = [
        Problem("release", f"{check.name} does not hold for the second verifier")
        for check in found.checks
        if not check.passed
    ]
    told = [*lines(found), FIGURES, *unverified_lines(unverified)]
    result = {"database": shown(database), "origin": origin, **_found(found)}
    result["unverified"] = list(unverified)
    output.judged(result, told, problems, holds=found.passed)


def _found(found: Judgement) -> dict[str, Any]:
    """What the second verifier found, for `--format json`."""
    return {
        "view": found.view,
        "kind": found.kind,
        "rows": found.rows,
        "passed": found.passed,
        "checks": [
            {
                "name": check.name,
                "column": check.column,
                "passed": check.passed,
                "failing": check.failing,
            }
            for check in found.checks
        ],
        "not_checked": [{"name": one.name, "reason": one.reason} for one in found.not_checked],
    }


def is_export(database: str | None) -> bool:
    """Whether a place is an exported file, or a folder with one.

    Only the second verifier reads these, and compares them with the digests of their manifest.
    """
    from anonymizer.independent.fetch import SUFFIXES

    place = Path(database or "")
    return database is not None and (place.suffix.lower() in SUFFIXES or place.is_dir())


def _place(policy: Policy | None, database: str | None) -> Path:
    """Resolve to a file or folder; the second verifier cannot connect to a server."""
    if database is not None and "://" not in database:
        return Path(database)
    named = policy.publish.database if policy is not None and database is None else None
    if policy is None or named is None:
        said = "names no file, and the second reader reads files only"
        raise NothingToCheckError.at("--database", said, hint="anonymizer export writes one")
    return policy.resolve(named)

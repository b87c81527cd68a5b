"""The reader agrees with the verifier, check by check, on releases of random tables.

10 releases by default, 150 among the slow tests; ANONYMIZER_READER_RELEASES=2000 asks for more. The
figures compared are those of the release as it is, of random other requirements on its rows, and of
such requirements again after the rows were changed at random, so that guarantees that fail are
compared as well.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest

import anonymizer
from anonymizer.independent.judge import judge
from tests.independent.agreement import Compared, both, compare, others, tamper
from tests.independent.random_releases import REFUSALS, draw
from tests.runs import THRIFTY

SOME = 12
MORE = int(os.environ.get("ANONYMIZER_READER_RELEASES", "150"))
ALGORITHMS = ("mondrian", "lgb", "full_domain", "privacyfrost", "msb", "danonyir", "geneir")


def outcome(seed: int, folder: Path, *, again: bool = True) -> tuple[str, list[Compared]]:
    """What became of one drawn policy: its algorithm or `refused`, and what was compared.

    `again`: compare with `anonymizer.verify` of the file as well, not only with what the run found.
    """
    try:
        drawn = draw(seed, folder)
        release = anonymizer.run(drawn.policy, drawn.database, seed=seed, limits=THRIFTY)
    except REFUSALS as error:
        return f"refused: {type(error).__name__}", []
    path = folder / "release.duckdb"
    found = judge(path, population_file=drawn.population)
    compared = [compare(release.verification, found.checks)]
    if again:
        later = anonymizer.verify(drawn.policy, path)
        compared.append(compare(later, found.checks))
    r = random.Random(seed)
    layout = release.manifest.layout
    compared += _both(r, path, layout)
    tamper(r, path, layout)
    compared += _both(r, path, layout)
    return drawn.policy.algorithm.name, compared


def _both(r: random.Random, path: Path, layout: object) -> list[Compared]:
    made = both(path, others(r, layout), layout)  # type: ignore[arg-type]
    return [made] if made is not None else []


def check(seeds: range, folder: Path, releases: int) -> Counter[str]:
    """Draw until so many releases were compared; the outcomes."""
    found: Counter[str] = Counter()
    different: list[str] = []
    for seed in seeds:
        own = folder / str(seed)
        own.mkdir()
        name, compared = outcome(seed, own)
        found[name] += 1
        for one in compared:
            different += [f"seed {seed}: {said}" for said in one.different]
            found["checks"] += one.checks
        found["releases"] += bool(compared)
        for path in own.iterdir():
            path.unlink()
        if found["releases"] >= releases:
            break
    assert not different, "\n".join(different)
    return found


@pytest.mark.parametrize(
    "releases",
    [pytest.param(SOME, marks=pytest.mark.slow), pytest.param(MORE, marks=pytest.mark.exhaustive)],
)
def test_reader_agrees_on_releases_of_every_algorithm(tmp_path: Path, releases: int) -> None:
    found = check(range(10_000, 10_000 + releases * 20), tmp_path, releases)
    assert found["releases"] == releases, found
    assert all(found[algorithm] for algorithm in ALGORITHMS), found


@pytest.mark.exhaustive
def test_reader_agrees_on_thousands_of_releases(tmp_path: Path) -> None:
    found = check(range(100_000, 200_000), tmp_path, 2000)
    assert found["releases"] == 2000, found

"""A measure that is taken out of a manifest, which is sealed anew, is missed by `verify`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy, Release, SchemaPolicy
from anonymizer.errors import AnonymizerError
from anonymizer.publish.rewrite import rewrite
from anonymizer.release.integrity import manifest_digest
from anonymizer.release.manifest import Manifest, stated_certificate
from tests.frozen import corpus
from tests.frozen.test_frozen import CASES, ONE
from tests.selection import some

KINDS = [
    *("lgb", "two events and rows", "full domain ncp", "mondrian refine", "danonyir eir l"),
    *("full domain budget unbounded", "privacyfrost suppressing", "lgb weights", "none", "msb"),
    *("one event", "mondrian persons", "geneir alpha beta", "msb of persons", "lgb ncp"),
]
GIVEN = {name: given for (_, name), given in CASES.items()}


def places(measures: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Where a figure is: of further tables, inside objects."""
    for name, value in measures.items():
        yield (*path, name)
        if isinstance(value, dict):
            yield from places(value, (*path, name))


def put(file: Path, view: str, data: dict[str, Any]) -> None:
    """Write a manifest, sealed anew, and nothing of the one before in unused space."""
    data["seal"]["digest"] = manifest_digest(data)
    with duckdb.connect(str(file)) as connection:
        text = json.dumps(data, indent=2, sort_keys=True)
        connection.execute(f'update "{view}_manifest" set manifest = ?', [text])
    rewrite(file)


def released(name: str, folder: Path) -> tuple[Policy | SchemaPolicy, Release]:
    folder.mkdir(exist_ok=True)
    source = corpus.prepare(folder, corpus.make_template(folder / "template.duckdb"))
    policy = corpus.loaded(GIVEN[name], folder)
    return policy, anonymizer.run(policy, source, seed=corpus.SEED, limits=ONE)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, ...]]:
    """The measures of the first kind: of others only what they have besides is left out."""
    _, release = released(KINDS[0], tmp_path_factory.mktemp("usual"))
    return set(places(release.manifest.data["measures"]))


@some(1, 5)
@pytest.mark.parametrize("name", KINDS)
def test_no_measure_can_be_left_out(name: str, tmp_path: Path, usual: set[tuple[str, ...]]) -> None:
    policy, release = released(name, tmp_path)
    file, view = tmp_path / "release.duckdb", release.view.rpartition(".")[2].strip('"')
    for beside in tmp_path.glob("*.manifest.*"):
        beside.unlink()
    assert anonymizer.verify(policy).passed
    missed, whole = set(), release.manifest.data
    own = set(places(whole["measures"]))
    for *path, last in sorted(own if name == KINDS[0] else own - usual):
        data = json.loads(release.manifest.text())
        of = data["measures"]
        for step in path:
            of = of[step]
        del of[last]
        with suppress(KeyError):  # (without a count that it needs, it stays as it was)
            data["certificate"] = stated_certificate(Manifest(data))
        put(file, view, data)
        with suppress(AnonymizerError):
            anonymizer.verify(policy)
            missed.add(".".join((*path, last)))
    assert missed == set()
    put(file, view, json.loads(release.manifest.text()))
    assert anonymizer.verify(policy).passed  # nothing else was refused
    assert ("proved_records" in whole["measures"]) == (name != "none")
    assert ("linked_below" in whole["measures"]) == ("event" in name)

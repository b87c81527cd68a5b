"""Attacks that were tried for a report stand on its first screen, and decide its verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest

from anonymizer.cli import main
from anonymizer.errors import PolicyError
from anonymizer.review.attack import attack
from anonymizer.review.report import rendered
from anonymizer.review.report.content import collect
from tests.report.conftest import Clinic, make

OTHER = {"algorithm": {"name": "mondrian", "split": "median"}}


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Clinic:
    """A second release of the clinic, in other classes; the first is kept as earlier.duckdb."""
    folder = tmp_path_factory.mktemp("again")
    make(folder)
    (folder / "release.duckdb").rename(folder / "earlier.duckdb")
    (folder / "source.duckdb").unlink()
    return make(folder, **OTHER)


def first_screen(page: str) -> str:
    return page[page.index("<header>") : page.index("<nav")]


@pytest.mark.slow
def test_attacks_are_on_the_first_screen(again: Clinic) -> None:
    found = collect(again.policy, source=again.source, attacks=True, share=1.0)
    tried = attack(again.policy, again.source, share=1.0)
    assert found.attacked == tried
    assert found.as_dict()["attack"] == tried.as_dict()
    assert found.verdict.holds
    top = first_screen(rendered(found, "html"))
    assert f"Attacks on {tried.linking.targets:,} rows" in top
    assert "largest chance of an attack" in top
    assert f"Attacks on {tried.linking.targets:,} rows" in rendered(found, "md")


@pytest.mark.slow
def test_an_earlier_release_decides_the_verdict(again: Clinic) -> None:
    earlier = again.folder / "earlier.duckdb"
    found = collect(again.policy, source=again.source, earlier=earlier, share=1.0)
    tried = attack(again.policy, again.source, earlier=earlier, share=1.0)
    assert tried.intersection == (found.attacked and found.attacked.intersection)
    assert not tried.holds
    assert found.verdict.state == "fails"
    top, text = first_screen(rendered(found, "html")), rendered(found, "md")
    assert 'class="verdict bad"' in top
    for item in tried.intersection:
        for said in item.says("rows"):
            assert said in top
            assert said in text


@pytest.mark.slow
def test_the_command_ends_with_the_verdict(
    again: Clinic, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: object) -> int:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        return int(ended.value.code or 0)

    policy, target = again.folder / "policy.yml", again.folder / "report.md"
    given = ("report", policy, "--source", again.source, "-o", target, "--share", "1")
    assert run(*given) == 0
    assert run(*given, "--attack") == 0
    assert run(*given, "--earlier", again.folder / "earlier.duckdb") == 1
    capsys.readouterr()
    assert run("report", policy, "--attack") == 2
    assert "attacks need the source" in capsys.readouterr().err
    assert run("report", policy, "--source", again.source, "--format", "json", "--attack") == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert data["verdict"]["state"] in ("useful", "little")
    assert data["attack"]["holds"] is True


def test_attacks_need_a_source(clinic: Clinic) -> None:
    with pytest.raises(PolicyError, match="attacks need the source"):
        collect(clinic.policy, attacks=True)

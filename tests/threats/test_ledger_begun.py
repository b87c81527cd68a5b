"""What is said when a series of releases begins, and later of what the policy can still have."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import anonymizer
from anonymizer.cli.attack import _problems
from anonymizer.errors import AnonymizerError, EngineError, GuaranteeError
from anonymizer.publish.target import replaced_release
from anonymizer.release.objects import Names, ObjectEntry
from anonymizer.review.preview import preview
from tests.selection import some
from tests.threats.population import Population, policy
from tests.threats.test_ledger_follow import COLUMNS

FOLLOW: dict[str, Any] = {"republish": {"follow": True}}
UNRULED = {**COLUMNS, "disease": {"role": "sensitive"}}


class Series:
    """Releases of one population; each run may change the policy."""

    def __init__(self, folder: Path, **given: Any) -> None:
        self.folder, self.given = folder, {"columns": COLUMNS, "suppression_limit": 0.9, **given}
        self.population = Population(seed=3, size=120)

    def warnings(self, **more: Any) -> list[str]:
        """What a run says of the series; its plan says the same, if the ledger is new."""
        source = self.folder / "source.duckdb"
        self.population.write(source)
        asked = policy(self.folder, **{**self.given, **more})
        planned = preview(asked, str(source), foresee=False)
        found = _of_series(anonymizer.run(asked, source).warnings)
        if found:
            assert _of_series(planned.warnings) in (found, [])
        return found

    def change(self) -> None:
        self.population.leave(2)
        self.population.arrive(12)


def _of_series(warnings: tuple[str, ...] | list[str]) -> list[str]:
    return [one for one in warnings if "first release of" in one]


def test_the_first_release_says_how_to_go_on(tmp_path: Path) -> None:
    """It can still be had with the next run, as the warning says."""
    series = Series(tmp_path)
    (said,) = series.warnings()
    assert "republish: {follow: true} keeps the classes; the next run can begin with it" in said
    series.change()
    with pytest.raises(GuaranteeError) as refused:
        series.warnings()
    assert all("{follow: true}" in (one.hint or "") for one in refused.value.problems)
    assert series.warnings(**FOLLOW) == []
    series.change()
    assert series.warnings(**FOLLOW) == []


@pytest.mark.slow
def test_without_a_key_nothing_can_be_added_later(tmp_path: Path) -> None:
    series = Series(tmp_path, key=None)
    (said,) = series.warnings()
    assert "neither a key nor republish: {follow: true} can be added to this series later" in said
    with pytest.raises(EngineError, match="by the content of their rows"):
        series.warnings(key="id", **FOLLOW)


@pytest.mark.slow
def test_stricter_rules_cannot_be_added_later(tmp_path: Path) -> None:
    """No hint says that classes could go on which do not hold them."""
    series = Series(tmp_path, columns=UNRULED)
    (said,) = series.warnings()
    assert "no stricter k and rules of columns" in said
    series.change()
    with pytest.raises(GuaranteeError) as refused:
        series.warnings(columns=COLUMNS)
    assert all("republish" not in (one.hint or "") for one in refused.value.problems)
    with pytest.raises(GuaranteeError):
        series.warnings(columns=COLUMNS, **FOLLOW)


@pytest.mark.slow
def test_a_larger_k_cannot_be_added_later(tmp_path: Path) -> None:
    series = Series(tmp_path, columns=UNRULED)
    series.warnings(privacy={"k_anonymity": 2})
    series.change()
    with pytest.raises(GuaranteeError) as refused:
        series.warnings()
    assert all("republish" not in (one.hint or "") for one in refused.value.problems)
    assert refused.value.problems
    with pytest.raises(AnonymizerError):
        series.warnings(**FOLLOW)


@some(2, 3)
@pytest.mark.parametrize(
    "more",
    [
        FOLLOW,
        {"republish": {"m": 3}},
        {"algorithm": {"name": "lgb"}},
        {"ledger": None},
        {"columns": {**COLUMNS, "disease": {"role": "sensitive", "protect": {"t_closeness": 0.9}}}},
    ],
)
def test_nothing_is_said_to_whom_it_does_not_concern(tmp_path: Path, more: dict[str, Any]) -> None:
    assert Series(tmp_path).warnings(**more) == []


@pytest.mark.slow
def test_another_view_begins_as_well(tmp_path: Path) -> None:
    series = Series(tmp_path)
    assert len(series.warnings()) == 1
    assert series.warnings() == []
    others = {one + 1000: of for one, of in series.population.people.items()}
    series.population.people = others
    publish = {"name": "others", "database": "others.duckdb"}
    (said,) = series.warnings(publish=publish)
    assert "main.others" in said


def test_a_ledger_is_named_where_one_is_kept() -> None:
    names = Names("main", "released", "2")
    before = [ObjectEntry("main.released", "main", "released", "view", "1")]
    (said,) = replaced_release(names, before, "the database")
    assert said.endswith("or name a ledger")
    (said,) = replaced_release(names, before, "Spark's catalog", keeps_ledger=False)
    assert "ledger" not in said


@pytest.mark.parametrize(("engine", "said"), [("duckdb", True), ("spark", False)])
def test_an_attack_names_a_ledger_where_one_is_kept(engine: str, said: bool) -> None:
    found = Mock(alone_holds=True, broken=lambda: ["somebody is told"])
    (problem,) = _problems(found, policy(Path(), ledger=None, engine=engine))
    assert ("ledger" in (problem.hint or "")) is said
    assert "republish" not in (problem.hint or "")

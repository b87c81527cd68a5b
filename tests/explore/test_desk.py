"""The desk: states, figures on a sample and on everything, and what leaves it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import anonymizer
from anonymizer.errors import PolicyError, TargetError
from anonymizer.explore.desk import desk_input
from anonymizer.explore.edits import Edit
from anonymizer.explore.server import view
from anonymizer.measure.loss import class_losses_sql
from anonymizer.review.lattice import lattice_table
from anonymizer.review.trial import without_refinement
from tests.explore.conftest import HOSTILE, POLICY, RARE, Clinic, Served, settled

K = ("privacy", "k_anonymity")


@pytest.mark.slow
def test_every_figure_of_the_whole_table_is_that_of_a_run(clinic: Clinic) -> None:
    with clinic.desk() as desk:
        desk.change((Edit(K, 8),), "k 8")
        desk.change((Edit(("columns", "admitted", "role"), "quasi"),), "admitted")
        shown = settled(desk)
        desk.save()
    release = anonymizer.run(anonymizer.Policy.load(clinic.policy), clinic.database)
    whole = shown["whole"]
    for name, value in whole["measures"].items():
        assert release.measures[name] == pytest.approx(value), name
    assert whole["loss"] == pytest.approx(release.measures["ncp"])
    assert whole["risk"] == pytest.approx(release.measures["classes"] / release.measures["rows"])
    assert whole["holds"] is True
    achieved = {(c.name, c.column): c.achieved for c in release.verification.checks}
    for check in whole["checks"]:
        assert achieved[check["name"], check["column"]] == pytest.approx(check["achieved"])
    assert clinic.policy.read_text() == POLICY.replace("k_anonymity: 5", "k_anonymity: 8").replace(
        "admitted: {role: drop}", "admitted: {role: quasi}"
    )


@pytest.mark.slow
def test_nothing_is_written_but_by_save(clinic: Clinic) -> None:
    before = clinic.files()
    with clinic.desk() as desk:
        desk.change((Edit(K, 9),), "k 9")
        desk.hierarchies("age")
        desk.tree("age", {"builder": "divisor", "divisors": [5, 10]})
        settled(desk)
        desk.move(-1)
        desk.compare(0, 1)
        assert clinic.files() == before
        desk.move(1)
        desk.save()
        after = clinic.files()
    assert after.keys() == before.keys()
    assert {name for name in after if after[name] != before[name]} == {"policy.yml"}
    assert clinic.files() == after


def test_a_file_that_somebody_else_changed_is_left_alone(clinic: Clinic) -> None:
    with clinic.desk() as desk:
        desk.change((Edit(K, 9),), "k 9")
        clinic.policy.write_text(POLICY + "# mine\n")
        with pytest.raises(TargetError, match="somebody else"):
            desk.save()
    assert clinic.policy.read_text() == POLICY + "# mine\n"


@pytest.mark.slow
def test_a_table_is_drafted_and_saved_where_nothing_was(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TargetError, match="exists"):
        desk_input("visits", clinic.database, None)
    with clinic.desk("visits", target="new.yml") as desk:
        roles = {column["name"]: column["role"] for column in view(desk)["columns"]}
        assert roles["name"] == "identifier"
        assert all(column["reason"] for column in view(desk)["columns"])
        assert not (tmp_path / "new.yml").exists()
        desk.save()
    assert anonymizer.Policy.load(tmp_path / "new.yml").columns.keys() == roles.keys()


def test_a_folder_that_cannot_be_written_is_told_before_the_work(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "closed").mkdir()
    monkeypatch.chdir(tmp_path / "closed")
    monkeypatch.setattr(os, "access", lambda path, mode: path.resolve() != Path.cwd())
    with pytest.raises(TargetError, match=r"policy\.yml is in a folder that cannot be written"):
        desk_input("visits", clinic.database, None)


@pytest.mark.slow
def test_no_value_that_few_rows_have_leaves_the_desk(serving: Callable[..., Served]) -> None:
    page = serving()
    texts = [json.dumps(settled(page.desk))]
    for edits in (
        [{"path": ["columns", "admitted", "role"], "value": "quasi"},
         {"path": ["columns", "kept", "role"], "value": "quasi"}],
        # everything as it is, and classes of two
        [{"path": ["columns", "name", "role"], "value": "keep"},
         {"path": ["privacy", "k_anonymity"], "value": 2}],
    ):  # fmt: skip
        status, found = page.call("change", edits=edits, label="x")
        texts += [json.dumps(found), json.dumps(settled(page.desk))]
    for column in ("age", HOSTILE, "name"):
        status, found = page.call("hierarchies", column=column)
        texts.append(json.dumps(found))
        options = [one["hierarchy"] for one in found if one["hierarchy"]] if status == 200 else []
        for hierarchy in (*options, {"builder": "frequency"}, {"builder": "prefix"}):
            texts.append(json.dumps(page.call("tree", column=column, hierarchy=hierarchy)[1]))
    texts.append(json.dumps(page.call("compare", one=0, other=1)[1]))
    status, found = page.call("rows")
    assert status == 409
    texts.append(json.dumps(found))
    for text in texts:
        # (reasons of a draft count rows; a rare value has no part in them)
        leaked = [part for part in RARE if part in text]
        assert not leaked, text[max(0, text.find(leaked[0]) - 200) :][:300]


@pytest.mark.slow
def test_raw_rows_are_shown_where_the_server_was_started_to(serving: Callable[..., Served]) -> None:
    status, found = serving(show_rows=True).call("rows")
    assert status == 200
    assert "Person-" in json.dumps(found)
    assert HOSTILE in found["columns"]


@pytest.mark.slow
def test_undo_redo_and_two_states_side_by_side(clinic: Clinic) -> None:
    with clinic.desk() as desk:
        first = settled(desk)
        desk.change((Edit(K, 20),), "k 20")
        second = settled(desk)
        assert second["whole"]["loss"] > first["whole"]["loss"]
        assert second["before"]["loss"] == first["sample"]["loss"]
        desk.move(-1)
        assert view(desk)["whole"] == first["whole"]
        assert view(desk)["saved"] is True
        found = desk.compare(0, 1)
        assert found["on"] == "whole"
        losses = {one["what"]: (one["old"], one["new"]) for one in found["losses"]}
        assert losses["age"] == (first["whole"]["losses"]["age"], second["whole"]["losses"]["age"])
        desk.move(1)
        assert view(desk)["at"] == 1
        desk.move(-1)
        desk.change((Edit(K, 7),), "k 7")
        assert [one["label"] for one in view(desk)["history"]] == ["as it was opened", "k 7"]
        with pytest.raises(PolicyError):
            desk.compare(0, 1)


@pytest.mark.slow
def test_what_cannot_run_says_why_and_can_be_undone(clinic: Clinic) -> None:
    with clinic.desk() as desk:
        desk.change((Edit(K, 5_000),), "k 5000")
        shown = settled(desk)
        assert shown["sample"]["problems"]
        assert shown["whole"]["holds"] is False
        desk.move(-1)
        assert settled(desk)["whole"]["holds"] is True


@pytest.mark.slow
def test_the_frontier_and_why(unchanged: Served) -> None:
    shown = settled(unchanged.desk)
    points = [one for one in shown["frontier"]["points"] if not one["problem"]]
    (now,) = [one for one in points if one["now"]]
    assert now["loss"] == shown["sample"]["loss"]
    assert len(points) >= 6
    by_k = {one["name"]: one for one in points}
    assert by_k["k=2"]["loss"] < now["loss"] < by_k["k=20"]["loss"]
    assert by_k["k=2"]["edits"] == [{"path": list(K), "value": 2}]
    why = shown["why"]
    assert why["done"] == why["of"] == len(why["steps"])
    assert why["columns"][0]["loss"] == max(shown["sample"]["losses"].values())
    step = next(one for one in why["steps"] if one["says"] == "k 4 instead of 5")
    assert step["saved"] == pytest.approx(now["loss"] - step["loss"])
    assert [one["saved"] for one in why["steps"]] == sorted(
        (one["saved"] for one in why["steps"]), reverse=True
    )


@pytest.mark.slow
def test_the_observers(unchanged: Served) -> None:
    found = settled(unchanged.desk)["details"]["whole"]["observers"]
    first = found[0]
    assert re.search("all quasi-identifiers", first["who"])
    assert first["before"] > first["after"]
    assert first["after"] <= first["promised"] == 0.2
    assert first["stopped"] is True
    assert any(one["promised"] is None and one["stopped"] is None for one in found)


@pytest.mark.slow
def test_the_classes_that_lose_most(unchanged: Served) -> None:
    """Their shares of the loss add up to all of it, and no cell shows a rare value."""
    shown = settled(unchanged.desk)
    details = shown["details"]["whole"]
    for when in ("before", "after"):
        assert sum(one[when] for one in details["sizes"]) == pytest.approx(1, abs=0.05)
    assert all(one["after"] == 0 for one in details["sizes"] if one["label"] in "1234")
    costly = details["costly_classes"]
    assert costly["columns"] == ["age", HOSTILE]
    *_, losses, shares = zip(*costly["rows"], strict=True)
    assert list(shares) == sorted(shares, reverse=True)
    assert all(0 < loss <= 1 for loss in losses)

    found = unchanged.desk.whole.scratch
    assert found is not None
    beside = found.beside(unchanged.desk.history.now.policy)
    texts = class_losses_sql(found.layout, beside.view, beside.originals)
    lost = sum(row[2] for text in texts for row in beside.run_sql(text.text))
    assert lost == pytest.approx(found.measures["ncp_sum"])
    assert shares[0] * lost == pytest.approx(losses[0] * costly["rows"][0][-3] * 2)


@pytest.mark.slow
def test_the_lattice_is_that_of_plan(clinic: Clinic) -> None:
    with clinic.desk() as desk:
        assert "hierarchy is missing" in view(desk)["table"]["no_lattice"]
        with pytest.raises(PolicyError, match="is missing"):
            desk.lattice()
        desk.change(
            (Edit(("columns", HOSTILE, "role"), "drop"),
             Edit(("columns", "age", "hierarchy"), {"builder": "divisor", "divisors": [10, 30]})),
            "one hierarchy",
        )  # fmt: skip
        assert view(desk)["table"]["no_lattice"] is None
        found = desk.lattice()
        table = lattice_table(desk.history.now.policy, clinic.database)
        assert found["nodes"] == len(table.rows)
        assert [one["k"] for one in found["front"]] == [node["k"] for node in table.front]
        assert 0 < found["holding"] < found["nodes"]
        assert sum(bool(one["optimum"]) for one in found["front"]) <= 1


@pytest.mark.slow
def test_the_whole_table_can_be_stopped(clinic: Clinic) -> None:
    with clinic.desk() as desk:
        desk.stop()
        shown = view(desk)
        assert shown["progress"] is None
        assert shown["whole"] is not None or shown["stopped"]
        desk.change((Edit(K, 6),), "k 6")
        assert settled(desk)["whole"]["measures"]["class_min"] >= 6


def test_a_policy_that_the_desk_does_not_take_says_so(clinic: Clinic) -> None:
    other = clinic.folder / "other.yml"
    other.write_text(POLICY + "engine: postgres\n")
    with pytest.raises(PolicyError, match="explore"):
        desk_input(str(other), clinic.database, None)
    with pytest.raises(TargetError, match="another folder"):
        desk_input(str(clinic.policy), clinic.database, str(other.parent.parent / "other.yml"))
    with pytest.raises(TargetError, match="exists"):
        desk_input(str(clinic.policy), clinic.database, str(other))


@pytest.mark.parametrize(
    ("algorithm", "rule", "left_out"),
    [
        ("{name: mondrian}", "l_diversity: 2", True),
        ("{name: mondrian, refine: full}", "l_diversity: 2", False),
        ("{name: mondrian}", "t_closeness: 0.3", False),
        ("{name: lgb}", "l_diversity: 2", False),
    ],
)
def test_a_sample_is_not_refined_but_dealt(
    tmp_path: Path, algorithm: str, rule: str, left_out: bool
) -> None:
    file = tmp_path / "policy.yml"
    text = POLICY.replace("l_diversity: 2", rule)
    file.write_text(f"{text}algorithm: {algorithm}\n")
    policy = anonymizer.Policy.load(file)
    expected = {"refine": 0} if left_out else {}
    quick = without_refinement(policy)
    assert quick.algorithm == policy.algorithm.model_copy(update=expected)
    assert (quick.privacy, quick.columns) == (policy.privacy, policy.columns)

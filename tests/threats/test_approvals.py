"""A policy runs only as it was approved, and nobody approves without the ledger's key."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from anonymizer import Policy
from anonymizer.errors import AnonymizerError, EngineError, PolicyError
from anonymizer.ledger.approvals import all_approvals, approvals_file
from anonymizer.ledger.store import key_file
from anonymizer.review.approval import approve, required, residual_risks
from tests.schema import hospital

TODAY = datetime.now(UTC).date()
LATER = TODAY + timedelta(days=30)
GIVEN: dict[str, Any] = {
    "version": 1,
    "source": {"table": "people"},
    "key": "id",
    "columns": {
        "id": {"role": "identifier"},
        "age": {"role": "quasi", "hierarchy": {"builder": "cardinality"}},
        "zip": {"role": "quasi", "hierarchy": {"file": "zip.csv"}},
        "ill": {"role": "sensitive", "protect": {"l_diversity": 3}},
    },
    "privacy": {"k_anonymity": 5},
    "suppression_limit": 0.05,
    "publish": {"name": "people_anonymous", "database": "release.duckdb"},
    "ledger": "private/ledger.duckdb",
    "context": {"recipients": "Researchers"},
}


def changed(*path: Any, value: Any) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(GIVEN))
    within = made
    for step in path[:-1]:
        within = within[step]
    if value is None:
        del within[path[-1]]
    else:
        within[path[-1]] = value
    return made


def policy(folder: Path, given: dict[str, Any] = GIVEN) -> Policy:
    return Policy.model_validate(given, context={"base": folder})


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "private").mkdir()
    (tmp_path / "zip.csv").write_text("1,1*,*\n2,2*,*\n")
    return tmp_path


def ledger(place: Path) -> Path:
    return place / "private" / "ledger.duckdb"


def file(place: Path) -> Path:
    return approvals_file(ledger(place))


def test_an_approval_stands_until_its_last_day(place: Path) -> None:
    of = policy(place)
    with pytest.raises(PolicyError, match=r"nobody has approved main\.people_anonymous"):
        required(of)
    made = approve(of, by=" Grace ", until=LATER, note="for one study")
    found = required(of)
    assert found == made
    assert (found.by, found.until, found.note) == ("Grace", LATER.isoformat(), "for one study")
    assert required(of, LATER) == made
    with pytest.raises(PolicyError, match=f"by Grace ended on {LATER}"):
        required(of, LATER + timedelta(days=1))
    # the longest that stands counts, and another approval makes it stand again
    approve(of, by="Ada", until=LATER + timedelta(days=10))
    assert required(of, LATER + timedelta(days=1)).by == "Ada"
    assert [one.by for one in all_approvals(ledger(place))] == ["Grace", "Ada"]


def test_it_lists_what_is_accepted(place: Path) -> None:
    made = approve(policy(place), by="Grace", until=LATER)
    assert "chance of up to 1 in 5" in made.risks[0]
    assert any("minimality" in risk for risk in made.risks)
    assert made.risks == residual_risks(policy(place))


def test_what_has_no_ledger_is_approved_beside_another(place: Path) -> None:
    """As a pseudonymised release without classes, of which a ledger has nothing to remember."""
    none = changed("algorithm", value={"name": "none"})
    del none["privacy"], none["columns"]["ill"]["protect"], none["ledger"]
    none["columns"]["age"] = none["columns"]["zip"] = {"role": "keep"}
    of, beside = policy(place, none), str(ledger(place))
    made = approve(of, by="Grace", until=LATER, ledger=beside)
    assert made.risks[0].startswith("Pseudonymised")
    assert made.risks[1].startswith("No guarantee holds")
    assert required(of, ledger=beside) == made
    with pytest.raises(PolicyError, match="ledger: is missing"):
        required(of)


def test_a_ledger_that_the_command_names_goes_before_the_policys(place: Path) -> None:
    """Who may change the policy could name a ledger of their own, with a key of their own."""
    (place / "mine").mkdir()
    forged = policy(place, changed("ledger", value="mine/ledger.duckdb"))
    approve(forged, by="Mallory", until=LATER)
    assert required(forged).by == "Mallory"
    with pytest.raises(PolicyError, match="nobody has approved"):
        required(forged, ledger=str(ledger(place)))


def test_what_it_writes_is_its_owners_alone(place: Path) -> None:
    approve(policy(place), by="Grace", until=LATER)
    for path in (file(place), key_file(ledger(place))):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not ledger(place).exists()
    assert key_file(ledger(place)).read_text().strip() not in file(place).read_text()


# what changes the meaning of a policy, and the path of the message
CHANGES: dict[str, tuple[tuple[Any, ...], Any, str]] = {
    "a smaller k": (("privacy", "k_anonymity"), 4, "k_anonymity: was k=5 when Grace approved"),
    "a larger k": (("privacy", "k_anonymity"), 6, "k_anonymity: was k=5"),
    "no rule": (("columns", "ill", "protect"), None, "distinct_l (ill): was l=3"),
    "another role": (("columns", "age", "role"), "keep", "age: was quasi"),
    "another hierarchy": (
        ("columns", "age", "hierarchy"), {"builder": "intervals", "cuts": [30, 60]},
        "columns.age.hierarchy.builder: was cardinality",
    ),
    "more suppression": (("suppression_limit",), 0.5, "suppression limit: was 0.05"),
    "another algorithm": (("algorithm",), {"name": "lgb"}, "algorithm.name: was mondrian"),
    "another source": (("source", "table"), "everybody", "source.table: was people"),
    "another place": (("publish", "database"), "r.duckdb", "publish.database: is not as it was"),
    "other cells": (("publish", "cells"), "typed", "publish.cells: was text"),
    "another recipient": (
        ("context", "recipients"), "Everybody", "context.recipients: is not as it was when Grace",
    ),
    "no context": (("context",), None, "context.recipients: is not as it was when Grace"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_policy_is_refused(place: Path, name: str) -> None:
    path, value, says = CHANGES[name]
    approve(policy(place), by="Grace", until=LATER)
    given = changed(*path, value=value)
    if name == "another role":
        del given["columns"]["age"]["hierarchy"]
    with pytest.raises(PolicyError) as told:
        required(policy(place, given))
    assert says in str(told.value)
    assert "anonymizer approve" in str(told.value)
    # approved again, it may run; and the first approval stands as it was
    approve(policy(place, given), by="Grace", until=LATER)
    assert required(policy(place, given)).policy_digest == policy(place, given).digest()
    assert required(policy(place)).policy_digest == policy(place).digest()


def test_the_order_of_columns_counts_as_a_change(place: Path) -> None:
    """It decides ties, so that another order can give other cells."""
    approve(policy(place), by="Grace", until=LATER)
    given = changed("columns", value=dict(reversed(GIVEN["columns"].items())))
    with pytest.raises(PolicyError, match="in the order of columns"):
        required(policy(place, given))


def test_the_content_of_a_hierarchy_counts(place: Path) -> None:
    approve(policy(place), by="Grace", until=LATER)
    (place / "zip.csv").write_text("1,*\n2,*\n")
    with pytest.raises(PolicyError, match=r"columns\.zip\.hierarchy\.file: has another content"):
        required(policy(place))
    (place / "zip.csv").unlink()
    for of in (lambda p: approve(p, by="Grace", until=LATER), required):
        with pytest.raises(PolicyError, match="there is no file"):
            of(policy(place))


def test_what_is_written_otherwise_and_means_the_same(place: Path) -> None:
    approve(policy(place), by="Grace", until=LATER)
    same = changed("algorithm", value={"name": "mondrian", "split": "loss"})
    same["publish"]["schema"] = "main"
    assert required(policy(place, same)).by == "Grace"
    text = json.dumps(GIVEN, indent=8)
    assert required(Policy.loads("# a comment\n" + text, place)).by == "Grace"


def test_every_kind_of_key_is_read_as_it_was_written(place: Path) -> None:
    """Numbers as keys, which JSON does not have; the same policy afterwards, by its digest."""
    given = changed("columns", "ill", "protect", value=None)
    levels = {10: ["HIV"], 2: ["Cancer"], 0: ["Flu"]}
    given["columns"]["ill"]["protect"] = {"levels": levels, "default_level": 0}
    given["privacy"] = {"k_anonymity": 5, "level_l": {0: 1, 2: 2, 10: 3}}
    given["algorithm"] = {"name": "msb"}
    del given["columns"]["zip"]["hierarchy"], given["columns"]["age"]["hierarchy"]
    del given["key"], given["ledger"], given["privacy"]["k_anonymity"]
    of = policy(place, given)
    made = approve(of, by="Grace", until=LATER, ledger=str(ledger(place)))
    found = required(of, ledger=str(ledger(place)))
    assert found.by == "Grace"
    assert policy(place, dict(found.policy)).digest() == of.digest() == made.policy_digest
    # a refusal repeats no value of the data that the policy names
    given["columns"]["ill"]["protect"]["levels"][0] = ["Flu", "Cold"]
    with pytest.raises(PolicyError, match=r"level_l \(ill\): is not as it was") as told:
        required(policy(place, given), ledger=str(ledger(place)))
    assert not [value for value in ("HIV", "Flu", "Cold") if value in str(told.value)]


def lines(place: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file(place).read_text().splitlines()]


def edited(*path: Any, value: Any) -> Callable[[Path], None]:
    def forge(place: Path) -> None:
        found = lines(place)
        within: Any = found[-1]
        for step in path[:-1]:
            within = within[step]
        within[path[-1]] = value
        file(place).write_text("".join(json.dumps(one) + "\n" for one in found))

    return forge


def unsigned(place: Path) -> None:
    """An approval of a weaker policy, written by hand beside a genuine one."""
    found = lines(place)
    made = json.loads(json.dumps(found[-1]))
    weaker = policy(place, changed("privacy", "k_anonymity", value=2))
    made["approval"] |= {"policy": weaker.to_dict(), "policy_digest": weaker.digest()}
    file(place).write_text("".join(json.dumps(one) + "\n" for one in (*found, made)))


def another_key(place: Path) -> None:
    """Approved in a folder of the forger's own."""
    other = place / "other"
    (other / "private").mkdir(parents=True)
    (other / "zip.csv").write_text((place / "zip.csv").read_text())
    approve(policy(other), by="Mallory", until=LATER)
    file(place).write_text(file(place).read_text() + file(other).read_text())


FORGERIES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a later day": (edited("approval", "until", value="2999-01-01"), "line 1 was not written"),
    "another name": (edited("approval", "by", value="The King"), "line 1 was not written"),
    "another policy": (edited("approval", "policy_digest", value="0" * 64), "line 1 was not"),
    "more risks": (edited("approval", "risks", value=["all"]), "line 1 was not written"),
    "a field more": (edited("approval", "final", value=True), "line 1 was not written"),
    "no code": (edited("mac", value=""), "line 1 was not written"),
    "a code that is none": (edited("mac", value=["ä"]), "line 1 was not written"),
    "a line by hand": (unsigned, "line 2 was not written"),
    "under another key": (another_key, "line 2 was not written"),
    "no JSON": (lambda p: file(p).write_text("approved\n"), "line 1 was not written"),
    "a list": (lambda p: file(p).write_text("[1]\n"), "line 1 was not written"),
    "other bytes": (lambda p: file(p).write_bytes(b"\xff\n"), "cannot be read"),
    "no key": (lambda p: key_file(ledger(p)).unlink(), "the key ledger.duckdb.key"),
    "another key": (
        lambda p: key_file(ledger(p)).write_text("0" * 64 + "\n"), "line 1 was not written",
    ),
    "a key for everybody": (
        lambda p: key_file(ledger(p)).chmod(0o644), "can be read by others than its owner",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_no_approval_without_the_key(place: Path, name: str) -> None:
    forge, says = FORGERIES[name]
    approve(policy(place), by="Grace", until=LATER)
    forge(place)
    for given in (GIVEN, changed("privacy", "k_anonymity", value=2)):
        with pytest.raises(EngineError) as told:
            required(policy(place, given))
        assert says in str(told.value)
    if name != "no key":
        # and nobody approves on top of it, which would hide that it was changed
        with pytest.raises(AnonymizerError):
            approve(policy(place), by="Grace", until=LATER)


def test_a_ledger_without_its_key_takes_none(place: Path) -> None:
    ledger(place).write_bytes(b"")
    with pytest.raises(EngineError, match="is missing"):
        approve(policy(place), by="Grace", until=LATER)


def test_an_approval_is_of_one_release(place: Path) -> None:
    approve(policy(place), by="Grace", until=LATER)
    other = changed("publish", "name", value="people_2027")
    with pytest.raises(PolicyError, match=r"nobody has approved main\.people_2027"):
        required(policy(place, other))


def test_a_risk_that_became_known_later_is_not_accepted(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anonymizer.review import approval

    approve(policy(place), by="Grace", until=LATER)
    risks = (*residual_risks(policy(place)), "mosaics (2027): a new attack")
    monkeypatch.setattr(approval, "residual_risks", lambda _: risks)
    with pytest.raises(PolicyError, match=r"does not cover this risk: mosaics"):
        required(policy(place))


@pytest.mark.parametrize(
    ("by", "until", "says"),
    [
        (" ", LATER, "--by: must not be blank"),
        ("Grace", TODAY - timedelta(days=1), "--until: is over"),
        ("Grace", date(1, 1, 1), "--until: is over"),
    ],
)
def test_what_is_no_approval(place: Path, by: str, until: date, says: str) -> None:
    with pytest.raises(PolicyError) as told:
        approve(policy(place), by=by, until=until)
    assert says in str(told.value)
    assert list((place / "private").iterdir()) == []


def test_a_policy_without_a_ledger(place: Path) -> None:
    for given in (changed("ledger", value=None), changed("ledger", value="nowhere/l.duckdb")):
        for of in (lambda p: approve(p, by="Grace", until=LATER), required):
            with pytest.raises(PolicyError, match=r"ledger: is (missing|in a folder)"):
                of(policy(place, given))


def test_several_tables(tmp_path: Path) -> None:
    given = {"privacy.knows": {"events": 0}, "ledger": "ledger.duckdb"}
    of = hospital.policy(tmp_path, given)
    made = approve(of, by="Grace", until=LATER)
    assert any("single event" in risk for risk in made.risks)
    assert required(of) == made
    weaker = hospital.policy(tmp_path, given | {"privacy.k_anonymity": 2})
    with pytest.raises(PolicyError, match="k_anonymity: was k="):
        required(weaker)

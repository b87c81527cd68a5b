"""A policy runs only as it was approved, and nobody approves without the ledger's key."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from anonymizer import Policy
from anonymizer.errors import AnonymizerError, EngineError, PolicyError
from anonymizer.ledger.approvals import approvals_file, known
from anonymizer.ledger.store import key_file
from anonymizer.review.approval import approve, required, residual_risks

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
    assert [one.by for one in known(ledger(place))] == ["Grace", "Ada"]


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


def test_the_content_of_a_hierarchy_counts(place: Path) -> None:
    approve(policy(place), by="Grace", until=LATER)
    (place / "zip.csv").write_text("1,*\n2,*\n")
    with pytest.raises(PolicyError, match=r"columns\.zip\.hierarchy\.file: has another content"):
        required(policy(place))
    (place / "zip.csv").unlink()
    for of in (lambda p: approve(p, by="Grace", until=LATER), required):
        with pytest.raises(PolicyError, match="there is no file"):
            of(policy(place))


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

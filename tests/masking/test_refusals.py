"""What does not fit the source, and key files that cannot be used: told before a row is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.errors import PolicyError, SourceError
from tests.masking.runs import key_file
from tests.masking.values import table
from tests.runs import policy, run
from tests.selection import some

VALUES: dict[str, tuple[str, list[Any]]] = {
    "q": ("INTEGER", [n % 2 for n in range(20)]),
    "number": ("INTEGER", [n % 3 for n in range(20)]),
    "real": ("DOUBLE", [n % 3 / 2 for n in range(20)]),
    "price": ("DECIMAL(9,2)", [n % 3 for n in range(20)]),
    "share": ("DECIMAL(38,38)", [n % 3 / 4 for n in range(20)]),
    "text": ("VARCHAR", ["x"] * 20),
    "day": ("DATE", ["2020-01-01"] * 20),
    "flag": ("BOOLEAN", [True] * 20),
}
UNFIT: dict[str, tuple[str, dict[str, Any], str]] = {
    "redact a number": ("number", {"role": "redact"}, "role"),
    "redact a date": ("day", {"role": "redact"}, "role"),
    "shift a text": ("text", {"role": "shift", "within": 3, "per": "q"}, "role"),
    "shift a number": ("number", {"role": "shift", "within": 3, "per": "q"}, "role"),
    "noise on a date": ("day", {"role": "noise", "amount": 3}, "role"),
    "noise on a flag": ("flag", {"role": "noise", "amount": 3}, "role"),
    "a code of a text": ("text", {"role": "top_code", "at": 3}, "role"),
    "a code of a flag": ("flag", {"role": "bottom_code", "at_least": 3}, "role"),
    "a date as the code of a number": ("number", {"role": "top_code", "at": "2020-01-01"}, "at"),
    "a number as the code of a date": ("day", {"role": "top_code", "at": 3}, "at"),
    "half a person": ("number", {"role": "top_code", "at": 2.5}, "at"),
    "a code beyond the type": ("number", {"role": "top_code", "at": 2**40}, "at"),
    "a code finer than the type": ("price", {"role": "top_code", "at": 1.005}, "at"),
    "a number rounded to months": ("number", {"role": "round", "to": "month"}, "to"),
    "a date rounded to fives": ("day", {"role": "round", "to": 5}, "to"),
    "a date rounded to hours": ("day", {"role": "round", "to": "hour"}, "to"),
    "whole numbers rounded to halves": ("number", {"role": "round", "to": 0.5}, "to"),
    "prices rounded to mills": ("price", {"role": "round", "to": 0.001}, "to"),
    "a whole step of a share": ("share", {"role": "round", "to": 5}, "to"),
    "a code beyond a share": ("share", {"role": "top_code", "at": 1}, "at"),
    "noise beyond a share": ("share", {"role": "noise", "amount": 1}, "amount"),
    "a text rounded": ("text", {"role": "round", "to": 5}, "role"),
    "noise finer than the type": ("number", {"role": "noise", "amount": 0.5}, "amount"),
    "noise between dates": (
        "number",
        {"role": "noise", "amount": 3, "between": ["2020-01-01", "2021-01-01"]},
        "between",
    ),
    "a text coded": ("text", {"role": "quasi", "top_code": 3}, "top_code"),
    "a date coded at a number": ("day", {"role": "quasi", "top_code": 3}, "top_code.at"),
    "a number rounded to weeks": ("number", {"role": "quasi", "round": "week"}, "round.to"),
}


def released(folder: Path, roles: dict[str, Any]) -> None:
    whole = {name: roles.get(name, "quasi" if name == "q" else "drop") for name in VALUES}
    run(policy(folder, whole), table(folder, VALUES))


@some(7)
@pytest.mark.parametrize("case", UNFIT)
def test_a_mask_that_does_not_fit_the_type(tmp_path: Path, case: str) -> None:
    name, role, option = UNFIT[case]
    with pytest.raises(SourceError) as raised:
        released(tmp_path, {name: role})
    (problem,) = raised.value.problems
    assert problem.path == f"columns.{name}.{option}"
    assert problem.allowed
    assert not (tmp_path / "release.duckdb").exists()


KEYS: dict[str, tuple[str | bytes | None, int, str]] = {
    "missing": (None, 0o600, "not there"),
    "read by others": ("0" * 64, 0o644, "read by others"),
    "read by the group": ("0" * 64, 0o640, "read by others"),
    "empty": ("", 0o600, "holds no key"),
    "too short": ("0" * 63, 0o600, "holds no key"),
    "too long": ("0" * 65, 0o600, "holds no key"),
    "no digits": ("g" * 64, 0o600, "holds no key"),
    "two lines": ("0" * 64 + "\n" + "0" * 64, 0o600, "holds no key"),
    "not text": (b"\xff\xfe" * 32, 0o600, "cannot be read"),
}


@pytest.mark.parametrize("case", KEYS)
def test_key_files_that_cannot_be_used(tmp_path: Path, case: str) -> None:
    content, mode, said = KEYS[case]
    file = tmp_path / "tokens.key"
    if content is not None:
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        file.chmod(mode)
    with pytest.raises(PolicyError) as raised:
        released(tmp_path, {"text": {"role": "token", "key_file": "tokens.key"}})
    (problem,) = raised.value.problems
    assert problem.path == "columns.text.key_file"
    assert said in problem.message
    assert problem.hint
    assert "0000" not in str(raised.value)
    assert not (tmp_path / "release.duckdb").exists()


def test_a_key_stands_in_no_file_and_no_plan(tmp_path: Path) -> None:
    key = key_file(tmp_path)
    database = table(tmp_path, VALUES)
    whole: dict[str, Any] = dict.fromkeys(VALUES, "drop") | {"q": "quasi"}
    whole["text"] = {"role": "token", "key_file": "tokens.key"}
    asked = policy(tmp_path, whole)
    release = run(asked, database)
    told = anonymizer.plan(asked, database).sql() + (release.verification.checks[0].sql or "")
    for file in tmp_path.iterdir():
        if file.is_file() and file.name != "tokens.key":
            assert key not in file.read_bytes()
            assert key.hex().encode() not in file.read_bytes()
    assert key.hex() not in told


@pytest.mark.parametrize(
    ("option", "more"),
    [("within", {"within": 60}), ("keep", {"keep": ["weekday"]}), ("key_file", {"key_file": "k"})],
)
def test_dates_of_a_person_that_would_move_apart(
    tmp_path: Path, option: str, more: dict[str, Any]
) -> None:
    shift = {"role": "shift", "within": 30}
    roles: dict[str, Any] = dict.fromkeys(VALUES, "drop") | {"q": "quasi"}
    roles |= {"day": shift, "other": {**shift, **more}}
    with pytest.raises(PolicyError) as raised:
        policy(tmp_path, roles, person="text")
    (problem,) = raised.value.problems
    assert problem.path == f"columns.other.{option}"
    assert "would move by other days" in problem.message
    roles["other"] |= {"per": "number"}
    policy(tmp_path, roles, person="text")


SMALL: dict[str, dict[str, Any]] = {
    "an amount": {"amount": 1},
    "a share": {"share": 0.0001},
}


@some(1)
@pytest.mark.parametrize("persons", [False, True])
@pytest.mark.parametrize("how", SMALL)
def test_noise_that_hides_nothing(tmp_path: Path, how: str, persons: bool) -> None:
    """Numbers that are a thousand apart are told by the nearest one."""
    columns: dict[str, tuple[str, list[Any]]] = {
        "who": ("INTEGER", [n // 2 for n in range(60)]),
        "q": ("INTEGER", [n // 2 % 2 for n in range(60)]),
        "mrn": ("INTEGER", [7_000_000 + n // (1 + persons) * 3_000 for n in range(60)]),
    }
    roles: dict[str, Any] = {"who": "drop", "q": "quasi", "mrn": {"role": "noise", **SMALL[how]}}
    rest: dict[str, Any] = {"person": "who"} if persons else {}
    database = table(tmp_path, columns)
    with pytest.raises(SourceError, match=r"columns\.mrn: has too little noise") as raised:
        run(policy(tmp_path, roles, **rest), database)
    assert "7000" not in str(raised.value)
    roles["mrn"] = {"role": "noise", "share": 0.2}
    run(policy(tmp_path, roles, **rest), database)

"""A fault planted in a mask is found: by the run before it publishes, and by `verify`."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.compile import Sql, quote
from anonymizer.errors import AnonymizerError, GuaranteeError, SourceError
from anonymizer.independent.fetch import UnreadableError
from anonymizer.independent.judge import judge
from anonymizer.source.masking import expressions, stages
from anonymizer.source.masking.masks import Mask
from tests.forging import seal_again
from tests.masking.runs import KEPT
from tests.masking.values import table
from tests.runs import policy, run
from tests.selection import some

pytestmark = pytest.mark.slow

ROWS = 60
BROKEN = 7
"""The row in which the fault is; another row of its person, with the same values, is 37."""
OPEN = {"acknowledge_unique": True}


def notes(number: int) -> str:
    return f"write to p{number}@example.org" if number % 2 else f"nothing to see {number}"


def day(number: int) -> dt.date:
    return dt.date(2020, 1, 1) + dt.timedelta(number * 3)


SOURCE: dict[str, tuple[str, Callable[[int], Any]]] = {
    "id": ("INTEGER", lambda n: n),
    "who": ("VARCHAR", lambda n: f"p{n % 30}"),
    "sex": ("BOOLEAN", lambda n: n % 2 == 0),
    "age": ("INTEGER", lambda n: 20 + n % 30 * 3),
    "customer": ("VARCHAR", lambda n: f"c{n % 30}"),
    "account": ("INTEGER", lambda n: 1000 + n % 30),
    "plate": ("VARCHAR", lambda n: f"B-XY {n % 30:06d}"),
    "seen": ("DATE", day),
    "left": ("TIMESTAMP", lambda n: dt.datetime(2021, 1, 1, 8) + dt.timedelta(n * 2)),
    "income": ("INTEGER", lambda n: n * 10),
    "weight": ("DOUBLE", lambda n: 40.0 + n),
    "rich": ("INTEGER", lambda n: n * 10),
    "wage": ("INTEGER", lambda n: n * 13),
    "born": ("DATE", day),
    "cost": ("DOUBLE", lambda n: n * 1.5),
    "dose": ("DECIMAL(9,2)", lambda n: n),
    "note": ("VARCHAR", notes),
    "name": ("VARCHAR", lambda n: f"Name {n}"),
    "town": ("VARCHAR", lambda n: f"Town {n}"),
    "site": ("INTEGER", lambda n: n),
    "ill": ("INTEGER", lambda n: n % 5 * 100),
}
ROLES: dict[str, Any] = {
    "id": KEPT,
    "who": "drop",
    "sex": "quasi",
    "age": {"role": "quasi", "top_code": 90},
    "customer": {"role": "token"},
    "account": {"role": "token", "format": "number"},
    "plate": {"role": "token", "format": "like"},
    "seen": {"role": "shift", "within": "60 days", "keep": ["weekday"]},
    "left": {"role": "shift", "within": "60 days", "keep": ["weekday"]},
    "income": {"role": "top_code", "at": 500, **OPEN},
    "weight": {"role": "bottom_code", "at": 50.5, **OPEN},
    "rich": {"role": "top_code", "at_least": 5, **OPEN},
    "wage": {"role": "round", "to": 50},
    "born": {"role": "round", "to": "month"},
    "cost": {"role": "noise", "amount": 2, "between": [0, 100]},
    "dose": {"role": "noise", "share": 0.1},
    "note": {"role": "redact", **OPEN},
    "name": {"role": "null"},
    "town": {"role": "constant", "value": "removed"},
    "site": {"role": "constant", "value": 7},
    "ill": {"role": "sensitive", "protect": {"l_diversity": 2}, "top_code": 300},
}


def made(folder: Path) -> tuple[Path, Policy]:
    database = table(
        folder, {name: (kind, [f(n) for n in range(ROWS)]) for name, (kind, f) in SOURCE.items()}
    )
    asked = policy(
        folder,
        ROLES,
        person="who",
        merge_person_rows=True,
        suppression_limit=0.2,
        publish={"name": "masked"},
    )
    return database, asked


def test_nothing_is_found_where_nothing_was_planted(tmp_path: Path) -> None:
    database, asked = made(tmp_path)
    run(asked, database)
    assert anonymizer.verify(asked).passed
    assert anonymizer.verify(None, tmp_path / "release.duckdb").passed
    assert all(one.passed for one in judge(tmp_path / "release.duckdb").checks)


# in the statement that masks --------------------------------------------------------------------

Planted = tuple[str, str, str]
"""The column, what its cell is in the broken row, and the check that finds it. In the cell, `v` is
the value and `m` what should be published."""
IN_THE_RUN: dict[str, Planted] = {
    "a value with two tokens": (
        "customer",
        "sha256(m)",
        "source_mask_one_to_one",
    ),
    "two values with one token": (
        "customer",
        "(select max(x.c) from (select 'ab' || substr(m, 3) as c) x)",
        "source_mask_one_to_one",
    ),
    "a value as its token": ("customer", "v", "source_mask_foreign"),
    "no token": ("customer", "null", "source_mask_one_to_one"),
    "a token that is an account": ("account", "cast(1003 as bigint)", "source_mask_foreign"),
    "a token unlike its value": ("plate", "'B-XY 12345x'", "source_mask_like"),
    "a token of another length": ("plate", "m || '1'", "source_mask_like"),
    "a date that was not shifted": ("seen", "v", "source_mask_shift"),
    "a date shifted by another span": ("seen", "m + 7", "source_mask_shift"),
    "a date that went": ("seen", "null", "source_mask_shift"),
    "a time shifted by an hour more": ("left", "m + to_hours(1)", "source_mask_shift"),
    "a value above its code": ("income", "v + 1000", "mask_beyond"),
    "a value below its code": ("weight", "cast(3 as double)", "mask_beyond"),
    "a value that was coded for nothing": ("income", "500", "source_mask_coded"),
    "a value above the code that was found": ("rich", "v + 1000", "mask_group"),
    "a value that is no multiple": ("wage", "51", "mask_rounded"),
    "a multiple further away": ("wage", "m + 50", "source_mask_rounded"),
    "a date within its month": ("born", "m + 1", "mask_rounded"),
    "the first day of another month": ("born", "date '2019-12-01'", "source_mask_rounded"),
    "more noise than is allowed": ("cost", "v + 2.5", "source_mask_near"),
    "noise beyond the bounds": ("cost", "cast(-0.5 as double)", "mask_between"),
    "more noise than the share": ("dose", "cast(v * 1.2 as decimal(9,2))", "source_mask_near"),
    "a mail left in a text": ("note", "v", "mask_patterns"),
    "a text that was changed for nothing": ("note", "v || '!'", "source_mask_untouched"),
    "a text that went": ("note", "null", "source_mask_untouched"),
    "a value that should be NULL": ("name", "v", "mask_constant"),
    "a value that should be the constant": ("town", "v", "mask_constant"),
    "a constant that is NULL": ("town", "null", "mask_constant"),
    "an age that was not coded": ("age", "v + 100", "source_mask_coded"),
    "an illness above its code": ("ill", "v + 1000", "mask_beyond"),
    "an illness that was changed": ("ill", "v + 1", "source_mask_coded"),
}
EVEN = ("a text that was changed for nothing",)
"""Faults that need a text in which there is nothing."""


@some(3)
@pytest.mark.parametrize("fault", IN_THE_RUN)
def test_a_run_finds_it_and_publishes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    name, cell, check = IN_THE_RUN[fault]
    honest = expressions.mask_value
    row = BROKEN + 1 if fault in EVEN else BROKEN

    def planted(mask: Mask, value: Sql, *rest: Any) -> Sql:
        right = honest(mask, value, *rest)
        if mask.column != name:
            return right
        pieces = {"v": str(value), "m": f"({right})"}
        wrong = "".join(_words(cell, pieces))
        return Sql(f"case when r.k1 = {row} then {wrong} else {right} end")

    monkeypatch.setattr(stages, "mask_value", planted)
    database, asked = made(tmp_path)
    if fault == "two values with one token":
        # the same token for a whole half of the values
        monkeypatch.setattr(
            stages,
            "mask_value",
            lambda mask, value, *rest: (
                Sql(f"left({honest(mask, value, *rest)}, 0) || repeat('ab', 32)")
                if mask.column == name
                else honest(mask, value, *rest)
            ),
        )
    with pytest.raises(AnonymizerError) as raised:
        run(asked, database)
    found = str(raised.value)
    # what looks like an identifier is refused before anything else is done
    assert check in found or isinstance(raised.value, SourceError)
    assert f"columns.{name}" in found
    assert not (tmp_path / "release.duckdb").exists()


def _words(text: str, pieces: dict[str, str]) -> list[str]:
    import re

    return [pieces.get(word, word) for word in re.split(r"(\b[vm]\b)", text)]


# in a release ----------------------------------------------------------------------------------

IN_THE_RELEASE: dict[str, Planted] = {
    "a token of another form": ("customer", "'c7'", "mask_form"),
    "a token with capitals": ("customer", "upper(m)", "mask_form"),
    "a number below 0": ("account", "-5", "mask_form"),
    "a value above its code": ("income", "501", "mask_beyond"),
    "a value below its code": ("weight", "50.4", "mask_beyond"),
    "one person at the code": ("rich", "100000", "mask_group"),
    "no multiple": ("wage", "51", "mask_rounded"),
    "a day within the month": ("born", "m + 1", "mask_rounded"),
    "noise beyond the bounds": ("cost", "100.5", "mask_between"),
    "a mail in a text": ("note", "'see x@example.org'", "mask_patterns"),
    "a name": ("name", "'Name 7'", "mask_constant"),
    "another constant": ("town", "'Town 7'", "mask_constant"),
    "another number": ("site", "8", "mask_constant"),
    "a constant that is NULL": ("town", "null", "mask_constant"),
    "an illness above its code": ("ill", "400", "mask_beyond"),
}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Policy]:
    folder = tmp_path_factory.mktemp("masked")
    database, asked = made(folder)
    run(asked, database)
    return folder, asked


@pytest.fixture
def copied(tmp_path: Path, published: tuple[Path, Policy]) -> tuple[Path, Policy]:
    shutil.copyfile(published[0] / "release.duckdb", tmp_path / "release.duckdb")
    _, asked = made(tmp_path)
    return tmp_path / "release.duckdb", asked


def frozen(connection: duckdb.DuckDBPyConnection) -> str:
    query = "select table_name from duckdb_tables() where starts_with(table_name, '_masked')"
    ((name,),) = connection.execute(query).fetchall()
    return quote(str(name))


@some(2, len(IN_THE_RELEASE))
@pytest.mark.parametrize("fault", IN_THE_RELEASE)
def test_verify_finds_it(copied: tuple[Path, Policy], fault: str) -> None:
    file, asked = copied
    name, cell, check = IN_THE_RELEASE[fault]
    with duckdb.connect(str(file)) as connection:
        wrong = "".join(_words(cell, {"m": quote(name)}))
        connection.execute(
            f"update {frozen(connection)} set {quote(name)} = {wrong} where id = {BROKEN}"
        )
    with pytest.raises(GuaranteeError):  # what was changed is told by the seal
        anonymizer.verify(asked)
    seal_again(file, "masked")
    for given in (asked, None):
        judged = anonymizer.verify(given, None if given else file)
        failed = {(one.name, one.column) for one in judged.checks if not one.passed}
        assert (check, name) in failed
    own = {(one.name, one.column) for one in judge(file).checks if not one.passed}
    assert (check, name) in own


# forged manifests ------------------------------------------------------------------------------

STRANGE: dict[str, Any] = {
    "unknown": [{"mask": "shuffle"}],
    "no name": [{}],
    "a text": "token",
    "a number": 7,
    "a list of texts": ["token"],
    "an object": {"mask": "token"},
    "null": None,
    "a name that is a number": [{"mask": 3}],
    "a name that is a list": [{"mask": ["token"]}],
    "another format": [{"mask": "token", "format": "rot13"}],
    "a format that is a list": [{"mask": "token", "format": ["hex"]}],
    "a code that is a text": [{"mask": "top_code", "at": "x'); drop table y; --"}],
    "a code that is a list": [{"mask": "top_code", "at": [1]}],
    "a code without a value": [{"mask": "top_code"}],
    "a group that is a text": [{"mask": "top_code", "at_least": "many"}],
    "rounded to nothing": [{"mask": "round"}],
    "rounded to zero": [{"mask": "round", "to": 0}],
    "rounded to a century": [{"mask": "round", "to": "century"}],
    "rounded to a truth": [{"mask": "round", "to": True}],
    "between one": [{"mask": "noise", "amount": 2, "between": [1]}],
    "between texts": [{"mask": "noise", "amount": 2, "between": ["a", "b"]}],
    "patterns of nothing": [{"mask": "redact", "patterns": ["shoe size"]}],
    "patterns that are a number": [{"mask": "redact", "patterns": 5}],
    "no constant": [{"mask": "constant"}],
    "a constant that is a list": [{"mask": "constant", "value": [1]}],
    "another option": [{"mask": "null", "really": False}],
}


def forge(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the manifest of a release, and seal it again."""
    with duckdb.connect(str(file)) as connection:
        query = "select table_schema, table_name from information_schema.tables"
        names = connection.execute(f"{query} where table_name = 'masked_manifest'").fetchall()
        ((schema, table_name),) = names
        place = f"{quote(schema)}.{quote(table_name)}"
        (column,) = [
            one
            for one, *_ in connection.execute(f"describe {place}").fetchall()
            if "manifest" in one.lower() or one == "content"
        ]
        ((text,),) = connection.execute(f"select {quote(column)} from {place}").fetchall()
        data = json.loads(text)
        change(data)
        connection.execute(f"update {place} set {quote(column)} = ?", [json.dumps(data)])


def set_masks(name: str, masks: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        for column in data["layout"]["columns"]:
            if column["column"] == name:
                if masks is None:
                    column.pop("masks")
                else:
                    column["masks"] = masks

    return change


@some(5)
@pytest.mark.parametrize("name", ["customer", "income", "town"])
@pytest.mark.parametrize("case", STRANGE)
def test_strange_masks_of_a_manifest_are_refused(
    copied: tuple[Path, Policy], case: str, name: str
) -> None:
    file, asked = copied
    forge(file, set_masks(name, STRANGE[case]))
    # what cannot be sealed keeps the seal of before
    with suppress(AnonymizerError, TypeError, ValueError, KeyError):
        seal_again(file, "masked")
    with pytest.raises(AnonymizerError):
        anonymizer.verify(asked)
    if STRANGE[case] is None:
        return  # nobody but the policy knows that something was masked
    with suppress(AnonymizerError):
        assert not anonymizer.verify(None, file).passed
    with suppress(UnreadableError):
        assert not judge(file).passed


@pytest.mark.parametrize(
    ("name", "masks"),
    [
        ("income", [{"mask": "top_code", "at": 900}]),
        ("rich", [{"mask": "top_code", "at_least": 2}]),
        ("wage", [{"mask": "round", "to": 1, "method": "nearest"}]),
        ("cost", [{"mask": "noise", "amount": 50}]),
        ("note", [{"mask": "redact", "patterns": ["uuid"]}]),
        ("town", [{"mask": "constant", "value": "gone"}]),
        ("customer", [{"mask": "token", "format": "like"}]),
        ("seen", [{"mask": "shift", "within": 60}]),
        ("ill", None),
        ("age", None),
    ],
)
def test_masks_that_promise_less_than_the_policy_are_refused(
    copied: tuple[Path, Policy], name: str, masks: Any
) -> None:
    file, asked = copied
    forge(file, set_masks(name, masks))
    seal_again(file, "masked")
    with pytest.raises(GuaranteeError) as raised:
        anonymizer.verify(asked)
    assert raised.value.problems[0].path == f"columns.{name}"

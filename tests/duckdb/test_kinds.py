"""Two kinds of release, never mixed in words; and releases of the algorithm none."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.cli import main
from anonymizer.compile import Table
from anonymizer.contract.layout import Layout, PublishedColumn, Requirement
from anonymizer.errors import (
    AnonymizerError,
    NothingToCheckError,
    PolicyError,
    SourceError,
)
from anonymizer.independent import UnreadableError, judge
from anonymizer.independent.manifest import read_manifest
from anonymizer.policy.kinds import CLASSLESS
from anonymizer.release.manifest import parsed
from anonymizer.release.published import Release
from anonymizer.review.attack import attack
from anonymizer.review.lattice import lattice_table
from anonymizer.verification.release import verify_release
from tests.masking.runs import key_file
from tests.runs import policy, published, run, source
from tests.selection import some

WORD = re.compile(
    r"\banonym(ous|ised|ized|ise|ize|isation|ization|ously)\b|_anonymous\b", re.IGNORECASE
)
"""What no text of a pseudonymised release calls it."""
TYPES = {
    "id": "INTEGER",
    "patient": "INTEGER",
    "age": "INTEGER",
    "ward": "VARCHAR",
    "ill": "VARCHAR",
}
ROWS = [(i, i // 2, 20 + i // 2 % 4, "AB"[i % 2], ("flu", "cold", None)[i % 3]) for i in range(48)]
NONE: dict[str, Any] = {"algorithm": {"name": "none"}}
KEPT = {"id": "drop", "patient": "identifier", "age": "keep", "ward": "keep", "ill": "sensitive"}
GROUPED = {**KEPT, "age": "quasi"}
KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "none": (KEPT, {"k": None, **NONE}),
    "none of persons": (KEPT, {"k": None, "person": "patient", **NONE}),
    "none of persons with tokens": (
        {**KEPT, "patient": {"role": "token", "key_file": "tokens.key"}},
        {"k": None, "person": "patient", **NONE},
    ),
    "stated": (GROUPED, {"k": 3, "kind": "pseudonymised"}),
    "tokens": (
        {
            **GROUPED,
            "id": {"role": "token", "key_file": "tokens.key", "vault": "vault.duckdb"},
            "patient": {"role": "token", "format": "number"},
        },
        {"k": 3, "person": "patient", "merge_person_rows": True},
    ),
}
"""Policies of pseudonymised releases: columns, and the rest."""


def called(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main.main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    assert ended.value.code == code, said.err
    return str(said.out + said.err)


def written(folder: Path, given: Policy) -> Path:
    """The policy as a file, as its author writes it: without the defaults."""
    path = folder / "policy.yml"
    plain = json.loads(given.model_dump_json(by_alias=True, exclude_none=True, exclude_unset=True))
    path.write_text(json.dumps(plain))
    return path


def made(folder: Path, columns: dict[str, Any], k: int | None, **rest: Any) -> Policy:
    return policy(folder, columns, k, **rest)


@pytest.fixture(params=KINDS)
def pseudonymised(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Policy, Path, Release]:
    columns, rest = KINDS[request.param]
    database = source(tmp_path, TYPES, ROWS)
    key_file(tmp_path)
    given = made(tmp_path, columns, **rest)
    return given, database, run(given, database)


@some(0)
def test_every_text_of_a_pseudonymised_release_says_what_it_is(
    pseudonymised: tuple[Policy, Path, Release],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given, database, release = pseudonymised
    asked = written(tmp_path, given)
    file = release.database
    assert file is not None
    assert release.kind == "pseudonymised"
    assert release.view == "main.people_pseudonymised"
    data = release.manifest.data
    assert data["kind"] == "pseudonymised"
    assert data["certificate"].startswith("Pseudonymised: this release is personal data. ")
    texts = {
        "certificate": data["certificate"],
        "repr": repr(release),
        "html": release._repr_html_(),
        "manifest": release.manifest.text(),
        "plan": called(capsys, "plan", asked, "--database", database),
        "run": called(capsys, "run", asked, "--database", database),
        "verify": called(capsys, "verify", asked),
        "verify alone": called(capsys, "verify", "--database", file),
        "independent": called(capsys, "verify", asked, "--independent"),
    }
    for suffix in ("html", "md", "json"):
        for beside in ([], ["--source", database]):
            report = tmp_path / f"report.{suffix}"
            called(capsys, "report", asked, "-o", report, *beside)
            texts[f"report {suffix} {len(beside)}"] = report.read_text()
    for what, text in texts.items():
        assert "pseudonymised" in text.lower(), what
        if what not in ("manifest", "independent"):
            assert "personal data" in text, what
        found = [text[max(m.start() - 60, 0) : m.end() + 20] for m in WORD.finditer(text)]
        assert not found, what
    for arguments in (
        ["run", asked, "--database", database],
        ["plan", asked, "--database", database],
    ):
        out = called(capsys, *arguments, "--format", "json")
        assert '"kind": "pseudonymised"' in out
        assert not WORD.search(out)
    out = called(capsys, "verify", asked, "--format", "json")
    assert json.loads(out)["kinds"] == {release.view: "pseudonymised"}


def test_every_row_is_published_as_it_is(tmp_path: Path) -> None:
    release = run(made(tmp_path, KEPT, None, **NONE), source(tmp_path, TYPES, ROWS))
    rows = [tuple(row.values()) for row in published(release)]
    assert Counter(rows) == Counter(row[2:] for row in ROWS)
    assert rows != [row[2:] for row in ROWS]
    assert set(release.measures) == {
        "rows", "persons", "suppressed", "suppressed_share",
        "seconds_anonymizing", "seconds_judging",
    }  # fmt: skip
    names = [(check.name, check.column) for check in release.verification.checks]
    kept = [("source_equal", name) for name in ("age", "ward", "ill")]
    assert names == [
        ("rows_present", None), ("source_rows", None), ("source_link", None), *kept
    ]  # fmt: skip
    assert release.manifest.requirements == ()
    assert release.manifest.layout.class_id is None


def test_what_tells_persons_apart_is_refused_still(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, ROWS)
    given = made(tmp_path, {**KEPT, "id": "keep"}, None, **NONE)
    with pytest.raises(SourceError) as raised:
        run(given, database)
    assert raised.value.problems[0].path == "columns.id"
    assert "k holds" not in str(raised.value)
    known = {**KEPT, "id": {"role": "keep", "acknowledge_unique": True}}
    release = run(made(tmp_path, known, None, **NONE), database)
    assert any(
        "joining: id is published as it is" in a for a in release.manifest.data["known_attacks"]
    )
    assert any("columns.id" in warning for warning in release.warnings)


Changed = Callable[[dict[str, Any]], Any]
FORGED: dict[str, Changed] = {
    "kind anonymised": lambda data: data.update(kind="anonymised"),
    "no kind": lambda data: data.pop("kind"),
    "kind unknown": lambda data: data.update(kind="public"),
    "a guarantee": lambda data: data.update(
        requirements=[
            {"name": "k_anonymity", "column": None, "parameters": {"k": 5}, "scope": "class"}
        ]
    ),
    "a class": lambda data: data["layout"].update(class_id="age"),
    "a group": lambda data: data["layout"].update(group_id="age"),
    "a quasi-identifier": lambda data: data["layout"]["columns"][0].update(role="quasi"),
}
"""What a manifest of a release without classes cannot say."""


@pytest.mark.parametrize("how", FORGED)
def test_a_manifest_without_classes_says_that_it_is_pseudonymised(tmp_path: Path, how: str) -> None:
    release = run(made(tmp_path, KEPT, None, **NONE), source(tmp_path, TYPES, ROWS))
    data = json.loads(release.manifest.text())
    assert parsed(json.dumps(data)).kind == read_manifest(json.dumps(data)).kind == "pseudonymised"
    FORGED[how](data)
    with pytest.raises(NothingToCheckError):
        parsed(json.dumps(data))
    with pytest.raises(UnreadableError):
        read_manifest(json.dumps(data))


def test_other_algorithms_cannot_leave_classes_out(tmp_path: Path) -> None:
    """Nothing fails open: what has neither classes nor groups has to say that it is of `none`."""
    release = run(made(tmp_path, GROUPED, 3), source(tmp_path, TYPES, ROWS))
    data = json.loads(release.manifest.text())
    data["requirements"] = []
    data["layout"]["class_id"] = None
    file = tmp_path / "release.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("update people_anonymous_manifest set manifest = ?", [json.dumps(data)])
    with pytest.raises(AnonymizerError):
        anonymizer.verify(None, file)
    with pytest.raises(UnreadableError):
        judge(file)
    data["algorithm"] = CLASSLESS
    with pytest.raises(NothingToCheckError):
        parsed(json.dumps(data))


COLUMN = PublishedColumn("age", "keep", "categorical", "INTEGER", name="age")
K2 = Requirement("k_anonymity", None, {"k": 2})


@pytest.mark.parametrize(
    ("layout", "requirements"),
    [
        (Layout("mondrian", "text", (COLUMN,), class_id=None), ()),
        (Layout("mondrian", "text", (COLUMN,), class_id=None), (K2,)),
        (Layout("mondrian", "text", (COLUMN,)), ()),
        (Layout("msb", "text", (COLUMN,), class_id=None), ()),
        (Layout("none", "text", (COLUMN,), class_id=None), (K2,)),
        (Layout("none", "text", (COLUMN,)), ()),
        (Layout("none", "text", (COLUMN,), class_id=None, group_id="age"), ()),
    ],
)
def test_the_verifier_refuses_what_promises_nothing(
    layout: Layout, requirements: tuple[Requirement, ...]
) -> None:
    with duckdb.connect() as connection:
        connection.execute("create table released as select 1 as age, 1 as class_id")

        def ask(text: str) -> list[tuple[Any, ...]]:
            return connection.execute(text).fetchall()

        with pytest.raises(NothingToCheckError):
            verify_release(ask, Table("released", "main"), layout, requirements)
        bare = Layout("none", "text", (COLUMN,), class_id=None)
        assert verify_release(ask, Table("released", "main"), bare, ()).passed
        connection.execute("delete from released")
        with pytest.raises(NothingToCheckError):
            verify_release(ask, Table("released", "main"), bare, ())


@pytest.mark.parametrize("verb", [attack, lattice_table])
def test_what_needs_classes_is_refused_with_a_reason(
    tmp_path: Path, verb: Callable[[Policy, Path], object]
) -> None:
    database = source(tmp_path, TYPES, ROWS)
    given = made(tmp_path, KEPT, None, **NONE)
    run(given, database)
    with pytest.raises(PolicyError):
        verb(given, database)

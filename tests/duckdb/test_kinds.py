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
    GuaranteeError,
    NothingToCheckError,
    PolicyError,
    SourceError,
    TargetError,
)
from anonymizer.independent import UnreadableError, judge
from anonymizer.independent.manifest import read_manifest
from anonymizer.policy.kinds import CLASSLESS
from anonymizer.publish.export import export
from anonymizer.release.manifest import parsed
from anonymizer.release.published import Release
from anonymizer.review.attack import attack
from anonymizer.review.comparison import compare
from anonymizer.review.grid import sweep
from anonymizer.review.lattice import lattice_table
from anonymizer.verification.release import verify_release
from tests.forging import seal_again
from tests.masking.runs import key_file
from tests.runs import THRIFTY, policy, published, run, source
from tests.schema import hospital
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


@pytest.mark.slow
def test_an_anonymised_release_says_what_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = source(tmp_path, TYPES, ROWS)
    given = made(tmp_path, GROUPED, 3)
    release = run(given, database)
    assert release.kind == release.manifest.data["kind"] == "anonymised"
    assert release.view == "main.people_anonymous"
    asked = written(tmp_path, given)
    report = tmp_path / "report.html"
    called(capsys, "report", asked, "-o", report)
    said = [
        repr(release),
        release._repr_html_(),
        called(capsys, "plan", asked, "--database", database),
        called(capsys, "run", asked, "--database", database),
        called(capsys, "verify", asked),
        report.read_text(),
    ]
    for text in said:
        assert "anonymised" in text
        assert "pseudonymised" not in text
        assert "personal data" not in text


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


def test_the_order_is_that_of_the_secret(tmp_path: Path) -> None:
    given, database = made(tmp_path, KEPT, None, **NONE), source(tmp_path, TYPES, ROWS)
    orders = [published(run(given, database, seed=seed)) for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]


def test_rows_of_a_person_stay_together(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, ROWS)
    release = run(made(tmp_path, KEPT, None, person="patient", **NONE), database)
    rows = published(release)
    assert list(rows[0]) == ["person_id", "age", "ward", "ill"]
    assert {row["person_id"] for row in rows} == set(range(1, 25))
    own: dict[int, Counter[Any]] = {}
    for row in rows:
        own.setdefault(row["person_id"], Counter())[row["age"], row["ward"], row["ill"]] += 1
    expected = [Counter(r[2:] for r in ROWS if r[1] == who) for who in range(24)]
    assert sorted(map(str, map(sorted, map(_text, own.values())))) == sorted(
        map(str, map(sorted, map(_text, expected)))
    )
    assert ("person_present", None) in [(c.name, c.column) for c in release.verification.checks]


def _text(counted: Counter[Any]) -> list[str]:
    return [f"{key}: {n}" for key, n in counted.items()]


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


def test_rows_without_a_value_can_be_left_out(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, ROWS)
    ill = {"role": "sensitive", "nulls": "suppress"}
    with pytest.raises(GuaranteeError):
        run(made(tmp_path, {**KEPT, "ill": ill}, None, **NONE), database)
    given = made(tmp_path, {**KEPT, "ill": ill}, None, suppression_limit=0.5, **NONE)
    release = run(given, database)
    assert (release.measures["rows"], release.measures["suppressed"]) == (32, 16)


def test_another_row_is_told(tmp_path: Path) -> None:
    given = made(tmp_path, KEPT, None, **NONE)
    release = run(given, source(tmp_path, TYPES, ROWS))
    with duckdb.connect(str(release.database)) as connection:
        (table,) = connection.execute(
            "select table_name from duckdb_tables() where table_name like '_people%' and"
            " table_name not like '%manifest'"
        ).fetchone() or ("",)
        connection.execute(f"update {table} set age = 99 where ward = 'A'")
    with pytest.raises(GuaranteeError):
        anonymizer.verify(given)
    with pytest.raises(GuaranteeError):
        anonymizer.verify(None, release.database)


@pytest.mark.slow
def test_a_policy_of_the_other_kind_is_refused(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, ROWS)
    name = {"publish": {"name": "released"}}
    stated = made(tmp_path, GROUPED, 3, kind="pseudonymised", **name)
    plain = made(tmp_path, GROUPED, 3, **name)
    for one, other in ((stated, plain), (plain, stated)):
        run(one, database)
        assert anonymizer.verify(one).passed
        with pytest.raises(GuaranteeError) as raised:
            anonymizer.verify(other)
        assert raised.value.problems[0].path == "kind"
    without = made(tmp_path, KEPT, None, **NONE, **name)
    with pytest.raises(GuaranteeError):
        anonymizer.verify(without)
    run(without, database)
    with pytest.raises(GuaranteeError):
        anonymizer.verify(plain)


def test_a_manifest_of_before_is_anonymised(tmp_path: Path) -> None:
    release = run(made(tmp_path, GROUPED, 3), source(tmp_path, TYPES, ROWS))
    old = {key: value for key, value in release.manifest.data.items() if key != "kind"}
    assert parsed(json.dumps(old)).kind == read_manifest(json.dumps(old)).kind == "anonymised"


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


def test_a_release_without_classes_has_no_figures_of_classes(tmp_path: Path) -> None:
    release = run(made(tmp_path, KEPT, None, **NONE), source(tmp_path, TYPES, ROWS))
    file = tmp_path / "release.duckdb"
    data = json.loads(release.manifest.text())
    data["measures"]["class_min"] = 5
    text = json.dumps(data, indent=2, sort_keys=True)
    with duckdb.connect(str(file)) as connection:
        connection.execute("update people_pseudonymised_manifest set manifest = ?", [text])
    seal_again(file, "people_pseudonymised")
    with pytest.raises(GuaranteeError) as raised:
        anonymizer.verify(None, file)
    assert [p.path for p in raised.value.problems] == ["manifest.measures.class_min"]


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


def test_in_place_under_the_same_consent(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, ROWS)
    place = {"publish": {"database": None, "replace_source": True}}
    given = made(tmp_path, KEPT, None, **NONE, **place)
    with pytest.raises(TargetError):
        run(given, database)
    release = run(given, database, replace_source=True)
    assert release.kind == "pseudonymised"
    assert not WORD.search(" ".join(release.replaced))
    with duckdb.connect(str(database)) as connection:
        rows = connection.execute("select age, ward, ill from people").fetchall()
    assert Counter(rows) == Counter(row[2:] for row in ROWS)
    assert anonymizer.verify(given, database).kinds == {"main.people": "pseudonymised"}


def test_beside_the_source(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, ROWS)
    given = made(tmp_path, KEPT, None, **NONE, publish={"database": None})
    assert run(given, database).view == "main.people_pseudonymised"
    assert anonymizer.verify(given, database).passed


def test_export_keeps_the_kind(tmp_path: Path) -> None:
    given = made(tmp_path, KEPT, None, **NONE)
    release = run(given, source(tmp_path, TYPES, ROWS))
    assert release.database is not None
    target = tmp_path / "rows.parquet"
    export(given, target, database=release.database)
    assert judge(target).kind == "pseudonymised"


def test_frames(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=list(TYPES))
    options: dict[str, Any] = {"keep": ["age", "ward", "ill"], "k": None, "algorithm": "none"}
    rows, release = anonymizer.anonymize(frame, [], seed=1, limits=THRIFTY, **options)
    assert len(rows) == len(ROWS)
    assert (release.kind, release.view) == ("pseudonymised", "main.pseudonymised")


@pytest.mark.slow
def test_several_tables_state_their_kind(tmp_path: Path) -> None:
    database = hospital.write(tmp_path / "hospital.duckdb")
    given = hospital.policy(tmp_path, {"kind": "pseudonymised"})
    release = anonymizer.run(given, database, seed=1, limits=THRIFTY)
    assert release.kind == "pseudonymised"
    assert release.manifest.data["certificate"].startswith("Pseudonymised: this release is ")
    assert not WORD.search(release.manifest.text())
    assert not WORD.search(repr(release) + release._repr_html_())
    again = anonymizer.verify(given)
    assert set(again.kinds.values()) == {"pseudonymised"}
    with pytest.raises(GuaranteeError):
        anonymizer.verify(hospital.policy(tmp_path))


@pytest.mark.parametrize("verb", [attack, lattice_table])
def test_what_needs_classes_is_refused_with_a_reason(
    tmp_path: Path, verb: Callable[[Policy, Path], object]
) -> None:
    database = source(tmp_path, TYPES, ROWS)
    given = made(tmp_path, KEPT, None, **NONE)
    run(given, database)
    with pytest.raises(PolicyError):
        verb(given, database)


def test_sweep_and_diff(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, ROWS)
    given, grouped = made(tmp_path, KEPT, None, **NONE), made(tmp_path, GROUPED, 3)
    (point,) = sweep(given, database, vary=["suppression_limit=0.1"], limits=THRIFTY)
    assert "nothing to compare" in (point.problem or "")
    for old, new in ((given, grouped), (grouped, given)):
        found = compare(old, database, other=new, limits=THRIFTY)
        assert found.new.holds
        (kind,) = [change for change in found.settings if change.what == "kind"]
        assert (kind.old, kind.new) == (old.release_kind, new.release_kind)

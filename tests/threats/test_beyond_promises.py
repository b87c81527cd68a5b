"""What a release tells beyond its promises is counted, as every possible world says it."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations_with_replacement, permutations, product
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pytest

import anonymizer
from anonymizer import SchemaPolicy
from anonymizer.cli import main
from anonymizer.errors import GuaranteeError
from anonymizer.process.document import markdown
from anonymizer.review.observers import LINKED, attack_tables
from anonymizer.review.report.content import collect
from anonymizer.review.report.page import document
from tests import runs
from tests.forging import seal_again
from tests.oracle.cells import Exact, Interval, Null, Star, ValueSet, parse, typed_cell
from tests.runs import THRIFTY
from tests.schema import oracle, truth
from tests.schema.random_schemas import draw
from tests.selection import some

Least: TypeAlias = Counter[tuple[Any, ...]]
TOWNS = ["10115", "10117", "20095", "a, b"]
PREFIX = {"builder": "prefix"}
TYPES = {"id": "integer", "who": "integer", "age": "integer", "town": "varchar", "ill": "varchar"}
KINDS = {"age": "numeric", "town": "categorical"}
ILL = {"ill": {"role": "sensitive", "protect": {"l_diversity": 2}}}
TREE = {"builder": "frequency"}
SETTINGS: dict[str, dict[str, Any]] = {
    "mondrian": {},
    "typed": {"publish": {"cells": "typed"}},
    "median": {"algorithm": {"name": "mondrian", "split": "median", "strict": False}},
    "nodes": {"columns": {"town": {"role": "quasi", "hierarchy": PREFIX}}},
    "nodes, typed": {
        "columns": {"town": {"role": "quasi", "hierarchy": PREFIX}},
        "publish": {"cells": "typed"},
    },
    "persons": {"person": "who", "columns": {"who": "identifier"}},
    "several rows": {
        "algorithm": {"name": "danonyir"},
        "person": "who",
        "columns": {"who": "identifier", "ill": "sensitive"},
        "privacy": {"ir_kl": {"k": 2, "l": 2}},
    },
    "groups": {"algorithm": {"name": "msb", "generalize": {"k": 2}}, "columns": ILL},
    "exact": {"algorithm": {"name": "msb"}, "columns": ILL, "k": None},
    "levels": {
        "algorithm": {"name": "full_domain"},
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"builder": "intervals", "cuts": [0, 2, 4]}},
            "town": {"role": "quasi", "hierarchy": TREE},
        },
    },
}


def made(seed: int, size: int) -> list[tuple[Any, ...]]:
    """Rows with few values; every two are one person, whose quasi-identifiers agree."""
    chance = random.Random(seed)
    people = [(chance.randrange(5), chance.choice([*TOWNS, None])) for _ in range(size)]
    return [
        (row, row // 2, *people[row // 2], ["flu", "gout", "asthma"][row % 3])
        for row in range(size)
    ]


def certain(rows: Sequence[Mapping[str, Any]], *, typed: bool, nodes: bool, unit: str) -> Least:
    """How many units have each record at least, in every world that the release allows."""
    classes: dict[Any, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        label = row["class_id"] if "class_id" in row else (row["age"], row["town"])
        classes[label].append(row)
    cells = {
        label: [
            typed_cell(of[0], name, kind) if typed and not (nodes and name == "town")
            else parse(of[0][name], kind)
            for name, kind in KINDS.items()
        ]
        for label, of in classes.items()
    }  # fmt: skip
    shown = {
        member
        for _, town in cells.values()
        for member in (
            town.members
            if isinstance(town, ValueSet)
            else [town.value]
            if isinstance(town, Exact)
            else []
        )
    }
    found: Counter[Any] = Counter()
    for label, of in classes.items():
        allowed, needed = zip(*(meaning(cell, shown, nodes) for cell in cells[label]), strict=True)
        size = len({row[unit] for row in of}) if unit else len(of)
        least: Counter[Any] | None = None
        for world in combinations_with_replacement(list(product(*allowed)), size):
            columns = zip(*world, strict=True)
            if all(set(c) >= want for c, want in zip(columns, needed, strict=True)):
                counts = Counter(world)
                least = counts if least is None else least & counts
        found += least or Counter()
    return found


def meaning(cell: Any, shown: Iterable[str], nodes: bool) -> tuple[list[Any], set[Any]]:
    """The values that a cell admits, and those that occur in its class."""
    more = [None] if getattr(cell, "nullable", False) else []
    match cell:
        case Null():
            return [None], {None}
        case Exact(value=str(value)) if nodes and value.endswith("*"):
            return [f"{value}1", f"{value}2", *more], set()
        case Exact(value=value):
            return [value, *more], {value, *more}
        case Interval(lo=lo, hi=hi):
            return [*range(int(lo), int(hi) + 1), *more], {lo, hi, *more}
        case ValueSet(members=members):
            return [*members, *more], {*members, *more}
        case Star():
            known = set() if nodes else {*shown, *more}
            return [*shown, *more, "another", "one more"], known
    raise AssertionError(cell)


@some(4)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("setting", SETTINGS)
def test_records_that_are_proved_are_those_of_every_world(
    setting: str, seed: int, tmp_path: Path
) -> None:
    given = dict(SETTINGS[setting])
    columns = {"id": "identifier", "who": "drop", "age": "quasi", "town": "quasi", "ill": "drop"}
    columns |= given.pop("columns", {})
    k = given.pop("k", 2)
    database = runs.source(tmp_path, TYPES, made(seed, 14))
    policy = runs.policy(tmp_path, columns, k, key="id", **given)
    release = runs.run(policy, database, seed)
    rows = runs.published(release)
    nodes = "hierarchy" in columns["town"]
    typed = policy.publish.cells == "typed"
    unit = "person_id" if policy.person else ""
    if setting == "levels":
        assert release.measures["proved_records"] == 0
        return
    found = certain(rows, typed=typed, nodes=nodes, unit=unit)
    few = [record for record, n in found.items() if n < (k or 2)]
    assert release.measures["proved_records"] == len(few)
    assert anonymizer.verify(policy).passed


def test_values_of_a_bucket_within_a_class_are_proved(tmp_path: Path) -> None:
    rows = [(row, None, 30 + row // 6, TOWNS[row * 5 % 4], None) for row in range(18)]
    town = {"role": "quasi", "sensitive_when": "true", "protect": {"l_diversity": 2}}
    columns = {"id": "identifier", "who": "drop", "age": "quasi", "town": town, "ill": "drop"}
    policy = runs.policy(tmp_path, columns, 4, key="id", algorithm={"name": "lgb"})
    counts = set()
    for seed in range(4):
        release = runs.run(policy, runs.source(tmp_path, TYPES, rows), seed)
        shown = runs.published(release)
        buckets = defaultdict(list)
        for row in shown:
            buckets[row["town_bucket"]].append((row["age"], row["town"]))
        least: Counter[Any] | None = None
        for world in product(*(set(permutations([t for _, t in of])) for of in buckets.values())):
            given = zip(buckets.values(), world, strict=True)
            pairs = (pair for of, towns in given for pair in zip(of, towns, strict=True))
            found = Counter((age, town) for (age, _), town in pairs)
            least = found if least is None else least & found
        few = [record for record, n in (least or Counter()).items() if 0 < n < 4]
        assert release.measures["proved_records"] == len(few)
        counts.add(len(few))
    assert counts > {0} or len(counts) > 1


def test_what_is_not_promised_is_told_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`attack`, certificate, report and evidence give the count; another one is refused."""
    columns = {"id": "identifier", "who": "drop", "age": "quasi", "town": "drop", "ill": "drop"}
    rows = [(row, row, row * 7919 % 1009, None, None) for row in range(60)]
    database = runs.source(tmp_path, TYPES, rows)
    policy = runs.policy(tmp_path, columns, 5, key="id")
    release = runs.run(policy, database)
    proved = release.measures["proved_records"]
    assert proved == 2 * release.measures["classes"] > 2
    stated = f"prove {proved} complete records that fewer than k rows may share"
    assert stated in release.manifest.data["certificate"]
    path = tmp_path / "policy.json"
    path.write_text(policy.model_dump_json(exclude_unset=True))
    source = ["--source", str(database)]
    for asked in (
        ["attack", str(path), "--database", str(database)],
        ["report", str(path), *source, "--format", "md"],
        ["report", str(path), *source, "--format", "json"],
        ["report", str(path), *source, "--as", "iso27559", "--format", "md"],
    ):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(asked)
        assert ended.value.code == 0
        assert re.search(rf"ecords.*(\D){proved}(\D|$)", capsys.readouterr().out, re.M | re.S)
    file = tmp_path / "release.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "update people_anonymous_manifest set manifest = replace(replace(manifest,"
            f" 'prove {proved} complete records', 'prove 4 complete records'),"
            f" '\"proved_records\": {proved}', '\"proved_records\": 4')"
        )
    seal_again(file, "people_anonymous")
    with pytest.raises(GuaranteeError, match="proved_records: is not what the release has"):
        anonymizer.verify(policy)


@some(2)
@pytest.mark.parametrize("seed", [512, 518, 546, 566, 600, 602, 617, 678])
@pytest.mark.parametrize("joined", [False, True])
def test_rows_known_to_belong_together_are_those_of_every_choice(
    seed: int, tmp_path: Path, *, joined: bool
) -> None:
    schema = draw(seed)
    schema.policy["privacy"]["knows"]["joined"] = joined
    database = schema.write(tmp_path)
    policy: Any = SchemaPolicy.model_validate(schema.policy, context={"base": tmp_path})
    release = anonymizer.run(policy, database, seed=seed, limits=THRIFTY)
    with duckdb.connect(str(tmp_path / "release.duckdb"), read_only=True) as connection:
        published = truth.read(schema, connection)
    observers = {one.knows: one for one in attack_tables(policy, limits=THRIFTY).after}
    for m, name in ((1, LINKED[0]), (2, LINKED[1])):
        left = list(oracle.left_by_linked(published, m).values())
        found = observers[name]
        assert (found.alone, found.below) == (left.count(1), sum(n < schema.k for n in left))
        assert (found.fewest, found.promised) == (min(left), joined and m <= policy.knows.events)
        if m == min(policy.privacy.knows.events, 2):
            assert release.measures["linked_below"] == found.below
            assert (found.below == 0) >= joined
            said = f" {found.below} of {len(left)} persons" if found.below else "k persons as well"
            assert said in release.manifest.data["certificate"]
    assert anonymizer.verify(policy).passed


def test_a_test_of_a_visit_is_found_where_each_alone_is_not(tmp_path: Path) -> None:
    """Everybody was in surgery and had an HIV test; one person had the test in surgery."""
    with duckdb.connect(str(tmp_path / "source.duckdb")) as connection:
        connection.execute(
            "create table patients as select range as pid, 'f' as sex from range(6);"
            " create table visits as select range as vid, range // 2 as pid,"
            " ['surgery', 'oncology'][1 + range % 2] as ward from range(12);"
            " create table labs as select vid,"
            " case when (ward = 'surgery') = (pid = 0) then 'HIV' else 'glucose' end as test"
            " from visits"
        )
    key, event = {"role": "key"}, {"role": "event"}
    tables: dict[str, dict[str, Any]] = {
        "patients": {"key": "pid", "columns": {"pid": key, "sex": {"role": "quasi"}}},
        "visits": {
            "key": "vid",
            "links": {"pid": "patients"},
            "columns": {"vid": key, "pid": key, "ward": event},
        },
        "labs": {"links": {"vid": "visits"}, "columns": {"vid": key, "test": event}},
    }
    for name, one in tables.items():
        one["source"] = {"table": name}
    given = {
        "version": 1,
        "person": "patients",
        "tables": tables,
        "privacy": {"k_anonymity": 5, "knows": {"events": 2, "joined": False, "rows": True}},
        "publish": {"database": "release.duckdb"},
    }
    policy: Any = SchemaPolicy.model_validate(given, context={"base": tmp_path})
    release = anonymizer.run(policy, tmp_path / "source.duckdb", seed=1, limits=THRIFTY)
    assert release.measures["linked_below"] == 1
    said = "knows how the rows belong together, 1 of 6 persons are among fewer than k"
    assert said in release.manifest.data["certificate"]
    report = markdown(document(collect(policy)))
    assert said in report
    assert f"{LINKED[1]} " in report

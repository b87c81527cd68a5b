"""The frozen corpus: policies, the small tables that they read, and what running them gives."""

from __future__ import annotations

import copy
import datetime as dt
import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
from ruamel.yaml import YAML

import anonymizer
from anonymizer import Policy, SchemaPolicy

HERE = Path(__file__).parent
SEED = 7
FILES = {
    "wards.csv": "A;south;*\nB;south;*\nC;north;*\n",
    "born.csv": "2000-01-01;winter;*\n2000-03-07;spring;*\n2001-11-30;winter;*\n",
    "ages.csv": "\n".join(f"{n};[{n - n % 10}, {n - n % 10 + 9}];*" for n in range(20, 40)),
    "population.csv": "age,ward\n" + "".join(f"{20 + n % 13},{'AB'[n % 2]}\n" for n in range(200)),
    "zip3.csv": "zip3,population\n030,1000000\n",
    "office.csv": "Extract of May;;;;;\nnr;born;seen;zip;cost;well\n"
    + "".join(
        f"{n};{'k.A.' if n % 13 == 0 else f'{1 + n % 9:02d}.0{1 + n % 3}.19{50 + n % 40}'};"
        f"0{1 + n % 9}.03.2024 1{n % 9}:30;0106{n % 5};{n // 7}.{n * 7 % 1000:03d},5;{n % 2 == 0}\n"
        for n in range(90)
    )
    + "Sum;;;;1,5;\n",
    "prices.csv": "a|b\n" + "".join(f"{n % 9}|1 {n * 7 % 1000:03d}.25\n" for n in range(90)),
    "rents.csv": "a,b\n" + "".join(f"{n % 9},1'{n * 7 % 1000:03d}.5\n" for n in range(90)),
    "sums.csv": "a;b\n" + "".join(f"{n % 9};1,{n * 7 % 1000:03d}.5\n" for n in range(90)),
    "token.key": "6b" * 32 + "\n",
    "queries.sql": "select count(*) from released where sex = 'f';\n",
}
Answer = dict[str, Any]


def cases(file: str) -> dict[str, dict[str, Any]]:
    """The cases of a file by name; names that begin with a dot are fragments for anchors."""
    found = YAML(typ="safe").load(HERE / "policies" / f"{file}.yml")
    return {name: given or {} for name, given in found.items() if not name.startswith(".")}


def files() -> list[str]:
    return sorted(path.stem for path in (HERE / "policies").glob("*.yml"))


def answers(file: str) -> dict[str, Any]:
    path = HERE / "answers" / f"{file}.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return {name: found for line in lines for name, found in json.loads(line).items()}


def write_answers(file: str, found: Mapping[str, Any]) -> None:
    """One case a line, in the order of the policies; those that did not run stay as they are."""
    known = {**answers(file), **found}
    order = [n for of in ([file] if file in files() else files()) for n in cases(of)]
    lines = [
        json.dumps({n: known[n]}, sort_keys=True, ensure_ascii=False) for n in order if n in known
    ]
    (HERE / "answers" / f"{file}.jsonl").write_text("\n".join(lines) + "\n")


def prepare(folder: Path, template: Path) -> Path:
    """The source database, copied, and the files that policies name."""
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (folder / "token.key").chmod(0o600)
    return Path(shutil.copy(template, folder / "source.duckdb"))


def make_template(path: Path) -> Path:
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.execute((HERE / "tables.sql").read_text())
    return path


def policy_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The whole policy of a case: what every policy has, and the other columns, dropped."""
    made = {k: v for k, v in copy.deepcopy(dict(given)).items() if k not in (*OF_CASES, "series")}
    made = {
        "version": 1,
        **made,
        "publish": {"database": "release.duckdb", **made.get("publish", {})},
    }
    made["publish"] = {k: v for k, v in made["publish"].items() if v is not None}
    if "tables" in made:
        for table in made["tables"].values():
            table["columns"] = {n: _column(c) for n, c in table["columns"].items()}
        return made
    made.setdefault("source", {"table": "people"})
    if made["source"] == {"table": "people"} or "like" in given:
        every = dict.fromkeys(PEOPLE, "drop") | made.get("columns", {})
        made["columns"] = every
        made.setdefault("key", "visit")
        if made["key"] is None:
            del made["key"]
    made["columns"] = {name: _column(column) for name, column in made["columns"].items()}
    if "algorithm" in made and isinstance(made["algorithm"], str):
        made["algorithm"] = {"name": made["algorithm"]}
    return made


OF_CASES = ("engines", "like", "replace")
"""Of a case, not of its policy: engines besides DuckDB; a source with the columns of `people`; the
source may be replaced."""
PEOPLE = ("visit", "patient", "age", "born", "zip", "sex", "ward", "hide", "ill", "cost", "note")


def _column(given: Any) -> Any:
    return {"role": given} if isinstance(given, str) or given is None else given


def loaded(given: Mapping[str, Any], folder: Path) -> Policy | SchemaPolicy:
    made = policy_of(given)
    kind = SchemaPolicy if "tables" in made else Policy
    return kind.model_validate(made, context={"base": folder})


def run_case(
    given: Mapping[str, Any], folder: Path, source: Any, rows: Callable[..., Any], **more: Any
) -> Any:
    """The answer of one case; of a series, one answer for each release."""
    if "series" not in given:
        return _answer(given, folder, source, rows, more)
    found = []
    for number, step in enumerate(given["series"]):
        if step.get("sql"):
            with duckdb.connect(str(source), config={"threads": 1}) as connection:
                connection.execute(step["sql"])
        changed = {**given, **{k: v for k, v in step.items() if k != "sql"}}
        found.append(_answer(changed, folder, source, rows, {**more, "seed": SEED + number}))
    return found


def _answer(
    given: Mapping[str, Any],
    folder: Path,
    source: Any,
    rows: Callable[..., Any],
    more: Mapping[str, Any],
) -> Answer:
    try:
        options = {"seed": SEED, **({"replace_source": True} if "replace" in given else {}), **more}
        release = anonymizer.run(loaded(given, folder), source, **options)
    except anonymizer.AnonymizerError as error:
        problems = [_plain_text(str(one), folder) for one in error.problems]
        return {"exit": error.exit_code, "problems": problems}
    checked = release.verification
    return {
        "rows": {name: digest(*rows(release, name)) for name in views(release)},
        "required": [
            [r.name, r.column, canonical(r.parameters), r.scope]
            for r in release.manifest.requirements
        ],
        "achieved": [
            [c.name, c.column, canonical(c.required), canonical(c.achieved)]
            for c in checked.guarantees
        ],
        "checks": len(checked.checks),
        "measures": {
            name: canonical(value)
            for name, value in release.measures.items()
            if not name.startswith("seconds")
        },
        "warnings": [_plain_text(said, folder) for said in release.warnings],
    }


def views(release: Any) -> list[str]:
    """Every published view: of several tables each, and those of separated columns."""
    layout = release.manifest.data["layout"]
    further = [one["name"] for one in release.manifest.data.get("tables", {}).get("tables", [])]
    return sorted({release.view.split(".")[-1], *layout["tables"].values(), *further})


def digest(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Any]:
    """The number of rows, and a digest of them in any order, with the names of their columns."""
    texts = sorted(json.dumps(canonical(row), ensure_ascii=False) for row in rows)
    text = "\n".join([json.dumps(list(names)), *texts])
    return [len(texts), hashlib.sha256(text.encode()).hexdigest()[:16]]


def canonical(value: Any) -> Any:
    """A value as JSON that is the same from every engine: nine digits of a double."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return f"{value:.9g}"
        case Decimal():
            return str(value.normalize() + 0)
        case dt.date() | dt.time():
            return value.isoformat()
        case Mapping():
            return {str(name): canonical(of) for name, of in value.items()}
        case list() | tuple():
            return [canonical(of) for of in value]
        case set() | frozenset():
            return sorted(canonical(of) for of in value)
    return str(value)


def _plain_text(text: str, folder: Path) -> str:
    text = text.replace(str(folder.resolve()), "FOLDER").replace(str(folder), "FOLDER")
    return re.sub(r"\b[0-9a-f]{16}\b", "RUN", text)


def leaves(given: Any) -> Iterator[str]:
    """Every key and every plain value of nested data, as text."""
    match given:
        case Mapping():
            for name, of in given.items():
                yield str(name)
                yield from leaves(of)
        case list() | tuple():
            for of in given:
                yield from leaves(of)
        case _:
            yield str(given)

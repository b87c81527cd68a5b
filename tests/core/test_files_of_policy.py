"""The files of a policy are found by the types of its fields: none can be forgotten."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from anonymizer.ledger.approvals import approvals_file
from anonymizer.ledger.store import key_file
from anonymizer.policy import Policy, SchemaPolicy
from anonymizer.policy.referenced_files import BESIDE, files_of, names_file
from anonymizer.policy.values import FilePath

SAYS = re.compile(r"\b(file|folder|path)\b", re.IGNORECASE)
POLICY = """\
version: 1
source: {file: visits.csv}
columns:
  id: {role: token, key_file: tokens.key, vault: vault.duckdb}
  age: {role: quasi, hierarchy: {file: age.csv}}
  disease: {role: sensitive, protect: {l_diversity: 2}}
privacy: {k_map: {k: 4, population: {file: people.csv}}}
publish: {database: release.duckdb}
ledger: ledger.duckdb
workload: {sql: queries.sql}
"""
FILES = {
    "visits.csv",
    "tokens.key",
    "vault.duckdb",
    "age.csv",
    "people.csv",
    "release.duckdb",
    "ledger.duckdb",
    "queries.sql",
}


def models(annotation: Any, seen: set[type]) -> Iterator[type[BaseModel]]:
    model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    if model and annotation not in seen:
        seen.add(annotation)
        yield annotation
        for field in annotation.model_fields.values():
            yield from models(field.annotation, seen)
    for part in get_args(annotation):
        yield from models(part, seen)


def test_every_field_whose_words_say_a_file_is_of_the_type_of_a_path() -> None:
    seen: set[type] = set()
    found = [*models(Policy, seen), *models(SchemaPolicy, seen)]
    marked = set()
    for model in found:
        for name, field in model.model_fields.items():
            here = f"{model.__name__}.{name}"
            if any(map(names_file, (field.annotation, *field.metadata))):
                marked.add(here)
            elif str in _plain(field.annotation):
                says = name in {"file", "database", "ledger", "vault", "key_file"} or bool(
                    SAYS.search(field.description or "")
                )
                assert not says, f"{here} seems to name a file, and is no LocalPath"
    assert {"Source.file", "Publish.database", "Policy.ledger", "Column.population"} <= marked
    assert {"SchemaPolicy.ledger", "SchemaColumn.vault", "Workload.sql", "Taxonomy.file"} <= marked


def _plain(annotation: Any) -> set[Any]:
    parts = get_args(annotation)
    return {annotation} if not parts else {one for part in parts for one in _plain(part)}


def test_all_files_of_a_policy_are_found(tmp_path: Path) -> None:
    policy = Policy.loads(POLICY, tmp_path)
    assert set(files_of(policy)) == {tmp_path / name for name in FILES}
    assert names_file(FilePath())


def test_what_lies_beside_a_ledger_is_known() -> None:
    ledger = Path("ledger.duckdb")
    beside = {Path(f"{ledger}{end}") for end in BESIDE}
    assert {key_file(ledger), approvals_file(ledger)} <= beside

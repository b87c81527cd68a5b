"""Releases of several tables made by hand: their manifest, and their rows as file or folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb

from anonymizer.independent.fetch import Table
from anonymizer.independent.manifest import read_manifest
from anonymizer.independent.rows import OpenRelease, Part
from anonymizer.release.integrity import manifest_digest
from tests.runs import fill
from tests.schema.oracle import Child, Published

RUN = "0123456789abcdef"


def column(name: str, role: str, kind: str = "categorical", **rest: Any) -> dict[str, Any]:
    """A published column as the manifest has it."""
    types = {"categorical": "VARCHAR", "numeric": "INTEGER", "date": "DATE"}
    made = {"column": name, "role": role, "kind": kind, "sql_type": types[kind]}
    return made | ({} if "lo" in rest else {"name": name}) | rest


def rule(name: str, model: str, **parameters: Any) -> dict[str, Any]:
    """A requirement as the manifest has it."""
    return {"name": model, "column": name, "parameters": parameters, "scope": "class"}


@dataclass
class Made:
    """Tables with the columns that their manifest lists. The first one is that of the persons."""

    k: int
    events: int
    rows_known: bool = False
    joined: bool = False
    """Whether known rows come with those above them."""
    sensitive: bool = False
    """Whether rules have to hold among those who remain."""
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Name to its entry in the manifest."""
    types: dict[str, dict[str, str]] = field(default_factory=dict)
    rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    quasi: list[dict[str, Any]] = field(default_factory=list)
    requirements: list[dict[str, Any]] = field(default_factory=list)
    cells: str = "text"

    def persons(
        self,
        rows: Sequence[tuple[Any, ...]],
        columns: Sequence[dict[str, Any]],
        key: str = "person_id",
        name: str = "persons",
    ) -> None:
        """The persons' rows: class number, key, and the columns in their order."""
        self.quasi = list(columns)
        self._add(name, key, {}, [])
        self.types[name] = {"class_id": "BIGINT", key: "BIGINT"} | _types(columns)
        self.rows[name] = list(rows)

    def child(
        self,
        name: str,
        link: tuple[str, str],
        rows: Sequence[tuple[Any, ...]],
        columns: Sequence[dict[str, Any]] = (),
        key: str | None = None,
        requirements: Sequence[dict[str, Any]] = (),
    ) -> None:
        """A table of rows: key (if there is one), link, and the columns in their order."""
        self._add(name, key, dict([link]), list(columns), requirements)
        numbers = dict.fromkeys([*([key] if key else []), link[0]], "BIGINT")
        self.types[name] = numbers | _types(columns)
        self.rows[name] = list(rows)

    def _add(self, name: str, key: str | None, links: Any, columns: Any, asked: Any = ()) -> None:
        self.tables[name] = {
            "table": name,
            "name": name,
            "key": key,
            "links": links,
            "columns": columns,
            "requirements": list(asked),
        }

    @property
    def person(self) -> str:
        return next(iter(self.tables))

    def manifest(self) -> dict[str, Any]:
        """The manifest as an object of JSON."""
        k_anonymity = {"name": "k_anonymity", "column": None, "parameters": {"k": self.k}}
        return {
            "format": 2,
            "run_id": RUN,
            "view": f"main.{self.person}",
            "requirements": [k_anonymity, *self.requirements],
            "layout": {
                "algorithm": "mondrian",
                "cells": self.cells,
                "columns": self.quasi,
                "class_id": "class_id",
            },
            "tables": {
                "person": self.person,
                "k": self.k,
                "knows": {
                    "events": self.events,
                    "rows": self.rows_known,
                    "sensitive": self.sensitive,
                    "joined": self.joined,
                },
                "tables": list(self.tables.values()),
            },
        }

    def opened(self) -> OpenRelease:
        """As the reader would open it."""
        parts = {}
        for name, types in self.types.items():
            rows = tuple(tuple(_text(value) for value in row) for row in self.rows[name])
            parts[name] = Part(Table(tuple(types), tuple(types.values()), rows))
        own = parts.pop(self.person)
        return OpenRelease(read_manifest(json.dumps(self.manifest())), own.rows, {}, linked=parts)

    def published(self) -> Published:
        """As the oracle reads it."""
        children = {}
        for name, entry in self.tables.items():
            if entry["links"]:
                ((link, parent),) = entry["links"].items()
                events = [one for one in entry["columns"] if one["role"] == "event"]
                children[name] = Child(link, parent, entry["key"], tuple(_types(events)))
        rows = {
            name: [dict(zip(types, row, strict=True)) for row in self.rows[name]]
            for name, types in self.types.items()
        }
        key = self.tables[self.person]["key"]
        quasi = [one for one in self.quasi if one["role"] == "quasi"]
        return Published(self.person, key, rows, children, tuple(_types(quasi)))

    def database(self, path: Path, manifest: Mapping[str, Any] | None = None) -> Path:
        """A file with frozen tables, views over them, and the manifest."""
        with duckdb.connect(str(path), config={"threads": 1}) as connection:
            for name, types in self.types.items():
                frozen = f"_{name}_{RUN}"
                fill(connection, types, self.rows[name], frozen)
                listed = ", ".join(f'"{one}"' for one in types)
                connection.execute(f'create view "{name}" as select {listed} from main."{frozen}"')
            text = json.dumps(manifest or self.manifest())
            connection.execute(f'create table "{self.person}_manifest" (manifest varchar)')
            connection.execute(f'insert into "{self.person}_manifest" values (?)', [text])
        return path

    def folder(self, path: Path, suffix: str = ".parquet") -> Path:
        """An exported folder."""
        path.mkdir()
        files = [path / f"{name}{suffix}" for name in self.types]
        with duckdb.connect(config={"threads": 1}) as connection:
            for file, (name, types) in zip(files, self.types.items(), strict=True):
                fill(connection, types, self.rows[name], name)
                connection.execute(f"copy \"{name}\" to '{file}'")
        listed = [{"name": f.name, "sha256": sha256(f.read_bytes()).hexdigest()} for f in files]
        beside = path / f"{self.person}{suffix}.manifest.json"
        manifest = {**self.manifest(), "seal": {}}
        manifest["seal"] = {"digest": manifest_digest(manifest)}
        manifest["export"] = {"files": listed}
        beside.write_text(json.dumps(manifest), encoding="utf-8")
        return path


def _types(columns: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The published columns with their types."""
    found = {}
    for one in columns:
        generalized = one["role"] in ("quasi", "event")
        for part in ("name", "lo", "hi"):
            if part in one:
                text = part == "name" and generalized
                found[one[part]] = "VARCHAR" if text else one["sql_type"]
        if "nullable" in one:
            found[one["nullable"]] = "BOOLEAN"
    return found


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)

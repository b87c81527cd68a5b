"""The record of a search: the tables it considered and the one it chose, without values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from anonymizer.algorithms.compiled import Finding
from anonymizer.algorithms.privacyfrost.columns import Searched
from anonymizer.contract.coarse import coarse
from anonymizer.source.roles import Roles
from anonymizer.steps import Row, Step


def findings(
    roles: Roles, columns: Sequence[Searched], context: Mapping[str, Any]
) -> tuple[Finding, ...]:
    """The manifest's `search` (levels count from the root) and `published_levels`."""
    return (
        Finding(
            "search",
            Step("tables of the search", "privacyfrost/tables.sql.j2", context),
            _search(roles, columns),
        ),
        Finding(
            "published_levels",
            Step("levels as published", "privacyfrost/final.sql.j2", context),
            _published(columns),
        ),
    )


def _search(roles: Roles, columns: Sequence[Searched]) -> Callable[[list[Row]], Any]:
    names = [a.climbed.attribute.column for a in columns]
    sensitive = {s.index: s.column for s in roles.sensitive}

    def table(row: Row) -> dict[str, Any]:
        round_, phase, moved, *depths, score, better, holds, seen, broken, taken = row
        verdict = "holds" if holds else "fails" if better else "no better"
        told: dict[str, Any] = {
            "step": round_,
            "phase": phase,
            "column": None if moved is None else names[moved],
            "levels": dict(zip(names, depths, strict=True)),
            "score": _number(score),
            "verdict": verdict,
            "judged": seen,
            "taken": taken,
        }
        if seen and not holds:
            told["fails"] = (
                "rules of sensitive columns"
                if broken == -1
                else sensitive.get(broken, "class size")
            )
        return told

    def tell(rows: list[Row]) -> list[dict[str, Any]]:
        return [table(row) for row in rows]

    return tell


def _published(columns: Sequence[Searched]) -> Callable[[list[Row]], Any]:
    names = [a.climbed.attribute.column for a in columns]

    def tell(rows: list[Row]) -> dict[str, Any]:
        found: dict[str, dict[str, dict[str, int]]] = {name: {} for name in names}
        for attribute, depth, classes, cells, _ in rows:
            found[names[attribute]][str(depth)] = {"classes": classes, "cells": cells}
        return {"score": _number(rows[0][-1]) if rows else None, "columns": found}

    return tell


def _number(score: Decimal) -> int | float:
    """The score, rounded for publication, since it depends on rows that may be suppressed."""
    told = coarse(float(score))
    return int(told) if told.is_integer() else told

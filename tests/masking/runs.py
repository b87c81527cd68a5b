"""Releases with one masked column of every type, and the rows in the order of the source."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import duckdb

from anonymizer.compile import quote
from tests.masking.values import column, table
from tests.runs import policy, run

KEPT = {"role": "keep", "acknowledge_unique": True}


def key_file(folder: Path, name: str = "tokens.key", key: bytes | None = None) -> bytes:
    """A key in a file that only its owner may read."""
    key = secrets.token_bytes(32) if key is None else key
    file = folder / name
    file.write_text(key.hex() + "\n", encoding="ascii")
    file.chmod(0o600)
    return key


def named(types: Sequence[str]) -> dict[str, str]:
    """A column for every type."""
    return {f"m{number}": kind for number, kind in enumerate(types, 1)}


def of_types(types: Sequence[str], size: int, dice: Random) -> dict[str, tuple[str, list[Any]]]:
    """Columns of random values, one of every type."""
    return {name: (kind, column(kind, size, dice)) for name, kind in named(types).items()}


def released(
    folder: Path,
    columns: Mapping[str, tuple[str, Sequence[Any]]],
    roles: Mapping[str, Any],
    *,
    persons: Sequence[Any] | None = None,
    order: Any = None,
    seed: Any = 1,
    shown: str = "{}",
    **rest: Any,
) -> dict[str, list[Any]]:
    """The published values of columns, each in the order of the rows of the source.

    `shown`: the expression by which a value is read.
    """
    size = len(next(iter(columns.values()))[1])
    whole = {
        "id": ("INTEGER", list(range(size))),
        "q": ("INTEGER", [len(str(one)) % 2 for one in persons or range(size)]),
        **({"who": ("VARCHAR", persons)} if persons is not None else {}),
        **columns,
    }
    database = table(folder, whole, order=order)
    given = {"id": KEPT, "q": "quasi", **dict.fromkeys(columns, "drop"), **roles}
    if persons is not None:
        given["who"] = given.get("who", "drop")
        rest = {"person": "who", **rest}
    limits = {"limits": rest.pop("limits")} if "limits" in rest else {}
    rest["publish"] = {"name": "masked", **rest.get("publish", {})}
    run(policy(folder, given, **rest), database, seed=seed, **limits)
    return read(folder, list(roles), shown)


def read(folder: Path, names: Sequence[str], shown: str = "{}") -> dict[str, list[Any]]:
    """Columns of the release, in the order of the rows of the source."""
    with duckdb.connect(str(folder / "release.duckdb"), read_only=True) as connection:
        connection.execute("set TimeZone = 'UTC'")
        cells = ", ".join(shown.format(quote(name)) for name in names)
        rows = connection.execute(f"select {cells} from masked order by id").fetchall()
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}

"""Random databases of persons and the rows that belong to them, with a policy; a seed makes all."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from tests.runs import fill
from tests.schema import columns
from tests.schema.columns import Drawn, Options

SHAPES: list[dict[str, str]] = [
    {},
    {"visits": "patients"},
    {"visits": "patients"},
    {"visits": "patients", "drugs": "patients"},
    {"visits": "patients", "drugs": "patients"},
    {"visits": "patients", "labs": "visits"},
    {"visits": "patients", "labs": "visits", "drugs": "patients"},
    {"visits": "patients", "labs": "visits", "drugs": "visits"},
    {"visits": "patients", "labs": "visits", "drugs": "labs"},
    {"visits": "patients", "labs": "patients", "drugs": "patients"},
]
"""Child to parent: one table alone, stars, chains and trees."""
PERSON = "patients"
FURTHER = 1000
"""From this seed on policies have options that few schemas need."""
AMONG = 2000
"""From this seed on rules of sensitive columns hold among those who remain as well."""
BUILT = 3000
"""From this seed on events have the hierarchies of all other builders, and every row has a tag."""
RULED = 4000
"""From this seed on categories that may be known of a row have a rule as well."""
GUARANTEES: list[Options] = [
    {"ir_k": 2},
    {"ir_kl": {"k": 2, "l": 2}},
    {"ir_alpha_beta": {"alpha": 0.8, "beta": 0.8}},
    {"eir_l": 2},
    {"eir_alpha_beta": {"alpha": 0.8, "beta": 0.8}},
    {"alpha_k": {"alpha": 0.8, "k": 2}},
]
"""Of every sensitive column."""
TAG = "tag"
"""In some schemas a kept column tells who a published row is, for the tests."""


@dataclass
class Source:
    """One table: its columns, keys and rows."""

    name: str
    parent: str | None
    columns: list[Drawn] = field(default_factory=list)
    key: str | None = None
    link: str | None = None
    orphans: bool = False
    """Whether rows that lead to nobody are left out."""
    rows: list[dict[str, Any]] = field(default_factory=list)

    def of(self, *roles: str) -> list[Drawn]:
        """Its columns of these roles."""
        return [one for one in self.columns if one.role in roles]


@dataclass
class Schema:
    """A source database and its policy."""

    seed: int
    tables: dict[str, Source]
    key_type: str
    policy: Options = field(default_factory=dict)
    tagged: bool = False

    @property
    def k(self) -> int:
        return int(self.policy["privacy"]["k_anonymity"])

    @property
    def knows(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.policy["privacy"].get("knows", {})
        return found

    @property
    def linked(self) -> bool:
        """Whether a table hangs on another one that is not that of the persons."""
        return any(one.parent not in (None, PERSON) for one in self.tables.values())

    @property
    def typed(self) -> bool:
        return bool(self.policy["publish"].get("cells") == "typed")

    def view(self, table: str) -> str:
        """The published name of a table, with its schema."""
        publish = self.policy["publish"]
        name = publish.get("names", {}).get(table, table)
        return f'"{publish.get("schema", "main")}"."{publish.get("prefix", "")}{name}"'

    def write(self, folder: Path) -> Path:
        """The database, and the files of hierarchies beside it."""
        path = folder / "source.duckdb"
        with duckdb.connect(str(path), config={"threads": 1}) as connection:
            self.fill(connection)
        for table in self.tables.values():
            for column in table.columns:
                if column.file:
                    lines = [";".join((value, *above)) for value, above in column.file.items()]
                    name = column.described["hierarchy"]["file"]
                    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def fill(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Create the tables."""
        for table in self.tables.values():
            keys = [one for one in (table.key, table.link) if one is not None]
            types = dict.fromkeys(keys, self.key_type)
            types |= {one.name: one.sql_type for one in table.columns}
            rows = [tuple(row[name] for name in types) for row in table.rows]
            fill(connection, types, rows, table.name)


def draw(seed: int) -> Schema:
    """The schema of a seed."""
    r = random.Random(seed)
    text = r.random() < 0.4
    shape = r.choice(SHAPES)
    tables = {PERSON: Source(PERSON, None, key="patient_id")}
    for name, parent in shape.items():
        linked_to = name in shape.values()
        keyed = linked_to or r.random() < 0.4 or seed >= BUILT
        key = f"{name[:-1]}_id" if keyed else None
        tables[name] = Source(name, parent, key=key, link=tables[parent].key)
    made = Schema(seed, tables, "VARCHAR" if text else r.choice(["INTEGER", "BIGINT"]))
    made.tagged = r.random() < 0.6 or seed >= BUILT
    event = columns.built_event if BUILT <= seed < RULED else columns.event
    if seed >= RULED:
        event = columns.ruled_event
    for table in tables.values():
        _columns(r, table, event, tagged=made.tagged)
    _rows(r, made)
    made.policy = _policy(r, made)
    if seed >= FURTHER:
        _further(r, made)
    knows = made.policy["privacy"]["knows"]
    ruled = any("protect" in one.described for t in made.tables.values() for one in t.of("event"))
    if seed >= AMONG and (knows["events"] or knows.get("rows")) and _ruled(made) and not ruled:
        knows["sensitive"] = True
    return made


def _ruled(made: Schema) -> bool:
    """Whether some rule speaks of the values of a sensitive column."""
    sensitive = [one for table in made.tables.values() for one in table.of("sensitive")]
    of_all = {name for options in GUARANTEES for name in options} - {"ir_k"}
    return any("protect" in one.described for one in sensitive) or bool(
        sensitive and of_all & set(made.policy["privacy"])
    )


def _further(r: random.Random, made: Schema) -> None:
    """Guarantees of all sensitive columns, and keys that are not published."""
    if any(table.of("sensitive") for table in made.tables.values()) and r.random() < 0.6:
        made.policy["privacy"] |= r.choice(GUARANTEES)
    for table in made.tables.values():
        if table.key is None and r.random() < 0.5:
            role = r.choice(["drop", "identifier"])
            table.columns.append(columns.hidden("number", role))
            for number, row in enumerate(table.rows):
                row["number"] = f"secret {number}"
            given = made.policy["tables"][table.name]
            given["columns"]["number"] = {"role": role}
            given["key"] = "number"


def _columns(
    r: random.Random,
    table: Source,
    event: Callable[[random.Random, str], Drawn],
    *,
    tagged: bool,
) -> None:
    listed: list[Drawn] = []
    if table.parent is None:
        listed += [columns.quasi(r, name) for name in ("age", "zip", "born")[: r.randint(1, 3)]]
        listed += [columns.hidden("name", "identifier")]
    else:
        # `day` is a column of several tables
        listed += [event(r, name) for name in ("day", "what")[: r.choice([0, 1, 1, 2])]]
    if r.random() < 0.5:
        listed.append(columns.sensitive(r, "ill", child=table.parent is not None))
    if r.random() < 0.3:
        listed.append(columns.kept(r, "note"))
    if r.random() < 0.3:
        listed.append(columns.hidden("cost", "drop"))
    if tagged and table.key is not None:
        listed.append(Drawn(TAG, "INTEGER", {"role": "keep", "acknowledge_unique": True}, (0,)))
    table.columns = listed


def _rows(r: random.Random, made: Schema) -> None:
    size = r.choice([12, 20, 30, 40, 60, 80, 150, 300])
    for table in made.tables.values():
        if table.parent is None:
            table.rows = [_row(r, table, number) for number in range(size)]
        else:
            table.rows = _of_parents(r, made, table)
        if table.key is not None:
            for row, key in zip(table.rows, _keys(r, len(table.rows), made.key_type), strict=True):
                row[table.key] = key
        if table.parent is not None:
            _links(r, made, table)
        r.shuffle(table.rows)


def _row(r: random.Random, table: Source, number: int) -> dict[str, Any]:
    row = {one.name: one.value(r) for one in table.columns}
    if TAG in row:
        row[TAG] = 10_000 + number
    return row


def _of_parents(r: random.Random, made: Schema, table: Source) -> list[dict[str, Any]]:
    """Rows of each parent row, many of none, one of very many, some of them equal."""
    assert table.parent is not None
    size = len(made.tables[table.parent].rows)
    none, mean = r.choice([0.0, 0.1, 0.4, 0.7]), r.choice([1, 1, 2, 4])
    many = r.choice([0, 0, 10, 30, 30, 60])
    if r.random() < 0.02:
        many = 3000
    if size > 500:
        none, mean, many = 0.7, 1, min(many, 60)
    rows: list[dict[str, Any]] = []
    of_many = r.randrange(size)
    for parent in range(size):
        count = 0 if r.random() < none else r.randint(1, 2 * mean)
        for _ in range(many if parent == of_many else count):
            row = _row(r, table, len(rows)) | {"": parent}
            rows.append(row)
            while r.random() < 0.15:
                again = dict(row)
                if TAG in row:
                    again[TAG] = 10_000 + len(rows)
                rows.append(again)
    return rows


def _keys(r: random.Random, size: int, key_type: str) -> list[Any]:
    """Different keys with gaps, in no order, that no drawn number is likely to hit."""
    numbers = r.sample(range(1_000_000, 9_000_000), size)
    if r.random() < 0.3:
        numbers.sort()
    return [f"k{one}" for one in numbers] if key_type == "VARCHAR" else numbers


def _links(r: random.Random, made: Schema, table: Source) -> None:
    """Parents' keys; in some schemas a few rows lead nowhere, and what hangs on them as well."""
    assert table.parent is not None
    assert table.link is not None
    parent = made.tables[table.parent]
    assert parent.key is not None
    for row in table.rows:
        row[table.link] = parent.rows[row.pop("")][parent.key]
    if parent.orphans or r.random() < 0.15:
        table.orphans = True
        for row in table.rows:
            if r.random() < 0.05:
                row[table.link] = r.choice([None, "k0" if made.key_type == "VARCHAR" else 0])


def owned(made: Schema) -> dict[str, list[tuple[dict[str, Any], Any]]]:
    """The rows of every table with the key of their person; rows that lead nowhere are left out."""
    person = made.tables[PERSON]
    assert person.key is not None
    keys = [row[person.key] for row in person.rows]
    owner = {PERSON: {key: key for key in keys}}
    found = {PERSON: list(zip(person.rows, keys, strict=True))}
    for table in made.tables.values():
        if table.parent is None or table.link is None:
            continue
        led = owner[table.parent]
        found[table.name] = [
            (row, led[row[table.link]]) for row in table.rows if row[table.link] in led
        ]
        if table.key is not None:
            owner[table.name] = {row[table.key]: who for row, who in found[table.name]}
    return found


def _policy(r: random.Random, made: Schema) -> Options:
    tables = {}
    for table in made.tables.values():
        listed: Options = {one: {"role": "key"} for one in (table.key, table.link) if one}
        listed |= {one.name: one.described for one in table.columns}
        given: Options = {"source": {"table": f"main.{table.name}"}, "columns": listed}
        if table.key is not None:
            given["key"] = table.key
        if table.link is not None:
            given["links"] = {table.link: table.parent}
        if table.orphans and r.random() < 0.97:
            given["orphans"] = "drop"
        tables[table.name] = given
    events = any(table.of("event") for table in made.tables.values())
    knows: Options = {"events": r.choice([1, 1, 1, 2, 2, 3, 0]) if events else 0}
    large = any(len(table.rows) > 2000 for table in made.tables.values())
    if large:
        knows["events"] = min(knows["events"], 2)
    if made.seed % 4 == 3 and knows["events"]:
        knows["joined"] = False
    if r.random() < 0.25 and len(tables) > 1:
        knows["rows"] = True
    publish: Options = {"database": "release.duckdb"}
    if r.random() < 0.3:
        publish["cells"] = "typed"
    if r.random() < 0.3:
        publish["schema"] = "published"
    if r.random() < 0.2:
        publish["prefix"] = "anon_"
    if r.random() < 0.2 and "visits" in made.tables:
        publish["names"] = {"visits": "encounters"}
    policy: Options = {
        "version": 1,
        "person": PERSON,
        "tables": tables,
        "privacy": {"k_anonymity": r.choice([2, 2, 3, 3, 4, 5, 6]), "knows": knows},
        "suppression_limit": r.choice([0.1, 0.3, 1.0, 1.0]),
        "publish": publish,
    }
    if r.random() < 0.2:
        policy["weight"] = {"events": r.choice([0.1, 0.5, 3])}
    return policy

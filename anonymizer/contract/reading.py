"""Validate a manifest from an untrusted source."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, get_args

from anonymizer.compile import Table
from anonymizer.contract.checks import Check
from anonymizer.contract.layout import TYPE, Layout, PublishedColumn, Requirement, Role
from anonymizer.policy import columns
from anonymizer.policy.columns import CALENDAR, Identifier
from anonymizer.policy.kinds import ANONYMISED, CLASSLESS, KINDS, PSEUDONYMISED
from anonymizer.policy.safe_harbor import CENSUS, GIVEN, LETTER_OF, LETTERS, ZIP3
from anonymizer.policy.safe_harbor import KINDS as HARBOR_KINDS

# Validates the measures in a manifest from an untrusted source.


NUMBERS = frozenset({"class_max", "suppressed_share"})
MORE = ("persons", "suppressed_persons", "counterfeits")
"""Counts that not every release has."""
MOST = 10**30
"""An upper bound on the figures of a release, below the largest doubles."""
LOSSES = "ncp"
"""Prefix of measures of information loss, with which reports calculate."""


def are_measures(measures: Mapping[str, Any]) -> bool:
    """Whether all measures are figures, including those of further tables.

    Raises KeyError, TypeError or AttributeError if a part is missing or has another type.
    """
    told = {name: value for name, value in measures.items() if name != "tables"}
    tables = measures.get("tables", {})
    return (
        all(map(is_figure, told.values()))
        and all(map(_is_number_or_none, _calculated(told)))
        and _has_counts(measures)
        and all(map(_is_of_table, tables.values()))
    )


def _calculated(measures: Mapping[str, Any]) -> Iterator[Any]:
    for name, value in measures.items():
        if name in NUMBERS or name.startswith(LOSSES):
            yield value


def _is_of_table(measures: Mapping[str, Any]) -> bool:
    return _has_counts(measures) and all(map(_is_number, measures["ncp"].values()))


def _has_counts(measures: Mapping[str, Any]) -> bool:
    """Whether the rows that are published, and those that are left out, are counted."""
    counts = [measures["rows"], measures["suppressed"]]
    counts += [measures[name] for name in MORE if name in measures]
    return all(_is_number(count) and isinstance(count, int) and count >= 0 for count in counts)


def is_figure(value: Any) -> bool:
    """Whether a value is a number, its text (an infinity, or an engine's decimal), or None."""
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return False
        return True
    return _is_number_or_none(value)


def _is_number_or_none(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < MOST and math.isfinite(value)


# Validates what a manifest from an untrusted source says of the masks of a column.


MASKS: Mapping[str, Mapping[str, Any]] = {
    "token": {"format": ("hex", "uuid", "number", "like"), "lasting": bool},
    "shift": {"within": int, "keep": ("weekday", "order")},
    "top_code": {"at": int | float | str, "at_least": int},
    "bottom_code": {"at": int | float | str, "at_least": int},
    "round": {"to": int | float | str, "method": ("nearest", "random", "down")},
    "noise": {"amount": int | float, "share": int | float, "between": list},
    "redact": {"patterns": get_args(Identifier)},
    "zip3": {"population": (CENSUS, GIVEN), "restricted": list},
    "null": {},
    "constant": {"value": bool | int | float | str},
}
"""The masks that a column can have, with the types or allowed values of their options."""
NEEDED: Mapping[str, tuple[str, ...]] = {
    **{mask: options for mask, (options, _) in columns.NEEDED.items()},
    "token": ("format",),
    "zip3": ("population",),
}
"""The options of which each mask has exactly one."""
LISTS = ("keep", "patterns")


def is_mask(mask: Mapping[str, Any]) -> bool:
    """Whether a mask is known, with options of the right types."""
    options = MASKS.get(mask["mask"])
    if options is None or not mask.keys() <= {"mask", *options}:
        return False
    needed = NEEDED.get(mask["mask"], ())
    if needed and len(mask.keys() & set(needed)) != 1:
        return False
    if mask["mask"] == "zip3" and not _is_zip3(mask):
        return False
    return all(_is_option(name, mask[name], kind) for name, kind in options.items() if name in mask)


def _is_zip3(mask: Mapping[str, Any]) -> bool:
    """Whether it lists the areas that are not shown, or refers to the guidance's list."""
    if mask["population"] == CENSUS:
        return "restricted" not in mask
    return all(isinstance(area, str) and ZIP3.match(area) for area in mask["restricted"])


def _is_option(name: str, value: Any, kind: Any) -> bool:
    if isinstance(kind, tuple):
        words = value if name in LISTS and isinstance(value, list) else [value]
        return (name in LISTS) == isinstance(value, list) and all(word in kind for word in words)
    if not isinstance(value, kind) or (
        isinstance(value, bool) and name not in ("value", "lasting")
    ):
        return False
    if isinstance(value, float) and not math.isfinite(value):
        return False
    match name:
        case "at":
            return is_number_or_date(value)
        case "between":
            pair = len(value) == 2 and all(map(is_number_or_date, value))
            return pair and isinstance(value[0], str) == isinstance(value[1], str)
        case "to":
            return value in CALENDAR if isinstance(value, str) else value > 0
        case "within" | "at_least" | "amount" | "share":
            return bool(value > 0)
    return True


def is_number_or_date(value: Any) -> bool:
    """Whether a value is a finite number, or the text of a date."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    if not isinstance(value, str):
        return math.isfinite(value)
    try:
        dt.datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


# Validates a manifest from an untrusted source.


ROLES = frozenset(get_args(Role))
OF_VALUES = frozenset({"numeric", "categorical", "date"})
SCOPES = frozenset({"class", "bucket", "group"})
FLAGS = frozenset({"hierarchy", "list_cells"})
GENERALIZED = frozenset({"quasi", "semi"})
RUN_ID = re.compile(r"[0-9a-f]{1,64}")
SHA256 = re.compile(r"[0-9a-f]{64}")
FIELDS = {
    *("format", "run_id", "created", "kind", "view", "policy_digest", "algorithm", "versions"),
    *("reproducible", "requirements", "verification", "measures", "layout", "certificate"),
    *("known_attacks", "safe_harbor", "tables", "seal", "files"),
    "carried_from",
}
"""The fields of a manifest. (`export` is not one of them: no seal covers it.)"""
CHECK = frozenset(field.name for field in fields(Check))
FIGURES = ("required", "achieved", "failing")
"""What a check states in addition to its verdict."""
CODES = frozenset({"bottom", "top"})
"""Fields with the codes of a column: numbers, or dates as text."""


def refuse_odd(manifest: Mapping[str, Any]) -> None:
    """Raises ValueError for a name that is not text, a type that is not plain, or an unknown role.

    Raises KeyError, TypeError or AttributeError if a part is missing or has another type.
    """
    layout, requirements = manifest["layout"], manifest["requirements"]
    names = [layout[name] for name in ("class_id", "person_id", "group_id")]
    texts = [layout["algorithm"], *layout["tables"].values()]
    good = _has_head(manifest)
    good = good and all(name is None or isinstance(name, str) for name in names)
    good = good and all(isinstance(text, str) for text in texts)
    good = good and layout["cells"] in ("text", "typed")
    good = good and layout["algorithm"] == manifest["algorithm"]
    good = good and all(is_column(column, layout["cells"]) for column in layout["columns"])
    good = good and all(map(is_asked, requirements))
    good = good and _is_of_kind(manifest) and _is_harbored(manifest)
    good = good and are_measures(manifest["measures"])
    good = good and isinstance(manifest["verification"]["passed"], bool)
    good = good and all(map(_is_check, manifest["verification"]["checks"]))
    if not good:
        raise ValueError("not a manifest")


def _has_head(manifest: Mapping[str, Any]) -> bool:
    """Whether the fields that identify a release have the right types, and there are no others."""
    created = dt.datetime.fromisoformat(manifest["created"]).astimezone(dt.UTC)
    texts = [manifest[name] for name in ("view", "algorithm", "policy_digest", "certificate")]
    versions = manifest["versions"]
    texts += [versions["anonymizer"], *versions.values(), *manifest["known_attacks"]]
    return (
        manifest.keys() <= FIELDS
        and all(isinstance(text, str) for text in texts)
        and isinstance(manifest["known_attacks"], list)
        and isinstance(manifest["reproducible"], bool)
        and created.isoformat(timespec="seconds") == manifest["created"]
        and RUN_ID.fullmatch(manifest["run_id"]) is not None
        and all(map(SHA256.fullmatch, manifest.get("files", {}).values()))
    )


def _is_of_kind(manifest: Mapping[str, Any]) -> bool:
    """Whether the kind of release is known, and is not "anonymised" for a release without classes
    or with persistent tokens.
    """
    kind = manifest.get("kind", ANONYMISED)
    if kind != PSEUDONYMISED and any(map(_lasts, _columns(manifest))):
        return False
    named = {manifest["layout"]["algorithm"], manifest.get("algorithm", CLASSLESS)}
    return kind in KINDS and (CLASSLESS not in named or _is_classless(manifest, kind, named))


def _columns(manifest: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from manifest["layout"]["columns"]
    for table in manifest.get("tables", {}).get("tables", ()):
        yield from table["columns"]


def _lasts(column: Mapping[str, Any]) -> bool:
    return any(mask.get("lasting", False) for mask in column.get("masks", ()))


def _is_classless(manifest: Mapping[str, Any], kind: str, named: set[str]) -> bool:
    """Whether all fields agree with the algorithm that publishes no classes."""
    layout = manifest["layout"]
    return (
        kind == PSEUDONYMISED
        and named == {CLASSLESS}
        and "tables" not in manifest
        and not manifest["requirements"]
        and layout["class_id"] is None
        and layout["group_id"] is None
        and not layout["tables"]
        and all(column["role"] not in ("quasi", "semi") for column in layout["columns"])
        and all(column.get("bucket") is None for column in layout["columns"])
    )


def _is_harbored(manifest: Mapping[str, Any]) -> bool:
    """Whether Safe Harbor is stated consistently in all places and for every column, or nowhere."""
    layout = manifest["layout"]
    year, listed = layout.get("safe_harbor"), manifest.get("safe_harbor")
    kinds = {column["column"]: column.get("safe_harbor") for column in layout["columns"]}
    if year is None or listed is None:
        return year is None and "safe_harbor" not in manifest and not any(kinds.values())
    made = int(manifest["created"][:4])
    if isinstance(year, bool) or not isinstance(year, int) or not made - 1 <= year <= made:
        return False
    held = {
        one["column"]: item["letter"] for item in listed for one in item["columns"] if one["done"]
    }
    return (
        "tables" not in manifest
        and [(item["letter"], item["identifier"]) for item in listed]
        == [(letter, says) for letter, (says, _) in LETTERS.items()]
        and all(item["columns"] or isinstance(item["done"], str) for item in listed)
        and all(kind in HARBOR_KINDS for kind in kinds.values())
        and all(held.get(name) == LETTER_OF.get(kind) for name, kind in kinds.items())
        and not any(
            column["role"] == "semi" or column.get("hierarchy")
            for column in layout["columns"]
            if column["safe_harbor"] != "none"
        )
    )


def is_column(column: Mapping[str, Any], cells: str) -> bool:
    """Whether a column has a role, a kind, a plain type, and fields of the right types. `cells`:
    text or typed.
    """
    if column["role"] not in ROLES or column["kind"] not in OF_VALUES:
        return False
    if not isinstance(column["column"], str) or not TYPE.match(column["sql_type"]):
        return False
    if column["role"] == "keep" and column["kind"] != "categorical":
        return False
    if not all(_is_field(name, value) for name, value in column.items()):
        return False
    return _has_cells(column, cells)


def _has_cells(column: Mapping[str, Any], cells: str) -> bool:
    """Whether it says of its cells what there is to say: nothing, if it is not generalized; bounds,
    nodes or lists, and only one of these, if they are typed.
    """
    bounds, lists = column.get("lo") is not None, bool(column.get("list_cells"))
    nodes = bool(column.get("hierarchy"))
    if column["role"] not in GENERALIZED:
        return not (bounds or lists or nodes)
    if cells == "typed":
        return bounds + lists + nodes == 1
    return not (bounds or lists)


def _is_field(name: str, value: Any) -> bool:
    """Whether a column's field is a flag, a code (a number, or the text of a date) or a name."""
    if name == "masks":
        return isinstance(value, list) and bool(value) and all(map(is_mask, value))
    if name == "weight":
        real = isinstance(value, int | float) and not isinstance(value, bool)
        return real and math.isfinite(value) and value > 0
    if name in FLAGS:
        return isinstance(value, bool)
    if name in CODES:
        return value is None or is_number_or_date(value)
    return value is None or isinstance(value, str)


def is_asked(requirement: Mapping[str, Any]) -> bool:
    """Whether the parts of a requirement have the right types."""
    return (
        isinstance(requirement["name"], str)
        and isinstance(requirement["column"], str | None)
        and isinstance(requirement["parameters"], Mapping)
        and requirement["scope"] in SCOPES
    )


def _is_check(check: Mapping[str, Any]) -> bool:
    return (
        isinstance(check["name"], str)
        and isinstance(check["column"], str | None)
        and isinstance(check["sql"], str | None)
        and isinstance(check["passed"], bool)
        and check.keys() == CHECK
        and all(isinstance(one, Mapping) or is_figure(one) for one in map(check.get, FIGURES))
    )


# The tables of a release of several tables, as listed in its manifest.


@dataclass(frozen=True, slots=True)
class Released:
    """One published table."""

    table: str
    """Its name in the policy."""
    name: str
    """Its name in the release."""
    layout: Layout
    """Its layout, in which events are quasi-identifiers."""
    requirements: tuple[Requirement, ...] = ()
    """The requirements on its columns in the classes of their persons."""


@dataclass(frozen=True, slots=True)
class Tables:
    """A release of several tables: the persons' first, each other one after its parent."""

    person: str
    k: int
    events: int
    rows: bool
    sensitive: bool
    tables: tuple[Released, ...]
    required: tuple[Requirement, ...] = ()
    """The requirements on the columns of the persons, as in a release of their table alone."""

    @property
    def persons(self) -> Released:
        return self.tables[0]

    @property
    def children(self) -> tuple[Released, ...]:
        return self.tables[1:]

    def named(self, table: str) -> Released:
        """The table with this name in the policy."""
        return next(one for one in self.tables if one.table == table)

    def as_dict(self) -> dict[str, Any]:
        """As in the manifest, whose `layout` has the columns of the persons' table."""
        return {
            "person": self.person,
            "k": self.k,
            "knows": {"events": self.events, "rows": self.rows, "sensitive": self.sensitive},
            "tables": [
                {
                    "table": one.table,
                    "name": one.name,
                    "key": one.layout.key,
                    "links": dict(one.layout.links),
                    "columns": [_column(column) for column in one.layout.columns]
                    if one is not self.persons
                    else [],
                    "requirements": [asdict(item) for item in one.requirements],
                }
                for one in self.tables
            ],
        }

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], persons: Layout, required: Iterable[Requirement] = ()
    ) -> Tables:
        """Read a manifest. Raises KeyError, TypeError or ValueError for an invalid mapping."""
        listed = [_released(one, persons) for one in data["tables"]]
        knows = data["knows"]
        first = listed[0]
        if first.table != data["person"] or first.layout.links:
            raise ValueError("the first table is not that of the persons")
        names = [one.table for one in listed]
        for place, one in enumerate(listed[1:], 1):
            if len(one.layout.links) != 1 or not set(one.layout.links.values()) <= {*names[:place]}:
                raise ValueError("a table hangs on none before it")
        events, k = knows["events"], data["k"]
        if type(events) is not int or type(k) is not int or not 0 <= events <= 3 or k < 2:
            raise ValueError("a figure that cannot be")
        known = any(c.role == "quasi" for one in listed[1:] for c in one.layout.columns)
        more = events or knows["rows"] or not knows["sensitive"]
        if (events and not known) or (knows["rows"] and not listed[1:]) or not more:
            raise ValueError("something is known that the tables do not have")
        if len(set(names)) < len(names) or len({one.name for one in listed}) < len(names):
            raise ValueError("two tables have one name")
        return cls(
            str(data["person"]),
            int(data["k"]),
            int(knows["events"]),
            bool(knows["rows"]),
            bool(knows["sensitive"]),
            (replace(first, layout=replace(persons, key=first.layout.key)), *listed[1:]),
            tuple(required),
        )


def in_release(view: Table) -> Callable[[Released], Table]:
    """A function that locates each table of a release with this view of its persons."""

    def where(one: Released) -> Table:
        return replace(view, name=one.name)

    return where


def _column(column: PublishedColumn) -> dict[str, Any]:
    role = "event" if column.role == "quasi" else column.role
    return {**column.as_dict(), "role": role}


def _released(data: Mapping[str, Any], persons: Layout) -> Released:
    listed = [
        {**one, "role": "quasi" if one["role"] == "event" else one["role"]}
        for one in data["columns"]
    ]
    if not all(is_column(one, persons.cells) for one in listed) or not all(
        map(is_asked, data["requirements"])
    ):
        raise ValueError("a column or a requirement that cannot be")
    key, links = [data["key"]] * (data["key"] is not None), dict(data["links"])
    named = (data["table"], data["name"], *key, *links, *links.values())
    if not all(isinstance(name, str) for name in named):
        raise ValueError("a name that is no text")
    columns = [PublishedColumn.from_dict(one) for one in listed]
    layout = Layout(
        algorithm=persons.algorithm,
        cells=persons.cells,
        columns=tuple(columns),
        class_id=None,
        key=data["key"],
        links=links,
    )
    required = tuple(Requirement(**item) for item in data["requirements"])
    return Released(data["table"], data["name"], layout, required)

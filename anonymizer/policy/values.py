"""The types of single values in a policy, and its immutable building blocks."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, PydanticOmit, core_schema

# Immutable building blocks: the base of every policy model, an ordered map, and lists as tuples.
#
# A policy is read once and then passed everywhere, so nothing in it may change: models are frozen,
# mappings are `FrozenMap`, lists become tuples. Integers are strict (`true`, `"5"` and `5.0` are
# not whole numbers), and no message that pydantic builds carries the input.


K = TypeVar("K")
V = TypeVar("V")

TAG = "\0"
"""First character of the tags of discriminated unions, which distinguishes them from keys."""


class Options(BaseModel):
    """Base of all policy models: frozen, strict, without unknown options."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )


class FrozenMap(Mapping[K, V]):
    """An immutable ordered mapping, hashable if its values are."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[K, V] | None = None) -> None:
        object.__setattr__(self, "_items", dict(items or {}))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a FrozenMap cannot be changed")

    def __getitem__(self, key: K) -> V:
        found: V = self._items[key]  # type: ignore[attr-defined]
        return found

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return len(self._items)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"FrozenMap({dict(self)!r})"

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenMap[K, V]], tuple[dict[K, V]]]:
        return (type(self), (dict(self),))

    def __copy__(self) -> FrozenMap[K, V]:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> FrozenMap[K, V]:
        return self

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        key, value = get_args(source) or (Any, Any)
        items = handler.generate_schema(dict[key, value])  # type: ignore[valid-type]
        return core_schema.no_info_before_validator_function(
            lambda given: dict(given) if isinstance(given, Mapping) else given,
            core_schema.no_info_after_validator_function(cls, items),
            serialization=core_schema.wrap_serializer_function_ser_schema(
                lambda given, dump: dump(dict(given)), schema=items
            ),
        )


def fail(
    message: str, *, at: str = "", allowed: str | None = None, hint: str | None = None
) -> PydanticCustomError:
    """An error for one of our validators to raise; `at` is appended to the path."""
    return PydanticCustomError(
        "policy", "{message}", {"message": message, "at": at, "allowed": allowed, "hint": hint}
    )


@dataclass(frozen=True, slots=True)
class Shorthand:
    """Annotation: the JSON Schema of a short form, which a validator expands."""

    schema: dict[str, Any]

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [self.schema, handler(core)]}

    def __hash__(self) -> int:
        return hash(tuple(self.schema))


@dataclass(frozen=True, slots=True)
class Refused:
    """Annotation: an option that this kind of policy does not have, and what to do instead."""

    said: str
    hint: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._refuse, handler(source))

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        raise PydanticOmit

    def _refuse(self, given: object) -> object:
        raise fail(self.said, hint=self.hint)


AsTuple = BeforeValidator(lambda given: tuple(given) if isinstance(given, list) else given)
"""Annotation of a tuple field that is written as a list (strict models refuse lists for tuples)."""


# The types of single values in a policy: counts, shares, names, data values, references.


LARGEST = 2**53
"""Upper end of every whole number: exact in every engine, whatever its number type."""

Whole = Annotated[int, Field(ge=0, le=LARGEST)]
Positive = Annotated[int, Field(ge=1, le=LARGEST)]
AtLeastTwo = Annotated[int, Field(ge=2, le=LARGEST)]
Share = Annotated[float, Field(ge=0, le=1)]
PositiveShare = Annotated[float, Field(gt=0, le=1)]
PositiveNumber = Annotated[float, Field(gt=0)]
Weight = Annotated[float, Field(ge=0.001, le=1000)]
"""The weight of something relative to others, whose default is 1."""


def _stored(given: object) -> object:
    if isinstance(given, str) and "\0" in given:
        raise fail("holds a NUL character, which no engine can store")
    return given


def _no_nul(given: str) -> str:
    _stored(given)
    if not given.strip():
        raise fail("must not be blank")
    return given


Text = Annotated[str, Field(min_length=1), AfterValidator(_no_nul)]
"""Non-blank text without NUL characters."""


class Together(str):
    """Several columns that identify something together: the name of a column of all their values.

    It has the names of the columns in it, and is that of no column of the source.
    """

    columns: tuple[str, ...]

    @classmethod
    def of(cls, columns: tuple[str, ...]) -> Together:
        """The name for columns in this order, which is that of the values."""
        made = cls(", ".join(columns))
        made.columns = columns
        return made

    def __reduce__(self) -> tuple[Callable[..., Together], tuple[tuple[str, ...]]]:
        return (Together.of, (self.columns,))


def columns_of(name: str | None) -> tuple[str, ...]:
    """The columns that a name stands for: none, itself, or several together."""
    if isinstance(name, Together):
        return name.columns
    return () if name is None else (name,)


def _together(given: object, read: ValidatorFunctionWrapHandler) -> object:
    if isinstance(given, Together):
        return given
    if not isinstance(given, list | tuple):
        return read(given)
    if len(given) < 2 or len({*map(str, given)}) < len(given):
        raise fail("must name one column, or several different ones", hint="[tenant, id]")
    return Together.of(tuple(read(name) for name in given))


Identity = Annotated[
    Text,
    WrapValidator(_together),
    PlainSerializer(lambda name: list(name.columns) if isinstance(name, Together) else name),
    Shorthand({"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 2}),
]
"""A column, or several that identify together."""


def _data_value(given: object) -> object:
    # dates become ISO text, so that a policy means the same written as YAML and as JSON
    if isinstance(given, datetime.datetime):
        return given.isoformat(sep=" ")
    if isinstance(given, datetime.date):
        return given.isoformat()
    if isinstance(given, str | int | float):
        return given
    raise fail("must be one value: text, a number, a date, or true or false")


DataValue = Annotated[
    str | int | float | bool, BeforeValidator(_data_value), AfterValidator(_stored)
]
"""A value in the data; dates and timestamps as ISO text."""


def in_64_bits(given: str | int | float | bool) -> str | int | float | bool:
    """Raise an error for a whole number beyond BIGINT, the type of such constants."""
    if isinstance(given, int) and not -(2**63) <= given < 2**63:
        raise fail("must be within 64 bits", hint="write it as text, in quotes")
    return given


def _bound(given: object) -> object:
    given = _data_value(given)
    if isinstance(given, bool):
        raise fail("must be a number or a date")
    if isinstance(given, str):
        try:
            datetime.datetime.fromisoformat(given)
        except ValueError:
            raise fail("must be a number or a date", hint="dates as YYYY-MM-DD") from None
    return given


Bound = Annotated[int | float | str, BeforeValidator(_bound)]
"""A number, or a date or timestamp as ISO text."""


def bound_key(given: int | float | str) -> Any:
    """Sort key for bounds of one kind: numbers by value, dates as points in time."""
    return datetime.datetime.fromisoformat(given) if isinstance(given, str) else given


def ascending(given: tuple[int | float | str, ...]) -> tuple[int | float | str, ...]:
    """Refuse bounds that mix numbers and dates, or do not strictly ascend."""
    if len({isinstance(one, str) for one in given}) > 1:
        raise fail("mixes numbers and dates")
    try:
        ordered = all(bound_key(a) < bound_key(b) for a, b in pairwise(given))
    except TypeError:
        raise fail("mixes dates with and without a time zone") from None
    if not ordered:
        raise fail("must ascend, each value once")
    return given


FORMATS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".xlsx": "excel",
    ".xls": "excel",
    ".ods": "excel",
}
"""File formats by suffix."""
PACKED = ".gz"
"""The suffix of a text file that is packed."""


def file_format(path: str) -> str | None:
    """`parquet`, `csv`, `json` or `excel`, or None for any other suffix."""
    file = PurePath(path)
    packed = file.suffix.lower() == PACKED
    found = FORMATS.get((PurePath(file.stem) if packed else file).suffix.lower())
    return None if packed and found not in ("csv", "json") else found


def file_stem(path: str) -> str:
    """The name of a file without its suffixes; of a pattern, that of the folder before it."""
    file = PurePath(path)
    named = next((part for part in reversed(file.parts) if not set(part) & set("*?[=")), "files")
    packed = named.lower().endswith(PACKED)
    return PurePath(PurePath(named).stem if packed else named).stem


def portable(path: str) -> str:
    """A relative path unchanged; of an absolute path of any system, the last part."""
    for kind in (PurePosixPath(path), PureWindowsPath(path)):
        if kind.is_absolute():
            return kind.name
    return path


def _local(given: str) -> str:
    if "://" in given:
        raise fail("must be a local path", hint="fetch the file first; a run reaches no network")
    return given


@dataclass(frozen=True, slots=True)
class FilePath:
    """Marks the type of a field that names a file."""


LocalPath = Annotated[Text, AfterValidator(_local), FilePath()]
"""A path on this machine, relative to the policy's file."""


def _data_file(given: str) -> str:
    if file_format(given) is None:
        raise fail(
            "has an unknown file extension",
            allowed=", ".join(FORMATS),
            hint="make a table of it in a database, as in create table visits as from 'visits.tsv'",
        )
    return given


DataFile = Annotated[LocalPath, AfterValidator(_data_file)]


def table_parts(given: str) -> tuple[str, ...]:
    """The parts of a dotted table name, without double quotes; empty if it is malformed."""
    return tuple(part for part, _ in written_parts(given))


def written_parts(given: str) -> tuple[tuple[str, bool], ...]:
    """The parts of a table name, each with whether it was in double quotes."""
    parts: list[tuple[str, bool]] = []
    at = 0
    while True:
        part, quoted = "", given[at : at + 1] == '"'
        if quoted:
            end = at + 1
            while (end := given.find('"', end)) >= 0 and given[end + 1 : end + 2] == '"':
                end += 2
            if end < 0:
                return ()
            part, at = given[at + 1 : end].replace('""', '"'), end + 1
        else:
            end = given.find(".", at)
            end = len(given) if end < 0 else end
            part, at = given[at:end], end
            if part != part.strip() or '"' in part:
                return ()
        if not part:
            return ()
        parts.append((part, quoted))
        if at == len(given):
            return tuple(parts)
        if given[at] != ".":
            return ()
        at += 1


TABLE_NAMES = "table, schema.table or catalog.schema.table"
QUOTES = "put double quotes around a part that holds a dot: 'main.\"my.table\"'"
"""Hint for a table whose name has special characters."""


def _table(given: str) -> str:
    if not 1 <= len(table_parts(given)) <= 3:
        raise fail("is not a table name", allowed=TABLE_NAMES, hint=QUOTES)
    return given


TableName = Annotated[Text, AfterValidator(_table)]
"""`table`, `schema.table` or `catalog.schema.table`; parts may be in double quotes."""


def _one_of(schema: dict[str, Any], model: type[Any]) -> None:
    schema["oneOf"] = [{"required": [name]} for name in model.ONE_OF]


class OneOf(Options):
    """Options of which exactly one is given."""

    ONE_OF: ClassVar[tuple[str, ...]]
    model_config = ConfigDict(json_schema_extra=_one_of)

    def _exactly_one(self) -> Self:
        names = self.ONE_OF
        given = [name for name in names if getattr(self, name) is not None]
        if len(given) != 1:
            said = "names none of" if not given else "names more than one of"
            raise fail(f"{said} {', '.join(names)}", allowed=f"exactly one of {', '.join(names)}")
        return self

    _one = model_validator(mode="after")(_exactly_one)


HarborKind = Literal[
    "names",
    "geography",
    "dates",
    "birth",
    "ages",
    "telephone",
    "fax",
    "mail",
    "ssn",
    "medical_record",
    "health_plan",
    "account",
    "licence",
    "vehicle",
    "device",
    "url",
    "ip",
    "biometric",
    "photograph",
    "other",
    "none",
]
"""Identifiers of 45 CFR 164.514(b)(2), the Safe Harbor rule."""

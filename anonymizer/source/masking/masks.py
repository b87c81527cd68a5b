"""The masks of a policy's columns, and the keys of tokens, shifts and noise."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from anonymizer.compile import Sql, Table, lit, sql
from anonymizer.errors import EngineError, PolicyError, Problem, SourceError, is_waited_for
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.policy.columns import CALENDAR, OPTIONS, Column
from anonymizer.policy.paths import column_path
from anonymizer.policy.safe_harbor import CENSUS, GIVEN
from anonymizer.process.files import write_new
from anonymizer.source.profile import published_type

# Keys of tokens, shifts and noise: from a file, which persists, or from the secret of the run.
#
# They are bound parameters of the masking statements, and are in no text.


DIGITS = re.compile(r"[0-9a-f]{64}\Z")
BLOCK = 64
"""Bytes of a block of SHA-256."""
FORGOTTEN = "run"
"""Name of the key that is discarded after the run."""


def key_names(policy: Policy) -> dict[str, str]:
    """The name of the key of each column; columns with the same file share one."""
    files = {name: policy.columns[name].key_file for name in policy.masked}
    return {
        name: FORGOTTEN if file is None else hashlib.sha256(file.encode()).hexdigest()[:8]
        for name, file in files.items()
    }


def bind(key: str, part: str) -> str:
    """The bound parameter with a part of a key: `inner`, `outer` or `draw`."""
    return f"mask_{key}_{part}"


def bound_values(policy: AnyPolicy, secret: str, *, lasting: bool = False) -> dict[str, str]:
    """The values of all bound parameters: the secret of the run, and the keys of all tables' masks.

    `lasting`: read key files, for a release; trials use the secret alone. Raises PolicyError for
    key files that cannot be used.
    """
    found = {"secret": secret}
    for at, single in policy.singles.items():
        found |= _bind_keys(single, secret, at, lasting=lasting)
    return found


def _bind_keys(policy: Policy, secret: str, at: str, *, lasting: bool) -> dict[str, str]:
    keys: dict[str, bytes] = {}
    problems: list[Problem] = []
    for column, name in key_names(policy).items():
        file = policy.columns[column].key_file
        if name in keys:
            continue
        if file is None or not lasting:
            keys[name] = _derive_key(bytes.fromhex(secret), f"mask {name}")
            continue
        found = read_key(policy.resolve(file), at + column_path(column, "key_file"))
        if isinstance(found, Problem):
            problems.append(found)
        else:
            keys[name] = found
    PolicyError.refuse(problems)
    return {
        bind(name, part): value for name, key in keys.items() for part, value in _parts(key).items()
    }


def _parts(key: bytes) -> dict[str, str]:
    """The two initial blocks of HMAC (RFC 2104), and the key of draws, in hexadecimal."""
    padded = key.ljust(BLOCK, b"\0")
    return {
        "inner": bytes(byte ^ 0x36 for byte in padded).hex(),
        "outer": bytes(byte ^ 0x5C for byte in padded).hex(),
        "draw": _derive_key(key, "draw").hex(),
    }


def _derive_key(key: bytes, purpose: str) -> bytes:
    return hmac.new(key, purpose.encode(), hashlib.sha256).digest()


def read_key(path: Path, where: str) -> bytes | Problem:
    """The key in a file, or the problem with it."""
    hint = f"anonymizer key new --secret {path.name} makes one"
    if is_waited_for(path):
        return Problem(where, f"{path.name} is a named pipe, not the file of a key", hint=hint)
    try:
        with path.open(encoding="ascii") as file:
            open_to_others = os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077
            text = file.read(BLOCK * 2).strip()
    except FileNotFoundError:
        return Problem(where, f"the file {path.name} is not there", hint=hint)
    except (OSError, ValueError):
        return Problem(where, f"the file {path.name} cannot be read", hint=hint)
    if open_to_others:
        said = f"the file {path.name} can be read by others, and a key is for its owner alone"
        return Problem(where, said, hint=f"chmod 600 {path.name}")
    if not DIGITS.match(text):
        return Problem(where, f"the file {path.name} holds no key", "64 hexadecimal digits", hint)
    return bytes.fromhex(text)


def new_secret(path: Path) -> None:
    """Write a new key of 256 bits for its owner only. Raises EngineError; never overwrites."""
    try:
        write_new(path, f"{secrets.token_hex(32)}\n".encode("ascii"))
    except FileExistsError as error:
        said = "is there already, and a key is never overwritten"
        raise EngineError.at(path.name, said, hint="another name") from error
    except OSError as error:
        hint = "the folder must exist and be writable, and the disk have room"
        raise EngineError.at(path.name, "cannot be written", hint=hint) from error


# The masks of a policy's columns, applied to typed columns.


Family = Literal["whole", "decimal", "double", "date", "timestamp", "zoned", "text", "other"]

_FAMILIES: tuple[tuple[Family, re.Pattern[str]], ...] = (
    ("whole", re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)\Z")),
    ("decimal", re.compile(r"DECIMAL(\(.*\))?\Z")),
    ("double", re.compile(r"(FLOAT|DOUBLE)\Z")),
    ("date", re.compile(r"DATE\Z")),
    ("zoned", re.compile(r"TIMESTAMP WITH TIME ZONE\Z")),
    ("timestamp", re.compile(r"TIMESTAMP(_S|_MS|_NS)?\Z")),
    ("text", re.compile(r"(VARCHAR|ENUM\(.*\))\Z", re.DOTALL)),
)
NUMBERS: tuple[Family, ...] = ("whole", "decimal", "double")
DATES: tuple[Family, ...] = ("date", "timestamp", "zoned")
FITTING: Mapping[str, tuple[Family, ...]] = {
    "shift": DATES,
    "top_code": (*NUMBERS, *DATES),
    "bottom_code": (*NUMBERS, *DATES),
    "round": (*NUMBERS, *DATES),
    "noise": NUMBERS,
    "redact": ("text",),
    "zip3": ("text", "whole"),
}
"""The types that a mask applies to; masks that are not listed apply to all."""
WORDS = {
    "shift": "dates and timestamps",
    "noise": "numbers",
    "redact": "text",
    "zip3": "text, whole numbers",
}
UNTOLD = ("token", "shift", "noise", "null", "constant")
"""Masks whose values cannot identify anyone, however many distinct ones there are."""


def family_of(sql_type: str) -> Family:
    """The family of a column's type."""
    return next((name for name, form in _FAMILIES if form.match(sql_type)), "other")


@dataclass(frozen=True, slots=True)
class IdentifierColumn:
    """A column of identifiers that are searched for in texts."""

    column: str
    physical: Sql
    """The snapshot column with its values as text."""
    sql_type: str
    table: Table | None = None
    """The table with its values, if not that of the masked rows."""


@dataclass(frozen=True, slots=True)
class Mask:
    """One mask of one column of the snapshot."""

    column: str
    kind: str
    """The role, as in the policy."""
    sql_type: str
    """The type of the values before masking."""
    options: Mapping[str, Any]
    """The options that the policy sets."""
    physical: Sql
    """The snapshot column with the masked values."""
    original: Sql
    """The snapshot column with the original values."""
    person: bool = False
    """True if rows belong to persons."""
    values: tuple[IdentifierColumn, ...] = ()
    """For redact: the columns whose values are replaced as well."""

    @property
    def family(self) -> Family:
        return family_of(self.sql_type)

    @property
    def published_type(self) -> str:
        """The type of the masked values."""
        match self.kind:
            case "token":
                return "BIGINT" if self.options["format"] == "number" else "VARCHAR"
            case "constant":
                made = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}
                return made.get(type(self.options["value"]), "VARCHAR")
            case "zip3":
                return "VARCHAR"
        return published_type(self.sql_type)

    @property
    def description(self) -> dict[str, Any]:
        """The mask as a release describes it: no file, and nothing found in the source."""
        return {"mask": self.kind, **describe_options(self.kind, self.options)}

    @property
    def depends_on_column(self) -> bool:
        """Whether a masked value depends on other values of the column."""
        drawn = self.kind == "noise" and "between" not in self.options
        return drawn or "at_least" in self.options


def masks_of(
    name: str, column: Column, sql_type: str, physical: Sql, *, person: bool, number: int
) -> tuple[Mask, ...]:
    """The masks of a column, in order. Raises SourceError if they do not fit its type."""
    made = tuple(
        Mask(name, kind, sql_type, mask_options(kind, options), physical, Sql(f"o{number}"), person)
        for kind, options in column.masks
    )
    SourceError.refuse(problem for mask in made for problem in _unfit(mask, column))
    return made


LEFT_OUT = ("key_file", "vault", "per")
"""Options that no release contains."""
DEFAULTS = {("token", "format"): "hex", ("round", "method"): "nearest"}


def mask_options(kind: str, given: object) -> dict[str, Any]:
    """The options of a policy's mask, with the defaults."""
    found: dict[str, Any] = {}
    if kind == "zip3":  # (a file is read when the columns are known)
        return {"population": GIVEN if getattr(given, "population", None) else CENSUS}
    for option in OPTIONS[kind]:
        value = getattr(given, option, None)
        value = DEFAULTS.get((kind, option)) if value is None else value
        if value is not None:
            found[option] = list(value) if isinstance(value, tuple) else value
    return found


def describe_options(kind: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a mask as a release describes them: no key, and no content of files."""
    told = {name: value for name, value in options.items() if name not in LEFT_OUT}
    if options.get("population") == CENSUS:
        told.pop("restricted", None)  # (which the guidance lists)
    lasting = kind == "token" and ("key_file" in options or "vault" in options)
    return {**told, "lasting": True} if lasting else told


def _unfit(mask: Mask, column: Column) -> Iterator[Problem]:
    fitting = FITTING.get(mask.kind)
    if fitting is not None and mask.family not in fitting:
        said = f"{mask.kind} does not fit the column's type {published_type(mask.sql_type)}"
        allowed = WORDS.get(mask.kind, "numbers, dates and timestamps")
        yield Problem(_path(mask, column), said, allowed, "cast the column in source.query")
        return
    for option in ("at", "to", "amount", "between"):
        strange = invalid_option(mask, option) if option in mask.options else None
        if strange is not None:
            yield Problem(_path(mask, column, option), *strange)


def _path(mask: Mask, column: Column, option: str | None = None) -> str:
    if column.role == mask.kind:
        return column_path(mask.column, option or "role")
    return column_path(mask.column, mask.kind, *((option,) if option else ()))


def invalid_option(mask: Mask, option: str) -> tuple[str, str | None, str | None] | None:
    """The reason why a value of the policy does not fit the type, what is allowed, and a hint."""
    value, dates = mask.options[option], mask.family in DATES
    kind = published_type(mask.sql_type)
    if option == "to":
        if dates != (value in CALENDAR):
            said = f"does not fit the column's type {kind}"
            return said, ", ".join(CALENDAR) if dates else "a number above 0", None
        if mask.family == "date" and value == "hour":
            return "is less than a day, and the column holds days", "year to day", None
        if dates:
            return None
    values = value if option == "between" else [value]
    for one in values:
        if isinstance(one, str) != dates and option != "amount":
            return f"does not fit the column's type {kind}", "a date" if dates else "a number", None
        if not dates and not _exact(one, mask):
            allowed = "whole numbers" if mask.family == "whole" else f"a value of {kind}"
            return f"is no value of the column's type {kind}", allowed, None
    return None


def _exact(value: Any, mask: Mask) -> bool:
    """Return whether a number is exactly a value of the column's type."""
    number = Decimal(str(value))
    if mask.family == "whole":
        least, most = bounds(mask.sql_type)
        return number == number.to_integral_value() and least <= number <= most
    if mask.family == "decimal":
        _, scale = precision(mask.sql_type)
        least, most = bounds(mask.sql_type)
        # (Decimal rounds to 28 digits, and a column has up to 38)
        whole = (Fraction(number) * 10**scale).denominator == 1
        return whole and least <= number <= most
    return True


def precision(sql_type: str) -> tuple[int, int]:
    """Number of digits of a decimal, and of those after the point."""
    found = re.search(r"\((\d+),\s*(\d+)\)", sql_type)
    return (int(found[1]), int(found[2])) if found else (18, 3)


_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}


def bounds(sql_type: str) -> tuple[Decimal, Decimal]:
    """The smallest and largest value of a whole or decimal type."""
    if family_of(sql_type) == "decimal":
        digits, scale = precision(sql_type)
        nines = (9,) * digits
        return Decimal((1, nines, -scale)), Decimal((0, nines, -scale))
    unsigned = sql_type.startswith("U")
    bits = _BITS[sql_type[unsigned:]]
    if unsigned:
        return Decimal(0), Decimal(2**bits - 1)
    return Decimal(-(2 ** (bits - 1))), Decimal(2 ** (bits - 1) - 1)


def exact_type(sql_type: str) -> str:
    """The widest exact type of the same kind of numbers."""
    if family_of(sql_type) == "decimal":
        return f"DECIMAL(38, {precision(sql_type)[1]})"
    return sql_type if sql_type == "UHUGEINT" else "HUGEINT"


FLOAT_DIGITS, DOUBLE_DIGITS = 7, 15
"""Digits of a number that single and double precision keep, whatever the number."""


def typed_literal(value: Any, sql_type: str) -> Sql:
    """A value of the policy as one of a column's type."""
    if isinstance(value, str) and family_of(sql_type) == "zoned":
        value = in_utc(value)
    if isinstance(value, bool | str):
        given = lit(value)
    else:
        number = f"{Decimal(str(value)):f}"
        # as a number, more digits would be rounded, not by every engine in the same way
        most = {"FLOAT": FLOAT_DIGITS, "DOUBLE": DOUBLE_DIGITS}.get(sql_type, 38)
        long = sum(map(str.isdigit, number)) > most
        given = lit(number) if long else Sql(number)
    return sql("cast({v} as {t})", v=given, t=Sql(sql_type))


def in_utc(instant: str) -> str:
    """A date or timestamp with a time zone; UTC if it has none."""
    found = dt.datetime.fromisoformat(instant)
    return (found if found.tzinfo else found.replace(tzinfo=dt.UTC)).isoformat(sep=" ")

"""The hierarchy of a column: any of the builders, discriminated by name.

`{file: x.csv}` and `{table: t}` without a builder are short for `taxonomy`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Discriminator, Tag

from anonymizer.policy.builders import (
    Cardinality,
    Conventional,
    Date,
    Divisor,
    Frequency,
    Intervals,
    OnTheFly,
    Order,
    Prefix,
    Suffix,
    Taxonomy,
)
from anonymizer.policy.frozen import TAG, Options, fail
from anonymizer.policy.suggest import closest

BUILDERS: dict[str, type[Options]] = {
    "conventional": Conventional,
    "divisor": Divisor,
    "cardinality": Cardinality,
    "on_the_fly": OnTheFly,
    "prefix": Prefix,
    "suffix": Suffix,
    "date": Date,
    "intervals": Intervals,
    "taxonomy": Taxonomy,
    "frequency": Frequency,
    "order": Order,
}


def _shorthand(given: object) -> object:
    if isinstance(given, Options):
        return given
    if not isinstance(given, Mapping):
        raise fail("must be a mapping", hint="hierarchy: {builder: cardinality}")
    named = given.get("builder")
    if "builder" not in given:
        if "file" not in given and "table" not in given:
            raise fail("is missing", at="builder", allowed=", ".join(BUILDERS))
        return {"builder": "taxonomy", **given}
    if not isinstance(named, str) or named not in BUILDERS:
        raise fail(
            "is not a builder",
            at="builder",
            allowed=", ".join(BUILDERS),
            hint=closest(named, BUILDERS),
        )
    return given


def _tag(given: Any) -> str:
    return TAG + str(given["builder"] if isinstance(given, Mapping) else given.builder)


Hierarchy = Annotated[
    Annotated[Conventional, Tag(TAG + "conventional")]
    | Annotated[Divisor, Tag(TAG + "divisor")]
    | Annotated[Cardinality, Tag(TAG + "cardinality")]
    | Annotated[OnTheFly, Tag(TAG + "on_the_fly")]
    | Annotated[Prefix, Tag(TAG + "prefix")]
    | Annotated[Suffix, Tag(TAG + "suffix")]
    | Annotated[Date, Tag(TAG + "date")]
    | Annotated[Intervals, Tag(TAG + "intervals")]
    | Annotated[Taxonomy, Tag(TAG + "taxonomy")]
    | Annotated[Frequency, Tag(TAG + "frequency")]
    | Annotated[Order, Tag(TAG + "order")],
    Discriminator(_tag),
    BeforeValidator(_shorthand),
]
"""Any of the builders, distinguished by `builder`."""

"""Top and bottom coding: values beyond a column's codes are replaced by the codes when read.

No later step reads the original values, so nothing in a release depends on them; even at the lowest
level of a hierarchy a value beyond a code is published as the open interval.
"""

from __future__ import annotations

import math
import struct

from anonymizer.compile import Sql, lit, sql
from anonymizer.hierarchy.scale import Bound, Scale
from anonymizer.hierarchy.scale_of_type import scale_of
from anonymizer.policy import Policy
from anonymizer.policy.builders import Intervals


def coding(policy: Policy, column: str, sql_type: str) -> Intervals | None:
    """The codes of a column that is published with open intervals, else None."""
    spec = policy.columns[column].hierarchy
    if policy.columns[column].kind == "categorical" or scale_of(sql_type) is None:
        return None
    if not policy.algorithm.over_levels or not isinstance(spec, Intervals):
        return None
    return spec if spec.bottom is not None or spec.top is not None else None


def coded(value: Sql, spec: Intervals, sql_type: str) -> Sql:
    """A value as it is read: the top code for all values above it, the value just below the bottom
    code for all values below it. A value in no interval raises SourceError later.
    """
    scale = scale_of(sql_type)
    assert scale is not None
    finite = sql(" and isfinite({v})", v=value) if scale.can_be_infinite else Sql("")
    whens: list[Sql] = []
    try:
        if spec.top is not None:
            top = scale.literal(spec.top)
            whens.append(sql("when {v} >= {t}{f} then {t}", v=value, t=top, f=finite))
        if spec.bottom is not None:
            bottom = scale.literal(spec.bottom)
            below = just_below(scale, spec.bottom)
            whens.append(sql("when {v} < {b}{f} then {n}", v=value, b=bottom, f=finite, n=below))
    except ValueError:
        return value  # the hierarchy's builder reports an invalid bound
    return Sql(f"case {' '.join(str(when) for when in whens)} else {value} end")


def just_below(scale: Scale, bottom: Bound) -> Sql:
    """The largest value below `bottom`."""
    if scale.line != "reals":
        return scale.before(scale.literal(bottom))
    below = math.nextafter(float(bottom), -math.inf)
    if scale.sql_type == "FLOAT":
        below = _single_below(float(bottom))
    return sql("cast({v} as {t})", v=lit(below), t=Sql(scale.sql_type))


def _single_below(bound: float) -> float:
    """The largest single-precision number below `bound`."""
    (single,) = struct.unpack("<f", struct.pack("<f", bound))
    if single < bound:
        return float(single)
    if single == 0:
        return float(struct.unpack("<f", struct.pack("<I", 0x80000001))[0])
    (bits,) = struct.unpack("<i", struct.pack("<f", single))
    step = -1 if bits > 0 else 1
    return float(struct.unpack("<f", struct.pack("<i", bits + step))[0])

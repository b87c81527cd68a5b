"""The line of an SQL type, if its values have distances."""

from __future__ import annotations

import re

from anonymizer.hierarchy.scale import ZONED, Scale

INTEGER = re.compile(r"(U?)(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)\Z")
DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)\Z")
TIMESTAMP = re.compile(r"TIMESTAMP(_S|_MS|_NS)?\Z")
BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 120}


def scale_of(sql_type: str) -> Scale | None:
    """The line of a type; None if its values have no distance (text, boolean, uuid)."""
    if found := INTEGER.match(sql_type):
        bits = BITS[found[2]]
        if found[1]:
            return Scale(sql_type, "points", least=0, greatest=2**bits - 1)
        return Scale(sql_type, "points", least=-(2 ** (bits - 1)), greatest=2 ** (bits - 1) - 1)
    if found := DECIMAL.match(sql_type):
        end = 10 ** int(found[1]) - 1
        return Scale(sql_type, "points", unit=10 ** int(found[2]), least=-end, greatest=end)
    if sql_type in {"FLOAT", "DOUBLE"}:
        return Scale(sql_type, "reals")
    if sql_type == "DATE":
        return Scale(sql_type, "points")
    if sql_type == ZONED or TIMESTAMP.match(sql_type):
        return Scale(sql_type, "days")
    return None

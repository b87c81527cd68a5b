"""Words of Postgres' dialect: what has the same meaning in DuckDB, and names that are too long."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import md5

from sqlglot import exp

from anonymizer.engines.postgres import LONGEST
from anonymizer.policy.names import OWN

NODES = frozenset(
    """
    Abs Add Alias And Any Array ArrayAgg ArrayAppend ArrayContainsAll ArrayOverlaps
    ArrayToString Avg Between BitwiseAnd BitwiseLeftShift BitwiseOr BitwiseOrAgg
    BitwiseRightShift Boolean Bracket CTE Case Cast Ceil Coalesce Collate Column ColumnDef
    Concat ConcatWs Count Create DPipe DataType DataTypeParam Decode DenseRank Distinct Div EQ
    Encode Except Exists Exp Explode ExplodingGenerateSeries Extract Filter FirstValue Floor
    From GT GTE Greatest Group GroupConcat Having Identifier If In Insert IntDiv Interval Is
    JSONObjectAgg Join LT LTE Lag LastValue Lateral Lead Least Left Length Limit Literal Ln Log
    LogicalAnd LogicalOr Lower MD5 Max Min Mod Mul NEQ Neg Normalize Not Null NullSafeNEQ Nullif
    Offset Or Order Ordered Pad Paren Pow Properties RegexpLike RegexpReplace Repeat Replace
    Right Round RowNumber SHA2Digest Schema Select Slice SplitPart Sqrt Star StartsWith StrPosition
    StringToArray Sub Subquery Substring Sum Table TableAlias TimestampTrunc Translate Trim
    Trunc Tuple Union UnloggedProperty Unnest Upper Values Var Where Window WindowSpec With
    """.split()  # noqa: SIM905 - a list of words reads better
)
"""Kinds of nodes with the same meaning in Postgres and DuckDB after all rewrites, as sqlglot names
them. The tests that compare whole releases execute each of them on a server. `Lower`, which depends
on the server beyond ASCII, is only applied to texts that are compared with each other."""

FUNCTIONS = frozenset(
    """
    bit_count cardinality convert_to current_setting get_byte hashtextextended int8send
    json_each_text jsonb_agg octet_length regexp_match regexp_matches row_to_json timezone
    """.split()  # noqa: SIM905
)
"""Functions for which sqlglot has no node of their own."""


def is_long(name: str) -> bool:
    """Whether Postgres would truncate the name."""
    return len(name.encode()) > LONGEST


def _stand_in(name: str) -> str:
    return OWN + md5(name.encode(), usedforsecurity=False).hexdigest()


def short_names(node: exp.Expr) -> exp.Expr:
    """Replace a name that would be truncated; `as_written` reverses this."""
    if isinstance(node, exp.Identifier) and is_long(node.name):
        return exp.to_identifier(_stand_in(node.name), quoted=True)
    return node


def as_written(text: str, columns: Sequence[str]) -> list[str]:
    """The column names of a result as written in `text`, before its translation."""
    if not any(name.startswith(OWN) for name in columns):
        return list(columns)
    import sqlglot

    tree = sqlglot.parse_one(text, read="duckdb")
    long = {_stand_in(one.name): one.name for one in tree.find_all(exp.Identifier)}
    return [long.get(name, name) for name in columns]

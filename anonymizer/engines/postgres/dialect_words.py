"""The allow-list of constructs with the same meaning in Postgres and DuckDB, after all rewrites.

The tests that compare whole releases execute each of them on a server.
"""

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
"""Kinds of nodes, as sqlglot names them. `Lower`, which depends on the server beyond ASCII, is only
applied to texts that are compared with each other."""

FUNCTIONS = frozenset(
    """
    bit_count cardinality convert_to current_setting get_byte hashtextextended int8send
    json_each_text jsonb_agg octet_length regexp_match regexp_matches row_to_json timezone
    """.split()  # noqa: SIM905
)
"""Functions for which sqlglot has no node of their own."""

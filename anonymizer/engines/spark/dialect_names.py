"""The allow-list of constructs with the same meaning in Spark and DuckDB, after all rewrites."""

NODES = frozenset(
    """Abs Add Alias And Array ArrayAgg ArrayAppend ArrayCompact ArrayContains ArrayDistinct
    ArraySize ArraySlice ArraySort ArrayToString Avg Between BitwiseAnd BitwiseCount
    BitwiseLeftShift BitwiseOr BitwiseOrAgg BitwiseRightShift Boolean Bracket CTE Case
    Cast Ceil Coalesce Column Concat ConcatWs Count DPipe DataType DataTypeParam Day
    Decode DenseRank Distinct Div EQ Encode EndsWith Exists Exp Explode Filter FirstValue
    Floor From GT GTE GenerateSeries Greatest Group GroupConcat Grouping GroupingSets
    Having ILike Identifier If In IntDiv Is IsNan Join LT LTE Lag Lambda LastValue Lead
    Least Left Length Lateral Like Limit Literal Ln LogicalAnd LogicalOr Lower MD5 Max Min
    Mod Month Mul NEQ Neg Not Null NullSafeEQ NullSafeNEQ Nullif Or Order Ordered Pad
    Paren Placeholder Pow RegexpExtract RegexpExtractAll RegexpLike RegexpReplace
    RegexpSplit Repeat Replace Reverse Right Round RowNumber Select Sign SplitPart Sqrt
    Star StartsWith StrPosition Sub Subquery Substring Sum Table TableAlias Transform
    Translate Trim TryCast TsOrDsToDate Tuple Union UnixMicros Upper Values Where Window
    WindowSpec With WithinGroup Year""".split()  # noqa: SIM905 - a list of words reads better
)
"""Kinds of nodes, as sqlglot names them. Bit operations occur only in printed scripts, which no
test runs on Spark. `Reverse` is for digests only: in other texts DuckDB keeps grapheme clusters."""

FUNCTIONS = frozenset({"arrays_overlap", "octet_length", "slice", "xxhash64"})
"""Functions for which sqlglot has no node of their own."""

-- The information that classes lose (normalized certainty penalty; Xu et al. 2006): for numbers and
-- dates the share of the column's range that a class spans, for categories the share of the
-- column's values that it holds; a single value loses nothing. NULL is one more category.
--
-- tbl         name of a table or view, as made by anon_mondrian
-- quasi       its quasi-identifiers, a list of columns with their raw values
-- class       the column that identifies the class
-- suppressed  rows that were left out of the table; each cell of theirs loses 1
-- returns     one row: ncp, the mean over all cells; ncp_sum; cells
-- empty       NULL, 0.0, 0
--
-- example     from anon_ncp('classes', ['age', 'sex']);
create or replace temp macro anon_ncp(
    tbl varchar, quasi varchar[], class varchar := 'class_id', suppressed := 0
) as table
with losses as (
    from query(
        _anon_with(
            'anon_ncp', tbl, _anon_columns('anon_ncp', 'quasi', quasi) || _anon_columns('anon_ncp', 'class', [class])
        )
        || ' '
        || array_to_string(
            list_transform(quasi, lambda name: 'select * from (' || _anon_column_loss('anon_ncp', name, class) || ')'),
            ' union all '
        )
        || _anon_checked(_anon_at_least('anon_ncp', 'suppressed', suppressed, 0))
    )
),
figures as (
    select
        cast(coalesce(sum(n), 0) + suppressed * len(quasi) as bigint) as cells,
        cast(coalesce(sum(n * cast(ncp as decimal(18, 15))), 0) as double) + suppressed * len(quasi) as ncp_sum
    from losses
)
select ncp_sum / nullif(cells, 0) as ncp, ncp_sum, cells
from figures;

comment on macro table anon_ncp is
    'Mean loss of the cells of classes: from anon_ncp(table, [columns], class := ''class_id'', suppressed := 0)';

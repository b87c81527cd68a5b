-- A generalization hierarchy of numbers: every level has wider intervals, as anon_interval makes
-- them; the last level is `*`.
-- Keep it as a table, and a policy can name it: `hierarchy: {table: age_levels}`.
--
-- tbl      name of a table or view
-- col      its column of numbers
-- widths   of the intervals, from the finest level to the coarsest, each a multiple of the one
--          before, so that the levels nest
-- origin   where an interval of every level begins
-- returns  value, level_1, level_2, ...: one row per value, NULL left out, in the order of values
-- empty    no rows
--
-- example  from anon_hierarchy_intervals('adult', 'age', [5, 10, 20]);
create or replace temp macro anon_hierarchy_intervals(tbl varchar, col varchar, widths, origin := 0) as table
from query(
    _anon_with('anon_hierarchy_intervals', tbl, _anon_columns('anon_hierarchy_intervals', 'col', [col]))
    || ' select value'
    || array_to_string(
        list_transform(
            _anon_nested('anon_hierarchy_intervals', 'widths', _anon_steps('anon_hierarchy_intervals', 'widths', widths)),
            lambda width, i: ', anon_interval(value, ' || width || ', ' || _anon_given('anon_hierarchy_intervals', 'origin', origin) || ') as level_' || i
        ),
        ''
    )
    || ', ''*'' as level_' || (coalesce(len(widths), 0) + 1)
    || ' from (select distinct ' || _anon_name(col) || ' as value from _anon_source where '
    || _anon_name(col) || ' is not null' || _anon_else_checked(1) || ') order by value'
);

comment on macro table anon_hierarchy_intervals is
    'Hierarchy of numbers by intervals: from anon_hierarchy_intervals(table, column, [widths], origin := 0)';

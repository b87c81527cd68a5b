-- A generalization hierarchy of dates: every level has longer calendar periods, as
-- anon_date_interval makes them; the last level is `*`.
-- Keep it as a table, and a policy can name it: `hierarchy: {table: birth_levels}`.
--
-- tbl      name of a table or view
-- col      its column of dates or timestamps
-- periods  from fine to coarse, out of 'day', 'month', 'quarter', 'year', 'decade'
-- returns  value, level_1, level_2, ...: one row per value, NULL left out, in the order of values
-- empty    no rows
--
-- example  from anon_hierarchy_dates('visits', 'admitted', ['month', 'year']);
create or replace temp macro anon_hierarchy_dates(tbl varchar, col varchar, periods varchar[]) as table
from query(
    _anon_with('anon_hierarchy_dates', tbl, _anon_columns('anon_hierarchy_dates', 'col', [col]))
    || ' select value'
    || array_to_string(
        list_transform(
            periods,
            lambda period, i: ', anon_date_interval(value, ' || _anon_text(
                _anon_one_of('anon_hierarchy_dates', 'periods', period, ['day', 'month', 'quarter', 'year', 'decade'])
            ) || ') as level_' || i
        ),
        ''
    )
    || _anon_checked(_anon_steps(
        'anon_hierarchy_dates',
        'periods',
        list_transform(periods, lambda period: list_position(['day', 'month', 'quarter', 'year', 'decade'], period))
    ))
    || ', ''*'' as level_' || (coalesce(len(periods), 0) + 1)
    || ' from (select distinct ' || _anon_name(col) || ' as value from _anon_source where '
    || _anon_name(col) || ' is not null' || _anon_else_checked(1) || ') order by value'
);

comment on macro table anon_hierarchy_dates is
    'Hierarchy of dates by calendar periods: from anon_hierarchy_dates(table, column, [periods])';

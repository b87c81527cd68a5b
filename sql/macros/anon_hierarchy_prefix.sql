-- A generalization hierarchy of codes: every level keeps fewer characters from the beginning, the
-- rest become `*` up to the length of the longest code; the last level is `*`.
-- Keep it as a table, and a policy can name it: `hierarchy: {table: zip_levels}`.
--
-- tbl      name of a table or view
-- col      its column of codes; numbers are taken as text
-- keep     characters that each level keeps, from the finest to the coarsest
-- returns  value, level_1, level_2, ...: one row per value, NULL left out, in the order of values
-- empty    no rows
--
-- example  from anon_hierarchy_prefix('adult', 'education', [5, 3]);
create or replace temp macro anon_hierarchy_prefix(tbl varchar, col varchar, keep) as table
from query(
    _anon_with('anon_hierarchy_prefix', tbl, _anon_columns('anon_hierarchy_prefix', 'col', [col]))
    || ' select value'
    || array_to_string(
        list_transform(
            _anon_steps('anon_hierarchy_prefix', 'keep', list_reverse(cast(keep as bigint[]))),
            lambda kept, i: replace(
                ', case when length(label) < # then label else left(label, #) || repeat(''*'', longest - #) end as level_',
                '#',
                cast(keep[i] as varchar)
            ) || i
        ),
        ''
    )
    || ', ''*'' as level_' || (coalesce(len(keep), 0) + 1)
    || ' from (select value, label, greatest(max(length(label)) over (), ' || coalesce(keep[1], 0) || ') as longest'
    || ' from (select distinct ' || _anon_name(col) || ' as value, ' || _anon_label(_anon_name(col))
    || ' as label from _anon_source where ' || _anon_name(col) || ' is not null' || _anon_else_checked(2) || ')) order by label'
);

comment on macro table anon_hierarchy_prefix is
    'Hierarchy of codes by their beginnings: from anon_hierarchy_prefix(table, column, [characters])';

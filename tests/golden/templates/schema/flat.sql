-- several_tables, hierarchy of ward: The hierarchy of a category for which the policy gives none: every value, and `*` above all.
create or replace table anon_scratch.main.hierarchy_100002 as
select
    value,
    row_number() over (order by value) as leaf,
    1 as level,
    cast(1 as bigint) as node,
    '*' as label,
    count(*) over () as leaves
from anon_scratch.main.values_100002

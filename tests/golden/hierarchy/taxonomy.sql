-- hierarchy_1.read_table: The rows of a taxonomy table, each as a JSON object of texts in the order of the columns.
select to_json(line) as line
from (
    select columns(*)::varchar
    from "s"."codes"
) as line;
-- then in Python, into listed_1: Check the taxonomy's rows and number its leaves and nodes.

-- hierarchy_1.guard_lacking: Values of the source that the hierarchy lacks: how many, of how many, in how many rows. (stops the run if it returns rows)
select
    count(*) filter (where l.leaf is null) as lacking,
    count(*) as distinct_values,
    cast(sum(v.n) filter (where l.leaf is null) as bigint) as row_count
from anon_scratch.main.values_1 as v
left join (
    select value as typed, min(leaf) as leaf
    from anon_scratch.main.listed_1
    group by 1
) as l on v.value = l.typed
having count(*) filter (where l.leaf is null) > 0;

-- hierarchy_1.listed: The hierarchy of a taxonomy: the rows of the values that the source has.
create or replace table anon_scratch.main.hierarchy_1 as
select
    v.value,
    l.leaf,
    l.level,
    l.node,
    l.label,
    l.leaves,
    cast(null as VARCHAR) as lo,
    cast(null as VARCHAR) as hi
from anon_scratch.main.values_1 as v
inner join (
    select *, value as typed
    from anon_scratch.main.listed_1
) as l on v.value = l.typed;

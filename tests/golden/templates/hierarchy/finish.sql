-- full_domain_ncp, hierarchy_1.finish: The hierarchy of an ordered column: one row per value and level. Leaves are the points of the domain, or the distinct values where it has no points to count.
create or replace table anon_scratch.main.hierarchy_1 as
with extent as (
    select min(lo) as lowest, max(level) as top
    from anon_scratch.main.bounds_1
),

placed as (
    select
        b.*,
        e.top,
        cast(cast(value as hugeint) - cast(lowest as hugeint) + 1 as bigint) as leaf,
        cast(cast(lo as hugeint) - cast(lowest as hugeint) + 1 as bigint) as node,
        cast(cast(hi as hugeint) - cast(lo as hugeint) + 1 as bigint) as leaves
    from anon_scratch.main.bounds_1 as b
    cross join extent as e
)

select
    value,
    leaf,
    level,
    node,
    case
        when level = top then '*'
        when label is not null then label
        when cast(lo as varchar) = cast(hi as varchar) then cast(lo as varchar)
        else '[' || cast(lo as varchar) || ', ' || cast(hi as varchar) || ']'
    end as label,
    leaves,
    lo,
    hi
from placed
dense_rank() over (order by b.value) as leaf  -- hierarchy_conventional_double, hierarchy_1.finish: {% if points and widest is not none %} ... {% else %}
min(leaf) over (partition by level, place) as node,  -- hierarchy_conventional_double, hierarchy_1.finish: {% if points and widest is not none %} ... {% else %}
count(*) over (partition by level, place) as leaves,  -- hierarchy_conventional_double, hierarchy_1.finish: {% if points and widest is not none %} ... {% else %}
, (max(cast(hi as double)) - min(cast(lo as double))) * 1 > 4000000000000000000 as wide  -- hierarchy_intervals_wide, hierarchy_1.finish: {% if widest is not none %}
-- hierarchy_intervals_wide, hierarchy_1.finish: {% if points and widest is not none %}
        case when e.wide then dense_rank() over (order by b.value)
            else cast(cast(value as hugeint) - cast(lowest as hugeint) + 1 as bigint) end as leaf,
        case when not e.wide then cast(cast(lo as hugeint) - cast(lowest as hugeint) + 1 as bigint) end as node,
        case when not e.wide then cast(cast(hi as hugeint) - cast(lo as hugeint) + 1 as bigint) end as leaves
coalesce(node, min(leaf) over (partition by level, place)) as node,  -- hierarchy_intervals_wide, hierarchy_1.finish: {% if points and widest is not none %}
coalesce(leaves, count(*) over (partition by level, place)) as leaves,  -- hierarchy_intervals_wide, hierarchy_1.finish: {% if points and widest is not none %}

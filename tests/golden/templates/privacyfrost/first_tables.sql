-- privacyfrost_suppressing, pre-computation: The tables of the pre-computation: every column alone is generalized until its classes smaller than k + p hold no more than may be suppressed, then all columns together, one level at a time.
create or replace table anon_scratch.main.search_tables as
with settings(attribute, floor) as (
    values
    (0, 0),
    (1, 0)
),
alone as (
    select
        s.attribute,
        s.floor,
        greatest(s.floor, coalesce(max(case when v.short <= l.allowed then v.depth end), 0)) as depth
    from settings s
    join anon_scratch.main.search_depths v on v.attribute = s.attribute
    cross join anon_scratch.main.lattice_limits l
    group by s.attribute, s.floor
),
steps as (
    select cast(unnest(range(max(depth - floor) + 1)) as integer) as node
    from alone
)
select
    n.node as number,
    n.node,
    n.node as place,
    cast(max(case when v.attribute = 0 then v.depth end) as integer) as d1,
    5 - cast(max(case when v.attribute = 0 then v.depth end) as integer) as l1,
    cast(max(case when v.attribute = 1 then v.depth end) as integer) as d2,
    1 - cast(max(case when v.attribute = 1 then v.depth end) as integer) as l2,
    bit_or(v.m0) as m0,
    bit_or(v.m1) as m1,
    cast(sum(v.merit) as decimal(38, 12)) as score,
    cast(sum(v.distinct_values) as bigint) as weight,
    max(v.small) as single,
    true as better,
    bool_or(v.small > l.allowed) as fails
from steps n
cross join alone a
cross join anon_scratch.main.lattice_limits l
join anon_scratch.main.search_depths v on v.attribute = a.attribute and v.depth = greatest(a.floor, a.depth - n.node)
group by n.node

-- privacyfrost_suppressing, pre-computation: The tables of the pre-computation: every column alone is generalized until its classes smaller than k + p hold no more than may be suppressed, then all columns together, one level at a time.
create or replace table anon_scratch.main.search_tables as
with settings(attribute, floor) as (
    values
    (0, 0),
    (1, 0)
-- 7 lines of the template, a3214737
    join anon_scratch.main.search_depths v on v.attribute = s.attribute
    cross join anon_scratch.main.lattice_limits l
    -- 10 lines of the template, b9a64815
    cast(max(case when v.attribute = 0 then v.depth end) as integer) as d1,
    5 - cast(max(case when v.attribute = 0 then v.depth end) as integer) as l1,
    cast(max(case when v.attribute = 1 then v.depth end) as integer) as d2,
    1 - cast(max(case when v.attribute = 1 then v.depth end) as integer) as l2,
    bit_or(v.m0) as m0,
    bit_or(v.m1) as m1,
    cast(sum(v.merit) as decimal(38, 12)) as score,
    cast(sum(v.distinct_values) as bigint) as weight,
    -- 5 lines of the template, 6c00224f
cross join anon_scratch.main.lattice_limits l
join anon_scratch.main.search_depths v on v.attribute = a.attribute and v.depth = greatest(a.floor, a.depth - n.node)
group by n.node

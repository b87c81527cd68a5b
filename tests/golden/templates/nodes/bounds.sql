-- full_domain_ncp, nodes of age: The published form of every value and node of one ordered column: a closed interval. Its bounds follow from the policy, or from published values.
create or replace table anon_scratch.main.shown_1 as
with published as (
    select d.code, d.value
    -- 6 lines as in plans/full_domain.sql, nodes of zip
        count(*) filter (where code = 0) > 0 as nulls
        , min(code) filter (where code > 0) = (select min(code) from anon_scratch.main.domain_1 where code > 0)
            and max(code) = (select max(code) from anon_scratch.main.domain_1) as whole
    from anon_scratch.main.present_1
),
nodes as (
    select h.level, h.node, min(case when x.whole then h.lo else h.value end) as lo, max(case when x.whole then h.hi else h.value end) as hi
    from anon_scratch.main.hierarchy_1 h
    join published p on p.value = h.value
    cross join extent x
    group by h.level, h.node
),
bounded as (
    select 0 as level, cast(code as bigint) as node, value as lo, value as hi
    -- 4 lines of the template, ea08f61e
-- 5 lines of the template, 4d35cadf
        when b.level = 5 and b.level > 0 then '*'
        when b.lo = b.hi then cast(b.lo as varchar)
        else '[' || cast(b.lo as varchar) || ', ' || cast(b.hi as varchar) || ']'
    end as label,
    b.level = 5 and b.level > 0 and x.nulls as nullable,
    -- 4 lines of the template, 57722794
-- 3 branches as in the template, e04befff

-- privacyfrost_suppressing, scores of tables: Which of the judged tables hold, and their scores as published: a suppressed row is generalized fully, so a value counts only if a published row has it.
create or replace table anon_scratch.main.search_scored as
with priorities(attribute, height, priority) as (
    values
    (0, 5, cast(1 as decimal(25, 12))),
    (1, 1, cast(1 as decimal(25, 12)))
),
-- 7 lines of the template, 276d5ff6
        from anon_scratch.main.lattice_classes
        group by number
    ) c
    cross join anon_scratch.main.lattice_limits l
    -- 5 lines of the template, 0fa387ff
        unnest([0, 1]) as attribute,
        unnest([5 - g.l1, 1 - g.l2]) as depth
    from anon_scratch.main.search_tables g
    -- 6 lines of the template, 50e14184
        unnest([0, 1]) as attribute
        , unnest([c.g0 & cast(63 as bigint), c.g0 & cast(0 as bigint)]) as w0
        , unnest([c.g1 & cast(1 as bigint), c.g1 & cast(6 as bigint)]) as w1
    from anon_scratch.main.lattice_classes c
    -- 4 lines of the template, 58e5f5b8
    select number, attribute, w0, w1, cast(sum(n) as bigint) as n
    from gone
    group by number, attribute, w0, w1
-- 5 lines of the template, d7577cd6
    join anon_scratch.main.search_values v
        on v.attribute = p.attribute
        and v.depth = p.depth
        and v.n = w.n
        and v.w0 = w.w0
        and v.w1 = w.w1
    -- 5 lines of the template, a21d41ba
    join anon_scratch.main.search_depths d on d.attribute = p.attribute and d.depth = p.depth
    left join vanished v on v.number = p.number and v.attribute = p.attribute
),
merits as (
    select c.number, c.e, cast(priority * cast(e as decimal(13, 0)) as decimal(38, 12)) as merit
    from counted c
    join (
        select attribute, max(distinct_values) as before from anon_scratch.main.search_depths group by attribute
    -- 6 lines of the template, 9728cc80
        cast(sum(merit) as decimal(38, 12)) as score,
        cast(sum(e) as bigint) as weight
    -- 7 lines of the template, 0891dc36
    -- if rows may be suppressed, any other rule can hold for a finer table and yet fail here
    h.number is null and (s.small > l.allowed or l.allowed = 0) as decides,
    h.suppressed,
    t.score,
    t.weight
from anon_scratch.main.lattice_screened s
cross join anon_scratch.main.lattice_limits l
left join holding h on h.number = s.number
left join summed t on t.number = s.number
-- 2 branches as in the template, 6f64b127

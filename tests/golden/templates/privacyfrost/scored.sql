-- privacyfrost_suppressing, scores of tables: Which of the judged tables hold, and their scores as published: a suppressed row is generalized fully, so a value counts only if a published row has it.
create or replace table anon_scratch.main.search_scored as
with priorities(attribute, height, priority) as (
    values
    (0, 5, cast(1 as decimal(25, 12))),
    (1, 1, cast(1 as decimal(25, 12)))
),
holding as (
    select c.number, c.suppressed
    from (
        select
            number,
            count(*) filter (where published) as classes,
            cast(coalesce(sum(n) filter (where not published), 0) as bigint) as suppressed
        from anon_scratch.main.lattice_classes
        group by number
    ) c
    cross join anon_scratch.main.lattice_limits l
    where c.classes > 0 and c.suppressed <= l.allowed
),
placed as (
    select
        g.number,
        unnest([0, 1]) as attribute,
        unnest([5 - g.l1, 1 - g.l2]) as depth
    from anon_scratch.main.search_tables g
    join holding h on h.number = g.number
),
gone as (
    select
        c.number,
        c.n,
        unnest([0, 1]) as attribute
        , unnest([c.g0 & cast(63 as bigint), c.g0 & cast(0 as bigint)]) as w0
        , unnest([c.g1 & cast(1 as bigint), c.g1 & cast(6 as bigint)]) as w1
    from anon_scratch.main.lattice_classes c
    join holding h on h.number = c.number
    where not c.published
),
without as (
    select number, attribute, w0, w1, cast(sum(n) as bigint) as n
    from gone
    group by number, attribute, w0, w1
),
vanished as (
    select p.number, p.attribute, count(*) as lacking
    from without w
    join placed p on p.number = w.number and p.attribute = w.attribute
    join anon_scratch.main.search_values v
        on v.attribute = p.attribute
        and v.depth = p.depth
        and v.n = w.n
        and v.w0 = w.w0
        and v.w1 = w.w1
    group by p.number, p.attribute
),
counted as (
    select p.number, p.attribute, d.distinct_values - coalesce(v.lacking, 0) as e
    from placed p
    join anon_scratch.main.search_depths d on d.attribute = p.attribute and d.depth = p.depth
    left join vanished v on v.number = p.number and v.attribute = p.attribute
),
merits as (
    select c.number, c.e, cast(priority * cast(e as decimal(13, 0)) as decimal(38, 12)) as merit
    from counted c
    join (
        select attribute, max(distinct_values) as before from anon_scratch.main.search_depths group by attribute
    ) o on o.attribute = c.attribute
    join priorities s on s.attribute = c.attribute
),
summed as (
    select
        number,
        cast(sum(merit) as decimal(38, 12)) as score,
        cast(sum(e) as bigint) as weight
    from merits
    group by number
)
select
    s.number,
    h.number is not null as holds,
    case when s.small > l.allowed then 0 when h.number is null then -1 end as broken,
    -- if rows may be suppressed, any other rule can hold for a finer table and yet fail here
    h.number is null and (s.small > l.allowed or l.allowed = 0) as decides,
    h.suppressed,
    t.score,
    t.weight
from anon_scratch.main.lattice_screened s
cross join anon_scratch.main.lattice_limits l
left join holding h on h.number = s.number
left join summed t on t.number = s.number
0  -- privacyfrost_budget, scores of tables: cast({% if weighed %}sum(e){% else %}0{% endif %} as bigint) as weight ... {% else %}
h.number is null as decides,  -- privacyfrost_budget, scores of tables: {% if monotone %}

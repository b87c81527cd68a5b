-- mondrian_population, the table in the population: The whole table as one class, if it breaks the population models. Cutting only loses matching members of the population, so what fails here fails in every partition.
with everyone as (select 1 as grp, unit from anon_scratch.main.units),
extent as (
    select
        g.grp
        , min(e.c1) filter (where e.c1 > 0) as lo1
        , max(e.c1) filter (where e.c1 > 0) as hi1
        , bool_or(e.c1 = 0) as nil1
        , min(e.c2) filter (where e.c2 > 0) as lo2
        , max(e.c2) filter (where e.c2 > 0) as hi2
        , bool_or(e.c2 = 0) as nil2
    from "everyone" g
    join anon_scratch.main.units e on e.unit = g.unit
    -- 5 lines of mondrian/_population.sql.j2, 9b0a2085
        , coalesce(case
            when lo2 = hi2 then 0
            when lo2 = 1 and hi2 = 8 then 5
            when low2.a1 = high2.a1 then 1
            when low2.a2 = high2.a2 then 2
            when low2.a3 = high2.a3 then 3
            when low2.a4 = high2.a4 then 4
            when low2.a5 = high2.a5 then 5
            else 5
        end, 0) as level2
        , low2.a1 as node2_1
        , low2.a2 as node2_2
        , low2.a3 as node2_3
        , low2.a4 as node2_4
        , low2.a5 as node2_5
    from extent x
    left join anon_scratch.main.domain_2 low2 on low2.code = x.lo2
    left join anon_scratch.main.domain_2 high2 on high2.code = x.hi2
),
matched as (
    select
        (select cast(sum(n) as bigint) from anon_scratch.main.units) as n,
        cast(coalesce(sum(p.members) filter (where true and (p.p2 <> -2 or b.level2 = 5)), 0) as bigint) as sure,
        cast(coalesce(sum(p.members), 0) as bigint) as possible
    from boxes b
    join anon_scratch.main.population_tuples p on true
and coalesce(
    case
        when p.p1 = 0 then b.nil1
        else p.p1 between 2 * b.lo1 and 2 * b.hi1
    end,
    false
)
and coalesce(
    case
        when p.p2 = 0 then b.nil2
        when b.lo2 is null then false
        when b.level2 = 0 then p.p2 = b.lo2
        when b.level2 = 5 or p.p2 = -2 then true
        when b.level2 = 1 then p.p2_1 = b.node2_1
        when b.level2 = 2 then p.p2_2 = b.node2_2
        when b.level2 = 3 then p.p2_3 = b.node2_3
        when b.level2 = 4 then p.p2_4 = b.node2_4
        when b.level2 = 5 then p.p2_5 = b.node2_5
    end,
    false
)

),
judged as (
    select m.*, (select cast(coalesce(sum(members), 0) as bigint) from anon_scratch.main.population_tuples) as members
    -- 4 lines of the template, 24039441
where not ((sure >= 3) and (cast(n as hugeint) * 1 <= cast(sure as hugeint) * 1) and (cast(possible as hugeint) * 1 <= cast(n as hugeint) * 10) and sure = members)
-- mondrian_population_of_persons, the table in the population: {% elif one.shape == "set" %}
        when b.size2 > 1 and b.size2 = 8 then true
        else list_contains(b.set2, p.p2)
-- 1 branch as in the template, 3b818a27

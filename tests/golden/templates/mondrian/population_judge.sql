-- mondrian_population, halves in the population: The cuts whose halves both satisfy the population models.
create or replace table anon_scratch.main.population_compared as
with extent as (
    -- 8 lines as in templates/mondrian/population_whole.sql, mondrian_population, the table in the population
    from anon_scratch.main.halves g
    join anon_scratch.main.units e on e.unit = g.unit
    -- 5 lines of mondrian/_population.sql.j2, 9b0a2085
        -- 19 lines as in templates/mondrian/population_whole.sql, mondrian_population, the table in the population
sizes as (
    select a.grp, cast(sum(u.n) as bigint) as n
    from anon_scratch.main.halves a
    join anon_scratch.main.units u on u.unit = a.unit
    group by a.grp
),
pairs as materialized (
    select b.grp, t.offer, p.tuple, p.members, true and (p.p2 <> -2 or b.level2 = 5) as sure
    from boxes b
    join anon_scratch.main.offered_cuts t on t.offer = cast(floor(b.grp / 2) as bigint)
    join anon_scratch.main.population_within w on w.class_id = t.class_id
    join anon_scratch.main.population_tuples p on p.tuple = w.tuple and true
-- 23 lines as in templates/mondrian/population_whole.sql, mondrian_population, the table in the population
-- 10 lines of the template, 4e08fae0
,
-- 5 lines of the template, 136ec370
    from anon_scratch.main.offered_cuts t
    join anon_scratch.main.population_within w on w.class_id = t.class_id
    where t.offer in (select cast(floor(grp / 2) as bigint) from sizes)
    group by t.offer
)

select cast(floor(m.grp / 2) as bigint) as offer, bool_and((sure >= 3) and (cast(n as hugeint) * 1 <= cast(sure as hugeint) * 1) and (cast(possible as hugeint) * 1 <= cast(n as hugeint) * 10) and coalesce(k.tuples = h.tuples, false)) as holds
from matches m
left join kept k on k.offer = cast(floor(m.grp / 2) as bigint)
left join had h on h.offer = cast(floor(m.grp / 2) as bigint)
group by 1

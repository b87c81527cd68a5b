-- mondrian_parts_of_persons, nodes in the population: Whether every node of the tree satisfies the population models as one class, and whether the cut that made it leaves no member of the population outside where none may be.
create or replace table anon_scratch.main.population_compared as
with of_nodes as (
    select o.node as grp, u.unit
    from anon_scratch.main.nodes_of_cuts o
    join anon_scratch.main.units u on u.leaf between o.first_leaf and o.last_leaf
),
-- 9 lines as in templates/mondrian/population_whole.sql, mondrian_population, the table in the population
        , list(distinct e.c2) as set2
        , count(distinct e.c2) filter (where e.c2 > 0) as size2
    from "of_nodes" g
    join anon_scratch.main.extents e on e.unit = g.unit
    -- 5 lines of mondrian/_population.sql.j2, 9b0a2085
    from extent x
),
sizes as (
    select o.node as grp, o.parent, cast(sum(l.n) as bigint) as n
    from anon_scratch.main.nodes_of_cuts o
    join anon_scratch.main.leaves_of_cuts l on l.leaf between o.first_leaf and o.last_leaf
    group by o.node, o.parent
),
pairs as materialized (
    select b.grp, p.tuple, p.members, true as sure
    -- 12 lines as in templates/mondrian/population_whole.sql, mondrian_population, the table in the population
        when b.size2 > 1 and b.size2 = 8 then true
        else list_contains(b.set2, p.p2)
    -- 5 lines as in templates/mondrian/population_whole.sql, mondrian_population, the table in the population
-- 11 lines of the template, 208c568e
,
-- 10 lines of the template, c5893eb4

select m.grp as node, (sure >= 3) and (cast(n as hugeint) * 1 <= cast(sure as hugeint) * 1) and (cast(possible as hugeint) * 1 <= cast(n as hugeint) * 10) and (m.parent = 0 or coalesce(k.tuples = h.tuples, false)) as holds
from matches m
left join kept k on k.parent = m.parent
left join had h on h.grp = m.parent

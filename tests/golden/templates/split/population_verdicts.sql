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
    group by g.grp
),
boxes as (
    select
        x.*
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
    end,
    false
)

),
matches as (
    select
        s.grp,
        s.parent,
        s.n,
        cast(coalesce(sum(x.members) filter (where x.sure), 0) as bigint) as sure,
        cast(coalesce(sum(x.members), 0) as bigint) as possible
    from sizes s
    left join pairs x on x.grp = s.grp
    group by s.grp, s.parent, s.n
)
,
kept as (
    select s.parent, count(distinct x.tuple) as tuples
    from sizes s
    join pairs x on x.grp = s.grp
    where x.sure
    group by s.parent
),
had as (
    select grp, count(*) as tuples from pairs group by grp
)

select m.grp as node, (sure >= 3) and (cast(n as hugeint) * 1 <= cast(sure as hugeint) * 1) and (cast(possible as hugeint) * 1 <= cast(n as hugeint) * 10) and (m.parent = 0 or coalesce(k.tuples = h.tuples, false)) as holds
from matches m
left join kept k on k.parent = m.parent
left join had h on h.grp = m.parent

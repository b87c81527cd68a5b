-- full_domain_budget_c_dm, nodes reached: The nodes that every walker visits next. At the start of a turn: the coarsest node and others on a path down from it or, in every second turn, the best node so far with some columns raised. Going down: one column one level finer. Swapping: one column one level finer and another one coarser, if that can lose less. Nodes finer than one that failed are omitted.
create or replace table anon_scratch.main.lattice_reached as
with at_node as (
    select w.walker, w.turn, w.phase, w.draw, n.*
    from anon_scratch.main.lattice_walkers w
    join anon_scratch.main.lattice_nodes n on n.number = w.number
    where w.turn < 6
),
best as (
    select n.*
    from anon_scratch.main.lattice_judged j
    join anon_scratch.main.lattice_nodes n on n.number = j.number
    -- 6 lines of the template, 515703d8
    from anon_scratch.main.lattice_levels
    -- 12 lines of the template, a433dc57
v.distortion as loss,
        row_number() over (partition by w.walker order by md5_number(concat(hex(w.draw), ':', w.walker, ' ', w.turn, ' ', v.attribute, ' ', v.level)), v.attribute, v.level) as place,
        count(*) over (partition by w.walker) as places
    from anon_scratch.main.lattice_walkers w
    cross join anon_scratch.main.lattice_levels v
    join coarsest c on c.attribute = v.attribute
    where w.turn < 6
-- 5 lines of the template, 9978e7d4
        case when turn > 0 or walker > 4 then 0.5 + max(place) / cast(max(places) as double) else 1 end as weight
    -- 8 lines of the template, b9f2596a
        case d.attribute when 0 then b.l1 when 1 then b.l2 end as best_level,
        -- 13 lines of the template, 493c501b
        when own_place * 4 <= places * (1 + walker % 4) then level >= best_level
        -- 28 lines of the template, 4ca7da1b
        row_number() over (partition by walker order by level < height, worth desc, level desc, attribute) - 2 as step,
        count(*) over (partition by walker) - 2 as steps
    -- 4 lines of the template, 51e66e97
    select distinct walker, cast(steps * r.stop * r.stop // 256 as bigint) as stop
    from ordered
    cross join range(16) r(stop)
-- 15 lines of the template, 36af4d95
        -- 7 lines as in templates/lattice/walk_root.sql, full_domain_budget_c_dm, the coarsest node

    from starts r
    join anon_scratch.main.lattice_levels v on v.attribute = r.attribute and v.level = r.level
    group by r.walker, r.stop
),
stepped as (
    select a.walker, a.turn, a.phase, s.attribute as lowered, s.to_level as lowered_to, a.bound as current, case when s.attribute = 0 then s.to_level else a.l1 end as l1, case when s.attribute = 1 then s.to_level else a.l2 end as l2, a.m0 + s.m0 as m0, a.ncp + s.ncp as ncp, a.glm + s.glm as glm, a.distortion + s.distortion as distortion, a.guide + s.entropy as guide
    from at_node a
    join anon_scratch.main.lattice_steps s on s.down and s.level = case s.attribute when 0 then a.l1 when 1 then a.l2 end
    where a.phase in ('down', 'swap')
),
swapped as (
    select a.walker, a.lowered, case when s.attribute = 0 then s.to_level else a.l1 end as l1, case when s.attribute = 1 then s.to_level else a.l2 end as l2, a.m0 + s.m0 as m0, a.ncp + s.ncp as ncp, a.glm + s.glm as glm, a.distortion + s.distortion as distortion, a.guide + s.entropy as guide
    from stepped a
    join anon_scratch.main.lattice_steps s on not s.down and s.attribute <> a.lowered and s.level = case s.attribute when 0 then a.l1 when 1 then a.l2 end
    where a.phase = 'swap'
),
reached as (
    select walker, cast(-1 as bigint) as lowered, l1, l2, m0, ncp, glm, distortion, guide from started
    union all
    select walker, lowered, l1, l2, m0, ncp, glm, distortion, guide from stepped where phase = 'down'
    union all
    select walker, lowered, l1, l2, m0, ncp, glm, distortion, guide from swapped
-- 4 lines of the template, 8fda3d94
        cast(floor(pow(cast(l.units_records as double), 2) * exp(-c.guide / 1000000.0) * 0.9999) as hugeint) as bound
    from reached c
    cross join (select records - left_out as units_records from anon_scratch.main.lattice_limits) l
)
select b.walker, coalesce(g.weight, 1) as weight, b.l1, b.l2, b.m0, b.ncp, b.glm, b.distortion, b.guide, b.bound
from bounded b
join anon_scratch.main.lattice_walkers w on w.walker = b.walker
left join weights g on g.walker = b.walker and g.attribute = b.lowered
left join anon_scratch.main.lattice_judged j on j.number = w.number
where (w.phase <> 'swap' or not j.holds or b.bound < j.loss)
    and not exists (
        select 1 from anon_scratch.main.lattice_failed f
        where b.m0 & f.m0 = f.m0
    )
-- 2 branches as in the template, ace02379

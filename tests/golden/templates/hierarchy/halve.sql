-- full_domain_c_dm_persons, hierarchy_1.halve: Conventional hierarchy: halve the domain while the halves are wide enough; if they are unequal, the left one is larger. Every value descends on its own, so the work grows with the values and not with the domain.
create or replace table anon_scratch.main.intervals_1 as
with recursive halves (value, position, depth, first, past, width) as (
    select
        p.value, p.position, 0, cast(0 as bigint), g.points, cast(g.points as double)
    from anon_scratch.main.positions_1 as p
    cross join anon_scratch.main.grid_1 as g
    -- 12 lines of the template, 2123e0ae
    where width / 2 >= CAST(1.0 AS DOUBLE)
        and width / 2 > 1
-- 4 lines of the template, 9a33859a

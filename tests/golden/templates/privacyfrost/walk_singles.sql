-- privacyfrost_budget, single columns: Of the logarithmic score only one column counts: every column alone at every level, all others as coarse as they may be.
insert into anon_scratch.main.lattice_nodes
with coarsest as (
    select attribute, max(level) as level
    from anon_scratch.main.lattice_levels
    group by attribute
),
singles as (
    select
        row_number() over (order by v.lost, v.attribute, v.level) as number,
        v.attribute,
        v.level
    from anon_scratch.main.lattice_levels v
    join coarsest c on c.attribute = v.attribute and v.level < c.level
),
combined as (
    select
        s.number + 2 as number
        -- 7 lines as in templates/privacyfrost/walk_result.sql, privacyfrost_suppressing, table of the search

    from singles s
    cross join coarsest c
    join anon_scratch.main.lattice_levels v on v.attribute = c.attribute and v.level = case when c.attribute = s.attribute then s.level else c.level end
    where s.number + 2 <= 40
    group by s.number
-- 9 lines as in templates/privacyfrost/walk_result.sql, privacyfrost_suppressing, table of the search

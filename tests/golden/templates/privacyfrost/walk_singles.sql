-- privacyfrost_budget, single columns: Of the logarithmic score only one column counts: every column alone at every level, all others as coarse as they may be.
insert into anon_scratch.main.lattice_nodes
with coarsest as (
    select attribute, max(level) as level
    from anon_scratch.main.lattice_levels
    -- 7 lines of the template, 269de577
    from anon_scratch.main.lattice_levels v
    -- 5 lines of the template, 9c405eaf
        -- 7 lines as in templates/privacyfrost/walk_result.sql, privacyfrost_suppressing, table of the search

    from singles s
    cross join coarsest c
    join anon_scratch.main.lattice_levels v on v.attribute = c.attribute and v.level = case when c.attribute = s.attribute then s.level else c.level end
    where s.number + 2 <= 40
    -- 4 lines of the template, cf83e15a
    -- 6 lines as in templates/privacyfrost/walk_result.sql, privacyfrost_suppressing, table of the search

-- hierarchy_cardinality, hierarchy_1.climb: Cardinality hierarchy: the node of each value at every level.
create or replace table anon_scratch.main.intervals_1 as
-- 7 lines of the template, 50c63724
    from anon_scratch.main.nodes_1
    -- 5 lines of the template, f48f0e4e
    from anon_scratch.main.nodes_1
    -- 9 lines of the template, eda49b5c
    from anon_scratch.main.positions_1 as p
    -- 13 lines of the template, c43c9ab6
        case when width = 1 and leaves > 1 then 0 else 1 end as added
    -- 6 lines of the template, 0a6528b9
inner join anon_scratch.main.nodes_1 as n on c.level = n.level and c.ordinal = n.ordinal
cross join base as b
where c.level + b.added > 0
-- 1 branch as in the template, b0932c81

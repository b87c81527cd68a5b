-- mondrian_many_values, units as extents, part 1: What the extents of units need of the domains of some attributes: with very many attributes, one statement does not join all domains.
create or replace table anon_scratch.main.refine_points_part_1 as
-- 7 lines as in plans/mondrian.sql, units as extents
select
    u.unit, d1.rarity as rarity
    -- 6 lines as in plans/mondrian.sql, units as extents
where (select coalesce(sum(units), 0) from several) <= 400000

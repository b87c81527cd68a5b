-- full_domain_budget_unbounded, sets that failed: Sets of columns that cannot all be so fine, derived from the nodes that failed.
create or replace table anon_scratch.main.lattice_learned as
with cells as (
    select number, 0 as attribute, l1 as level from anon_scratch.main.lattice_failed
),
heights as (
    select attribute, max(level) as height from anon_scratch.main.lattice_levels group by attribute
-- 5 lines of the template, 553b0225
    left join anon_scratch.main.lattice_slices s on s.attribute = c.attribute and s.level = c.level
    -- 9 lines of the template, 8b72d2cd
-- 1 branch as in the template, 8384d899

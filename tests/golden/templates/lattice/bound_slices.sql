-- full_domain_budget_unbounded, slices of the loss: What the columns lose at least, cut into slices: a slice has the levels that are equally far below the roots, and of every column what it loses by being coarser than that.
create or replace table anon_scratch.main.lattice_slices as
with places(attribute, part, bit) as (
    select 0, 0, 0 where false
-- 8 lines of the template, b734e13c
        min(v."ncp") over (partition by v.attribute order by v.level desc rows between unbounded preceding and current row) as loss
    from anon_scratch.main.lattice_levels v
-- 13 lines of the template, 4f02264a
-- privacyfrost_suppressing, slices of the loss: {% if places %}
    values
    (0, 0, 1),
    (1, 0, 2)

-- full_domain_budget_unbounded, slices of the loss: What the columns lose at least, cut into slices: a slice has the levels that are equally far below the roots, and of every column what it loses by being coarser than that.
create or replace table anon_scratch.main.lattice_slices as
with places(attribute, part, bit) as (
    select 0, 0, 0 where false
),
-- never more at a finer level, whatever the tree
lowest as (
    select
        v.attribute,
        v.level,
        v.entropy as guide,
        max(v.level) over (partition by v.attribute) as height,
        min(v."ncp") over (partition by v.attribute order by v.level desc rows between unbounded preceding and current row) as loss
    from anon_scratch.main.lattice_levels v
)
select
    cast(dense_rank() over (order by p.part, a.height - a.level) as integer) as slice,
    p.part,
    a.height - a.level as depth,
    a.attribute,
    cast(p.bit as integer) as bit,
    a.level,
    b.loss - a.loss as lost,
    a.guide
from lowest a
join lowest b on b.attribute = a.attribute and b.level = a.level + 1
join places p on p.attribute = a.attribute
-- privacyfrost_suppressing, slices of the loss: {% if places %}
    values
    (0, 0, 1),
    (1, 0, 2)

-- full_domain_budget_unbounded, sets that failed: Sets of columns that cannot all be so fine, derived from the nodes that failed.
create or replace table anon_scratch.main.lattice_learned as
with cells as (
    select number, 0 as attribute, l1 as level from anon_scratch.main.lattice_failed
),
heights as (
    select attribute, max(level) as height from anon_scratch.main.lattice_levels group by attribute
),
below as (
    select c.number, s.part, s.depth, s.bit
    from cells c
    join heights h on h.attribute = c.attribute
    left join anon_scratch.main.lattice_slices s on s.attribute = c.attribute and s.level = c.level
    where c.level < h.height
)
select distinct part, depth, bits
from (
    select min(part) as part, max(depth) as depth, cast(sum(bit) as integer) as bits
    from below
    group by number
    having count(*) = count(part) and min(part) = max(part)
) found
union all  -- privacyfrost_suppressing, sets that failed: {% if not loop.last %}

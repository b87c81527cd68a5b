-- full_domain_budget_c_dm, levels of the optimum: {% if size is none %} ... {% else %}
with counted as (
    select
        cast(j.loss + cast(l.left_out as hugeint) * l.records as double) as loss,
        cast(f.found + cast(l.left_out as hugeint) * l.records as double) as bound,
cast(1 as double) as scale
    from anon_scratch.main.lattice_batch b
    join anon_scratch.main.lattice_judged j on j.number = b.number
    cross join anon_scratch.main.lattice_limits l
    cross join (
        -- every row is in a class of k or costs more
        select cast(records - left_out as hugeint) * 2 as found from anon_scratch.main.lattice_limits
    ) f
)
select
    36 as lattice_nodes,
    (select cast(power(10, length(cast(count(*) as varchar))) as bigint) from anon_scratch.main.lattice_judged) as lattice_judged,
    -- rounded, as they depend on rows that may not be published
    floor(10000 * (c.loss / c.scale) + 0.5) / 10000 as lattice_loss,
    floor(10000 * (c.bound / c.scale)) / 10000 as lattice_bound,
    ceil(1000 * (1 - c.bound / greatest(c.loss, 1))) / 1000 as lattice_gap
    , l1 as "level.age"
    , l2 as "level.zip"
from anon_scratch.main.lattice_batch
cross join counted c
cast(l.records as double) * 1000000000000  -- full_domain_budget_unbounded, levels of the optimum: {% if additive %}cast(l.records as double) * {{ whole }}{% else %}cast(1 as double){% endif %} as scale
-- full_domain_budget_unbounded, levels of the optimum: {% if additive %}
        select coalesce(sum(lost), 0) as found
        from (select slice, min(lost) as lost from anon_scratch.main.lattice_subsets group by slice) s

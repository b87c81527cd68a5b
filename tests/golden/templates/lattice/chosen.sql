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
    -- 4 lines of the template, bfab3ee6
    , l1 as "level.age"
    , l2 as "level.zip"
from anon_scratch.main.lattice_batch
cross join counted c
-- 2 branches as in the template, d461bbde

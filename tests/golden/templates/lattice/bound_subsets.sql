-- full_domain_budget_unbounded, sets of columns: Which columns may be as fine as a slice says, and what the others lose then: every set that contains none of the learned ones.
create or replace table anon_scratch.main.lattice_subsets as
with wholes as (
    select
        slice,
        part,
        depth,
        sum(bit) as whole
        , coalesce(max(case when bit = 1 then lost end), 0) as lost_1
    from anon_scratch.main.lattice_slices
    group by slice, part, depth
),
every as (
    select
        w.slice,
        w.part,
        w.depth,
        cast(r.bits as integer) as bits,
        cast(case when r.bits & 1 = 0 then w.lost_1 else 0 end as hugeint) as lost
    from wholes w
    join range(1) r(bits) on r.bits & w.whole = r.bits
)
select e.*
from every e
where not exists (
    select 1 from anon_scratch.main.lattice_learned n
    where n.part = e.part and n.depth <= e.depth and e.bits & n.bits = n.bits
)
+  -- privacyfrost_suppressing, sets of columns: cast({% for bit in bits %}case when r.bits & {{ bit | lit }} = 0 then w.lost_{{ bit | lit }} else 0 end{% if not loop.last %} + {% endif %}{% endfor %} as hugeint) as lost

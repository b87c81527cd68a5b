-- full_domain_budget_unbounded, sets of columns: Which columns may be as fine as a slice says, and what the others lose then: every set that contains none of the learned ones.
create or replace table anon_scratch.main.lattice_subsets as
-- 6 lines of the template, 2cb0aae6
        , coalesce(max(case when bit = 1 then lost end), 0) as lost_1
    from anon_scratch.main.lattice_slices
    -- 8 lines of the template, 6fb1b6dc
        cast(case when r.bits & 1 = 0 then w.lost_1 else 0 end as hugeint) as lost
    from wholes w
    join range(1) r(bits) on r.bits & w.whole = r.bits
-- 4 lines of the template, 162d723c
    select 1 from anon_scratch.main.lattice_learned n
    where n.part = e.part and n.depth <= e.depth and e.bits & n.bits = n.bits
)
-- 1 branch as in the template, 46209f69

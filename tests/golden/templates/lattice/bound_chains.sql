-- full_domain_budget_unbounded, chains of columns: In every slice, the sets that lose least (several if they tie), as chains of columns in random order, the most distinguishing columns rather at the beginning. Each chain has a first column at which the columns so far cannot all be as fine as the slice; the earlier it is, the more sets it rules out. It lies from `lo` to `hi`; `hi` < `lo` means that all columns can be so fine, and the slice is settled. Once the column is found, the chain is replaced by a new one. The more a slice can lose, the more chains it has.
create or replace table anon_scratch.main.lattice_chains as
with
-- 4 lines of the template, fc1d8116
        from anon_scratch.main.lattice_slices
        group by slice
    ) s
    join range(16) r(chain) on r.chain <= floor(64 * s.share)
    cross join (select md5_number(concat(hex(min(draw)), ':walk')) as draw from anon_scratch.main.units) d
),
-- 4 lines of the template, 585394b8
    select slice, min(lost) as lost from anon_scratch.main.lattice_subsets group by slice
-- 5 lines of the template, 268595a4
        row_number() over (partition by s.slice order by (s.bits * (1 + (md5_number_lower(hex(n.draw)) % 65537 + n.spent) % 65536)) % 65537, s.bits) - 1 as rank,
        count(*) over (partition by s.slice) as sets
    from anon_scratch.main.lattice_subsets s
    -- 7 lines of the template, 73f62070
    join anon_scratch.main.lattice_slices s on s.slice = n.slice and b.bits & s.bit = s.bit
    where n.slice not in (select slice from settled) and (n.turn < 0 or n.lo = n.hi and n.sure)
),
placed as (
    select b.*, row_number() over (partition by b.slice, b.chain order by b.guide * (500 + md5_number_lower(concat(hex(b.draw), ':', b.slice, ' ', b.chain, ' ', b.turn, ' ', b.attribute)) % 1001) desc, b.attribute) as place
    -- 4 lines of the template, 238c5b01
-- 2 branches as in the template, d99eaca3

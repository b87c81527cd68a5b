-- full_domain_budget_unbounded, chains of columns: In every slice, the sets that lose least (several if they tie), as chains of columns in random order, the most distinguishing columns rather at the beginning. Each chain has a first column at which the columns so far cannot all be as fine as the slice; the earlier it is, the more sets it rules out. It lies from `lo` to `hi`; `hi` < `lo` means that all columns can be so fine, and the slice is settled. Once the column is found, the chain is replaced by a new one. The more a slice can lose, the more chains it has.
create or replace table anon_scratch.main.lattice_chains as
with
narrowed as (
    select slice, chain, -1 as turn, cast(null as bigint) as lo, cast(null as bigint) as hi, false as sure, draw, cast(0 as bigint) as spent
    from (
        select slice, cast(sum(lost) as double) / greatest(cast(sum(sum(lost)) over () as double), 1) as share
        from anon_scratch.main.lattice_slices
        group by slice
    ) s
    join range(16) r(chain) on r.chain <= floor(64 * s.share)
    cross join (select md5_number(concat(hex(min(draw)), ':walk')) as draw from anon_scratch.main.units) d
),
settled as (
    select slice from narrowed where hi < lo
),
least as (
    select slice, min(lost) as lost from anon_scratch.main.lattice_subsets group by slice
),
best as (
    select
        s.slice,
        s.bits,
        row_number() over (partition by s.slice order by (s.bits * (1 + (md5_number_lower(hex(n.draw)) % 65537 + n.spent) % 65536)) % 65537, s.bits) - 1 as rank,
        count(*) over (partition by s.slice) as sets
    from anon_scratch.main.lattice_subsets s
    join least l on l.slice = s.slice and l.lost = s.lost
    cross join (select min(draw) as draw, max(spent) as spent from narrowed) n
),
begun as (
    select n.slice, n.chain, n.turn + 1 as turn, n.draw, n.spent, s.attribute, s.bit, s.level, s.guide
    from narrowed n
    join best b on b.slice = n.slice and b.rank = n.chain % b.sets
    join anon_scratch.main.lattice_slices s on s.slice = n.slice and b.bits & s.bit = s.bit
    where n.slice not in (select slice from settled) and (n.turn < 0 or n.lo = n.hi and n.sure)
),
placed as (
    select b.*, row_number() over (partition by b.slice, b.chain order by b.guide * (500 + md5_number_lower(concat(hex(b.draw), ':', b.slice, ' ', b.chain, ' ', b.turn, ' ', b.attribute)) % 1001) desc, b.attribute) as place
    from begun b
)
select slice, chain, turn, attribute, bit, place, level, cast(sum(guide) over (partition by slice, chain order by place) as bigint) as guide, cast(1 as bigint) as lo, count(*) over (partition by slice, chain) as hi, false as sure, draw, spent
from placed
-- full_domain_budget_unbounded, narrow chains: {% if first %} ... {% else %}
answers as (
    select
        slice,
        chain,
        min(place) filter (where not kept) as fails,
        max(place) filter (where kept) as holds
    from anon_scratch.main.lattice_probed
    group by slice, chain
),
narrowed as (
    select distinct
        c.slice,
        c.chain,
        c.turn,
        greatest(c.lo, coalesce(a.holds + 1, 0)) as lo,
        least(c.hi, coalesce(a.fails, c.hi)) as hi,
        c.sure or a.fails is not null as sure,
        c.draw,
        c.spent + t.n as spent
    from anon_scratch.main.lattice_chains c
    cross join (select count(*) as n from anon_scratch.main.lattice_probed) t
    left join answers a on a.slice = c.slice and a.chain = c.chain
),
-- full_domain_budget_unbounded, narrow chains: {% if not first %}
union all
select c.slice, c.chain, c.turn, c.attribute, c.bit, c.place, c.level, c.guide, n.lo, n.hi, n.sure, c.draw, n.spent
from anon_scratch.main.lattice_chains c
join narrowed n on n.slice = c.slice and n.chain = c.chain
where n.slice in (select slice from settled) or not (n.lo = n.hi and n.sure)

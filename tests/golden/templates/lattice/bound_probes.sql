-- full_domain_budget_unbounded, first columns of chains: The nodes that narrow the chains: their first columns at the level of the slice, and all others at the root. The place at which the guide predicts the first failure is probed, and the one before. The prediction is the threshold of the guide that contradicts the fewest answers in the slice or, as long as there are none, the fewest verdicts of the walk.
create or replace table anon_scratch.main.lattice_probes as
with known as (
    select slice, guide, kept from anon_scratch.main.lattice_answers
    union all
    select -1, j.guide, j.small <= l.allowed
    from anon_scratch.main.lattice_judged j
    cross join anon_scratch.main.lattice_limits l
),
contradicted as (
    select
        slice,
        guide,
        sum(case when kept then 0 else 1 end) over upward
            - sum(case when kept then 1 else 0 end) over upward as errors
    from known
    window upward as (partition by slice order by guide range unbounded preceding)
),
expected as (
    select slice, guide as most_guide
    from (select *, row_number() over (partition by slice order by errors, guide) as choice from contradicted) c
    where choice = 1
),
narrowing as (
    select
        c.slice,
        c.chain,
        c.lo,
        c.hi,
        least(
            c.hi - case when c.sure then 1 else 0 end,
            coalesce(min(c.place) filter (where c.place >= c.lo and c.guide > coalesce(e.most_guide, g.most_guide, 0)), c.hi)
        ) as place
    from anon_scratch.main.lattice_chains c
    left join expected e on e.slice = c.slice
    left join expected g on g.slice = -1
    where (c.lo < c.hi or c.lo = c.hi and not c.sure)
        and c.spent < 12
        and c.slice not in (select slice from anon_scratch.main.lattice_chains where hi < lo)
    group by c.slice, c.chain, c.lo, c.hi, c.sure
),
asked as (
    select slice, chain, cast(place - r.before as bigint) as place
    from narrowing
    cross join range(2) r(before)
    where place - r.before >= lo
)
select
    row_number() over (order by a.slice, a.chain, a.place) as number,
    cast(max(c.guide) as bigint) as guide,
    a.slice,
    a.chain,
    a.place,
    cast(sum(c.bit) as integer) as bits
    , cast(sum(v.m0) as bigint) as m0
from asked a
join anon_scratch.main.lattice_chains c on c.slice = a.slice and c.chain = a.chain and c.place <= a.place
join anon_scratch.main.lattice_levels v on v.attribute = c.attribute and v.level = c.level
group by a.slice, a.chain, a.place

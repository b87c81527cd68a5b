-- name: bound_slices
-- What the columns lose at least, cut into slices: a slice has the levels that are equally far
-- below the roots, and of every column what it loses by being coarser than that.
create or replace table {{ slices | ident }} as
with places(attribute, part, bit) as (
    {% if places %}
    values
    {% for place in places %}
    ({{ place | lits | join }}){% if not loop.last %},{% endif %}

    {% endfor %}
    {% else %}
    select 0, 0, 0 where false
    {% endif %}
),
-- never more at a finer level, whatever the tree
lowest as (
    select
        v.attribute,
        v.level,
        v.entropy as guide,
        max(v.level) over (partition by v.attribute) as height,
        min(v.{{ optimum | ident }}) over (partition by v.attribute order by v.level desc rows between unbounded preceding and current row) as loss
    from {{ levels | ident }} v
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

-- name: bound_learned
-- Sets of columns that cannot all be so fine, derived from the nodes that failed.
create or replace table {{ learned | ident }} as
with cells as (
    {% for a in attributes %}
    select number, {{ a.number }} as attribute, {{ a.level }} as level from {{ failed | ident }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
heights as (
    select attribute, max(level) as height from {{ levels | ident }} group by attribute
),
below as (
    select c.number, s.part, s.depth, s.bit
    from cells c
    join heights h on h.attribute = c.attribute
    left join {{ slices | ident }} s on s.attribute = c.attribute and s.level = c.level
    where c.level < h.height
)
select distinct part, depth, bits
from (
    select min(part) as part, max(depth) as depth, cast(sum(bit) as integer) as bits
    from below
    group by number
    having count(*) = count(part) and min(part) = max(part)
) found

-- name: bound_subsets
-- Which columns may be as fine as a slice says, and what the others lose then: every set that
-- contains none of the learned ones.
create or replace table {{ subsets | ident }} as
with wholes as (
    select
        slice,
        part,
        depth,
        sum(bit) as total
        {% for bit in bits %}
        , coalesce(max(case when bit = {{ bit | lit }} then lost end), 0) as lost_{{ bit | lit }}
        {% endfor %}
    from {{ slices | ident }}
    group by slice, part, depth
),
every as (
    select
        w.slice,
        w.part,
        w.depth,
        cast(r.bits as integer) as bits,
        cast({% for bit in bits %}case when r.bits & {{ bit | lit }} = 0 then w.lost_{{ bit | lit }} else 0 end{% if not loop.last %} + {% endif %}{% endfor %} as hugeint) as lost
    from wholes w
    join range({{ most | lit }}) r(bits) on r.bits & w.total = r.bits
)
select e.*
from every e
where not exists (
    select 1 from {{ learned | ident }} n
    where n.part = e.part and n.depth <= e.depth and e.bits & n.bits = n.bits
)

-- name: bound_answers
-- No probe is answered yet.
create or replace table {{ answers | ident }} as
select cast(slice as bigint) as slice, cast(guide as bigint) as guide, false as kept
from {{ slices | ident }}
where false

-- name: bound_chains
-- In every slice, the sets that lose least (several if they tie), as chains of columns in random order,
-- the most distinguishing columns rather at the beginning. Each chain has a first column at which the
-- columns so far cannot all be as fine as the slice; the earlier it is, the more sets it rules out. It
-- lies from `lo` to `hi`; `hi` < `lo` means that all columns can be so fine, and the slice is settled.
-- Once the column is found, the chain is replaced by a new one. The more a slice can lose, the more
-- chains it has.
create or replace table {{ chains | ident }} as
with
{% if first %}
narrowed as (
    select slice, chain, -1 as round, cast(null as bigint) as lo, cast(null as bigint) as hi, false as sure, draw, cast(0 as bigint) as spent
    from (
        select slice, cast(sum(lost) as double) / greatest(cast(sum(sum(lost)) over () as double), 1) as share
        from {{ slices | ident }}
        group by slice
    ) s
    join range({{ side_by_side | lit }}) r(chain) on r.chain <= floor({{ (4 * side_by_side) | lit }} * s.share)
    cross join (select {{ first_draw }} as draw from {{ units | ident }}) d
),
{% else %}
answers as (
    select
        slice,
        chain,
        min(place) filter (where not kept) as fails,
        max(place) filter (where kept) as holds
    from {{ probed | ident }}
    group by slice, chain
),
narrowed as (
    select distinct
        c.slice,
        c.chain,
        c.round,
        greatest(c.lo, coalesce(a.holds + 1, 0)) as lo,
        least(c.hi, coalesce(a.fails, c.hi)) as hi,
        c.sure or a.fails is not null as sure,
        c.draw,
        c.spent + t.n as spent
    from {{ chains | ident }} c
    cross join (select count(*) as n from {{ probed | ident }}) t
    left join answers a on a.slice = c.slice and a.chain = c.chain
),
{% endif %}
settled as (
    select slice from narrowed where hi < lo
),
least as (
    select slice, min(lost) as lost from {{ subsets | ident }} group by slice
),
best as (
    select
        s.slice,
        s.bits,
        row_number() over (partition by s.slice order by {{ set_draw }}, s.bits) - 1 as rank,
        count(*) over (partition by s.slice) as sets
    from {{ subsets | ident }} s
    join least l on l.slice = s.slice and l.lost = s.lost
    cross join (select min(draw) as draw, max(spent) as spent from narrowed) n
),
starts as (
    select n.slice, n.chain, n.round + 1 as round, n.draw, n.spent, s.attribute, s.bit, s.level, s.guide
    from narrowed n
    join best b on b.slice = n.slice and b.rank = n.chain % b.sets
    join {{ slices | ident }} s on s.slice = n.slice and b.bits & s.bit = s.bit
    where n.slice not in (select slice from settled) and (n.round < 0 or n.lo = n.hi and n.sure)
),
placed as (
    select b.*, row_number() over (partition by b.slice, b.chain order by b.guide * ({{ chain_draw }}) desc, b.attribute) as place
    from starts b
)
select slice, chain, round, attribute, bit, place, level, cast(sum(guide) over (partition by slice, chain order by place) as bigint) as guide, cast(1 as bigint) as lo, count(*) over (partition by slice, chain) as hi, false as sure, draw, spent
from placed
{% if not first %}
union all
select c.slice, c.chain, c.round, c.attribute, c.bit, c.place, c.level, c.guide, n.lo, n.hi, n.sure, c.draw, n.spent
from {{ chains | ident }} c
join narrowed n on n.slice = c.slice and n.chain = c.chain
where n.slice in (select slice from settled) or not (n.lo = n.hi and n.sure)
{% endif %}

-- name: bound_probes
-- The nodes that narrow the chains: their first columns at the level of the slice, and all others at
-- the root. The place at which the guide predicts the first failure is probed, and the one before. The
-- prediction is the threshold of the guide that contradicts the fewest answers in the slice or, as long as
-- there are none, the fewest verdicts of the walk.
create or replace table {{ probes | ident }} as
with known as (
    select slice, guide, kept from {{ answers | ident }}
    union all
    select -1, j.guide, j.small <= l.allowed
    from {{ evaluations | ident }} j
    cross join {{ limits | ident }} l
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
    from {{ chains | ident }} c
    left join expected e on e.slice = c.slice
    left join expected g on g.slice = -1
    where (c.lo < c.hi or c.lo = c.hi and not c.sure)
        and c.spent < {{ for_bound | lit }}
        and c.slice not in (select slice from {{ chains | ident }} where hi < lo)
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
    {% for word in words %}
    , cast(sum(v.{{ word.m }}) as bigint) as {{ word.m }}
    {% endfor %}
from asked a
join {{ chains | ident }} c on c.slice = a.slice and c.chain = a.chain and c.place <= a.place
join {{ levels | ident }} v on v.attribute = c.attribute and v.level = c.level
group by a.slice, a.chain, a.place

-- name: bound_answered
-- The answers are kept, to predict the next ones.
insert into {{ answers | ident }}
select slice, guide, kept
from {{ probed | ident }}

-- name: bound_failed
-- Sets of columns that cannot all be so fine: the shortest failed one of every chain.
create or replace table {{ learned | ident }} as
with shortest as (
    select slice, chain, min(place) as place
    from {{ probed | ident }}
    where not kept
    group by slice, chain
)
select distinct s.part, s.depth, p.bits
from {{ probed | ident }} p
join shortest f on f.slice = p.slice and f.chain = p.chain and f.place = p.place
join (select distinct slice, part, depth from {{ slices | ident }}) s on s.slice = p.slice

-- name: bound_fewer
-- The sets that contain none of those learned in this round.
create or replace table {{ subsets | ident }} as
select s.*
from {{ subsets | ident }} s
where not exists (
    select 1 from {{ learned | ident }} n
    where n.part = s.part and n.depth <= s.depth and s.bits & n.bits = n.bits
)

-- name: bound_left
-- How many chains are still to be narrowed, while the budget of nodes lasts.
select count(*)
from {{ chains | ident }}
where spent < {{ for_bound | lit }} and slice not in (select slice from {{ chains | ident }} where hi < lo)

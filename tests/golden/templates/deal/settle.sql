-- mondrian_dealt, settle units: Leftover units join one of the classes of their block that widen least among those whose surplus allows it; a class takes at most {{ at_once }} per round.
create or replace table anon_scratch.main.deal_homes as
with last_round as (
    select min(turn) as turn from anon_scratch.main.deal_homes where grp is null
),
bins as (
    select distinct bin, q, total, most from anon_scratch.main.deal_shares
),
extents as (
    select
        h.block, h.grp, cast(count(*) as bigint) as size
, bit_or(p.w1) as w1, min(p.l1) as l1, max(p.h1) as h1
    from anon_scratch.main.deal_homes h
    join anon_scratch.main.refine_points p on p.unit = h.unit
    where h.grp is not null
    group by h.block, h.grp
),
classes as (
    select *, size * cast(greatest(h1 - l1, 0) + cast(((cast(bit_count(w1 & 511) as integer)) - case when (cast(bit_count(w1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) as lost from extents
),
counted as (
    select block, grp, bin, cast(count(*) as bigint) as n
    from anon_scratch.main.deal_homes
    where grp is not null
    group by block, grp, bin
),
surpluses as (
    select c.block, c.grp, cast(sum(greatest(c.n * b.total - s.size * b.q, 0)) as bigint) as surplus
    from counted c
    join classes s on s.block = c.block and s.grp = c.grp
    join bins b on b.bin = c.bin
    group by c.block, c.grp
),
growing as (
    select
        s.block, s.grp, b.bin, b.q, b.total, b.most, s.size, u.surplus, coalesce(c.n, 0) as n,
        greatest(greatest((coalesce(c.n, 0) + 1) * b.total - (s.size + 1) * b.q, 0) - greatest(coalesce(c.n, 0) * b.total - s.size * b.q, 0), 0) as more
    from classes s
    join surpluses u on u.block = s.block and u.grp = s.grp
    cross join bins b
    left join counted c on c.block = s.block and c.grp = s.grp and c.bin = b.bin
    where coalesce(c.n, 0) + 1 <= floor((s.size + 1) * b.most)
),
able as (
    select block, grp, bin
    from growing
    where surplus + more <= CAST(0.4 AS DOUBLE) * (size + 1) * total - CAST(1e-06 AS DOUBLE)
),
offered as (
    select unit, bin, block, grp, j_size * cast(greatest(jh1 - jl1, 0) + cast(((cast(bit_count(jw1 & 511) as integer)) - case when (cast(bit_count(jw1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) - lost as cost
    from (
        select
            h.unit, h.bin, s.block, s.grp, s.size + 1 as j_size, s.lost
, (s.w1 | p.w1) as jw1, least(s.l1, p.l1) as jl1, greatest(s.h1, p.h1) as jh1
        from anon_scratch.main.deal_homes h
        join anon_scratch.main.refine_points p on p.unit = h.unit
        join able g on g.block = h.block and g.bin = h.bin
        join classes s on s.block = g.block and s.grp = g.grp
        where h.grp is null
    ) j
),
cheapest as (
    select unit, min(cost) as cost from offered group by unit
),
-- many units would join the same few classes: those of a bin take turns at all that cost little more
offers as (
    select
        o.*, o.cost - l.cost as regret,
        row_number() over (partition by o.unit order by o.cost, o.grp) as choice,
        count(*) over (partition by o.unit) as choices
    from offered o
    join cheapest l on l.unit = o.unit
    cross join last_round r
    where o.cost - l.cost <= l.cost * CAST(0.5 AS DOUBLE) * (r.turn + 1)
),
turns as (
    select unit, row_number() over (partition by block, bin order by unit) - 1 as turn
    from anon_scratch.main.deal_homes
    where grp is null
),
proposed as (
    select o.*, row_number() over (partition by o.block, o.grp, o.bin order by o.regret, o.unit) as nth
    from offers o
    join turns t on t.unit = o.unit
    where o.choice = 1 + t.turn % o.choices
),
spent as (
    select
        unit, grp, size, total,
        row_number() over (partition by block, grp order by regret, unit) as place,
        surplus + sum(more) over (partition by block, grp order by regret, unit rows unbounded preceding) as spending
    from (
        select
            p.unit, p.block, p.grp, p.regret, g.size, g.total, g.surplus,
            case
                when p.nth = 1 then g.more
                -- no more than this, since the class is larger by then
                else greatest((g.n + p.nth) * g.total - (g.size + 1) * g.q, 0) - greatest((g.n + p.nth - 1) * g.total - (g.size + 1) * g.q, 0)
            end as more
        from proposed p
        join growing g on g.block = p.block and g.grp = p.grp and g.bin = p.bin
        where g.n + p.nth <= floor((g.size + 1) * g.most)
    ) p
),
settled as (
    select unit, grp from spent where place = 1 or (place <= 4 and spending <= CAST(0.4 AS DOUBLE) * (size + place) * total - CAST(1e-06 AS DOUBLE))
)
select
    h.unit, h.block, h.bin, coalesce(h.grp, s.grp) as grp,
    case when h.grp is null then (select turn from last_round) + 1 else h.turn end as turn
from anon_scratch.main.deal_homes h
left join settled s on s.unit = h.unit

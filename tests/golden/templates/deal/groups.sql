-- mondrian_dealt, deal classes: Classes that have about the table's share of every value, in all blocks at once: the unit with the rarest values starts a class, which takes the units that widen it least until it is large enough.
create or replace table anon_scratch.main.deal_groups as
with recursive grow(unit, cell, q, cap, turn, left_over, grp, taken, size, spent, have, w1, gw1, l1, gl1, h1, gh1) as (
    select
    p.unit, b.cell, b.q, b.cap,
    row_number() over (partition by b.block order by p.rarity desc, p.unit) as turn,
    cast(count(*) over (partition by b.block) as bigint) as left_over,
    cast(0 as bigint) as grp, false as taken,
    cast(0 as bigint) as size, cast(0 as bigint) as spent, cast(0 as bigint) as have
, p.w1, cast(0 as bigint) as gw1, p.l1, cast(40000000 as bigint) as gl1, p.h1, cast(-40000000 as bigint) as gh1
from anon_scratch.main.refine_points p
join anon_scratch.main.deal_blocks b on b.unit = p.unit

    union all (
        with open as (
    select
        g.cell, g.turn, g.size, g.spent, z.goal, z.budget,
        greatest((g.have + 1) * z.total - z.goal * g.q, 0) - greatest(g.have * z.total - z.goal * g.q, 0) as surplus
, (g.w1 | g.gw1) as jw1, least(g.l1, g.gl1) as jl1, greatest(g.h1, g.gh1) as jh1
    from "grow" g
    cross join anon_scratch.main.deal_size z
    where not g.taken and g.have < g.cap
),
best as (
    select
        cell, min(case when size = 0 then turn else (greatest(jh1 - jl1, 0) + cast((cast(bit_count(jw1 & 511) as integer)) as bigint) * least((cast(bit_count(jw1 & 511) as integer)) - 1, 1) * 1250000) * 16384 + turn end) as score,
        min(surplus) as surplus, min(size) as size, min(goal) as goal, min(budget - spent) as unspent
    from open
    where spent + surplus <= budget
    group by cell
),
ranked as (
    select
        *,
        row_number() over (partition by cell >> 24 order by score) as choice,
        cast(sum(surplus) over (partition by cell >> 24 order by score rows unbounded preceding) as bigint) as spending
    from best
),
picked as (
    select cell, cast(score % 16384 as bigint) as turn, surplus, size, goal
    from ranked
    where choice <= least(greatest(size / 2, 1), goal - size) and (size > 0 or choice = 1) and (surplus = 0 or spending <= unspent)
),
state as (
    select
        g.cell >> 24 as block, cast(count(*) as bigint) as more, cast(sum(p.surplus) as bigint) as surplus,
        min(p.size) + count(*) >= min(p.goal) as closes, min(p.goal) as goal
, bit_or(g.w1) as pw1, min(g.l1) as pl1, max(g.h1) as ph1
    from picked p
    join "grow" g on g.cell = p.cell and g.turn = p.turn
    where not g.taken
    group by g.cell >> 24
),
moved as (
    select s.*, c.cell, p.turn, case when p.turn is null then 0 else 1 end as joins
    from (select distinct cell from anon_scratch.main.deal_blocks) c
    join state s on s.block = c.cell >> 24
    left join picked p on p.cell = c.cell
)
select
    g.unit, g.cell, g.q, g.cap, g.turn, g.left_over - n.more as left_over,
    g.grp + case when g.size = 0 then 1 else 0 end as grp,
    coalesce(g.turn = n.turn, false) as taken,
    case when n.closes then 0 else g.size + n.more end as size,
    case when n.closes then 0 else g.spent + n.surplus end as spent,
    case when n.closes then 0 else g.have + n.joins end as have
, g.w1, case when n.closes then 0 else (n.pw1 | g.gw1) end as gw1, g.l1, case when n.closes then 40000000 else least(n.pl1, g.gl1) end as gl1, g.h1, case when n.closes then -40000000 else greatest(n.ph1, g.gh1) end as gh1
from "grow" g
join moved n on n.cell = g.cell
where not g.taken and (g.turn = n.turn or not n.closes or g.left_over - n.more >= n.goal)

    )
)
select unit, grp from grow where taken

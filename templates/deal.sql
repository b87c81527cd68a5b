-- name: _grow
-- Rows of three kinds, whose extents have the same columns:
-- a unit that has no class yet (slot NULL), a unit that was taken (with the number of its class), and
-- per slot and bin of a block the class that grows there: its number, size, surplus so far, units of the
-- bin (have), and extent.
{% macro first() %}
select
    p.unit, b.cell, row_number() over (partition by b.block order by p.rarity desc, p.unit) as rank,
    cast(null as bigint) as slot, cast(0 as bigint) as grp, false as taken,
    cast(0 as bigint) as size, cast(0 as bigint) as spent, cast(0 as bigint) as have,
    cast(0 as bigint) as q, cast(0 as bigint) as cap
    {% for column in columns %}, p.{{ column.sql }}{% endfor %}

from {{ points | ident }} p
join {{ blocks | ident }} b on b.unit = p.unit
union all
select
    cast(0 as bigint), b.cell, cast(0 as bigint), s.slot, s.slot, false,
    cast(0 as bigint), cast(0 as bigint), cast(0 as bigint), b.q, b.cap
    {% for column in columns %}, cast({{ column.empty }} as bigint){% endfor %}

from (select distinct cell, q, cap from {{ blocks | ident }}) b
cross join ({% for slot in range(slots) %}select cast({{ slot | lit }} as bigint) as slot{% if not loop.last %} union all {% endif %}{% endfor %}) s
{% endmacro %}

{#- More units for the classes that grow in every block: of each bin the one that adds least to the loss,
    two thirds as many at once as a class has, as far as the surplus allows. -#}
{% macro next(grow) %}
with open as (
    select unit, cell, rank{% for column in columns %}, {{ column.sql }}{% endfor %}

    from {{ grow }}
    where slot is null
),
growing as (
    select
        g.cell, g.slot, g.grp, g.size, g.spent, g.have, g.cap, z.goal, z.budget,
        greatest((g.have + 1) * z.total - z.goal * g.q, 0) - greatest(g.have * z.total - z.goal * g.q, 0) as surplus
        {% for column in unions %}, g.{{ column.sql }}{% endfor %}
        {% for name, expression in steps %}, {{ expression }} as {{ name }}{% endfor %}

    from {{ grow }} g
    cross join {{ class_size | ident }} z
    where g.slot is not null and not g.taken
),
-- a class starts if enough units are left after those that others still need
spare as (
    select o.block, o.units - coalesce(n.units, 0) as units
    from (select cell >> {{ bin_bits | lit }} as block, count(*) as units from open group by cell >> {{ bin_bits | lit }}) o
    left join (
        select block, sum(goal - size) as units
        from (select distinct cell >> {{ bin_bits | lit }} as block, slot, goal, size from growing where size > 0) c
        group by block
    ) n on n.block = o.block
),
allowed as (
    select g.*
    from growing g
    join spare s on s.block = g.cell >> {{ bin_bits | lit }}
    where g.have < g.cap and g.spent + g.surplus <= g.budget and (g.size > 0 or s.units >= (g.slot + 1) * g.goal)
),
best as (
    select cell, slot, min(({{ added }}) * {{ units_at_most | lit }} + rank) as score
    from (
        select
            u.cell, u.rank, g.slot
            {% for column in sets %}, u.{{ column.sql }}{% endfor %}
            {% for column in unions %}, {{ column.joined("u.", "g.") }} as j{{ column.sql }}{% endfor %}
            {% for name, expression in steps %}, g.{{ name }}{% endfor %}

        from open u
        join allowed g on g.cell = u.cell
        where g.size > 0
    ) j
    group by cell, slot
    union all
    select g.cell, g.slot, min(u.rank)
    from open u
    join allowed g on g.cell = u.cell
    where g.size = 0 and u.rank % {{ slots | lit }} = g.slot
    group by g.cell, g.slot
),
weights as (
    select
        b.cell >> {{ bin_bits | lit }} as block, b.cell, b.slot, b.score, cast(b.score % {{ units_at_most | lit }} as bigint) as rank,
        a.grp, a.surplus, a.size, a.goal, a.budget - a.spent as unspent
    from best b
    join allowed a on a.cell = b.cell and a.slot = b.slot
),
chosen as (
    select w.cell, w.slot, w.rank, w.score, w.grp, w.surplus
    from weights w
    join weights o on o.block = w.block and o.slot = w.slot and o.score <= w.score
    group by w.cell, w.slot, w.rank, w.score, w.grp, w.surplus, w.size, w.goal, w.unspent
    having count(*) <= least(greatest(w.size * 2 / 3, 1), w.goal - w.size) and (w.surplus = 0 or sum(o.surplus) <= w.unspent)
),
-- the class that it suits best, of those that chose the same unit
first as (
    select cell, rank, min(score * {{ slots | lit }} + slot) as choice from chosen group by cell, rank
),
picked as (
    select c.cell, c.slot, c.rank, c.grp, c.surplus
    from chosen c
    join first f on f.cell = c.cell and f.rank = c.rank and f.choice = c.score * {{ slots | lit }} + c.slot
),
state as (
    select
        a.block, a.slot, a.size + count(p.cell) >= a.goal as closes,
        cast(count(p.cell) as bigint) as more, cast(coalesce(sum(p.surplus), 0) as bigint) as surplus
        {% for column in columns %}, coalesce({{ column.over("o.") }}, {{ column.empty }}) as p{{ column.sql }}{% endfor %}

    from (select distinct block, slot, size, goal from weights) a
    left join picked p on p.cell >> {{ bin_bits | lit }} = a.block and p.slot = a.slot
    left join open o on o.cell = p.cell and o.rank = p.rank
    group by a.block, a.slot, a.size, a.goal
)
select
    o.unit, o.cell, o.rank, p.slot, coalesce(p.grp, 0), p.slot is not null, 0, 0, 0, 0, 0
    {% for column in columns %}, o.{{ column.sql }}{% endfor %}

from open o
join (select distinct block from state) s on s.block = o.cell >> {{ bin_bits | lit }}
left join picked p on p.cell = o.cell and p.rank = o.rank
union all
select
    g.unit, g.cell, g.rank, g.slot, case when n.closes then g.grp + {{ slots | lit }} else g.grp end, false,
    case when n.closes then 0 else g.size + n.more end,
    case when n.closes then 0 else g.spent + n.surplus end,
    case when n.closes then 0 when p.cell is null then g.have else g.have + 1 end,
    g.q, g.cap
    {% for column in columns %}, case when n.closes then {{ column.empty }} else {{ column.joined("g.", "n.p") }} end{% endfor %}

from {{ grow }} g
join state n on n.block = g.cell >> {{ bin_bits | lit }} and n.slot = g.slot
left join picked p on p.cell = g.cell and p.slot = g.slot
where g.slot is not null and not g.taken
{% endmacro %}

-- name: groups
-- Classes that have about the table's share of every value, in all blocks at once: units with
-- rare values start classes, which take the units that add least to their loss until they are large enough.
{% from "deal/_grow" import first, next with context %}
create or replace table {{ groups | ident }} as
with recursive grow(unit, cell, rank, slot, grp, taken, size, spent, have, q, cap{% for column in columns %}, {{ column.sql }}{% endfor %}) as (
    {{ first() }}
    union all (
        {{ next("grow" | ident) }}
    )
)
select unit, grp from grow where taken

-- name: first_grown
-- The units of every block, none of which has a new class yet.
{% from "deal/_grow" import first with context %}
create or replace table {{ grown | ident }} as
{{ first() }}

-- name: grown
-- The new class of every unit that has one.
create or replace table {{ groups | ident }} as
select unit, grp from {{ grown | ident }} where taken

-- name: grow
-- More units for the classes that grow in every block.
{% from "deal/_grow" import next with context %}
create or replace table {{ grown | ident }} as
select * from {{ grown | ident }} where taken
union all (
    {{ next(grown | ident) }}
)

-- name: grow_left
-- Units that may still join a new class.
select count(*) from {{ grown | ident }} where slot is null

-- name: shares
-- The share of every value in the table, and the largest share in a class. Under an ordered distance,
-- consecutive values that hold about one part of the rows are combined.
create or replace table {{ shares | ident }} as
with placed as (
    select
        value, q, q_size,
        {% if parts %}
        cast(floor(cast((sum(q) over (order by value rows unbounded preceding) - q) * 2 + q as double) * {{ parts | lit }} / (2 * q_size)) as integer) as bin
        {% else %}
        value as bin
        {% endif %}
    from {{ reference | ident }}
)
select
    value, bin, cast(sum(q) over (partition by bin) as bigint) as q, q_size as total,
    {{ most }} as most
from placed

-- name: size
-- The class size: the smallest at which whole rows can give every value about its share. For a value
-- that is expected more than once, about half a row is too much or too little.
-- Nothing is dealt beyond so many values: every class that grows has a row for each of them.
create or replace table {{ class_size | ident }} as
with goals(goal) as (
    values {% for goal in goals %}({{ goal | lit }}){% if not loop.last %}, {% endif %}{% endfor %}

),
bins as (
    select distinct bin, q, total, most from {{ shares | ident }}
),
weights as (
    select
        g.goal, count(*) as bins, max(b.total) as total,
        sum(least(cast(b.q as double) * g.goal, {{ rounding | lit }} * b.total)) as surplus,
        sum(floor(g.goal * b.most)) as room, min(floor(g.goal * b.most)) as least_room
    from goals g
    cross join bins b
    group by g.goal
)
select goal, cast(floor({{ t | lit }} * goal * total - {{ tolerance | lit }}) as bigint) as budget, total
from weights
where bins <= {{ most_bins | lit }} and goal * 2 <= total and surplus <= {{ t | lit }} * goal * total and room >= {{ spare | lit }} * goal and least_room >= 1
order by goal
limit 1

-- name: blocks
-- The rows of every value dealt to blocks in the order of one attribute, so that all blocks have the
-- table's shares.
create or replace table {{ blocks | ident }} as
with binned as (
    select p.unit, s.bin, s.q, z.goal, s.most{% if order %}, p.{{ order }} as place{% endif %}

    from {{ points | ident }} p
    join {{ cells | ident }} c on c.unit = p.unit
    join {{ shares | ident }} s on s.value = c.value
    cross join {{ class_size | ident }} z
),
ranked as (
    select
        *,
        row_number() over (partition by bin order by {% if order %}place, {% endif %}unit) as place_in_bin,
        count(*) over (partition by bin) as units_of_bin,
        greatest(ceil(cast(count(*) over () as double) / {{ block_units | lit }}), 1) as blocks
    from binned
)
select *, (block << {{ bin_bits | lit }}) + bin as cell
from (
    select
        unit, cast(bin as bigint) as bin, q,
        cast(floor((2 * place_in_bin - 1) * blocks / (2 * units_of_bin)) as bigint) as block,
        cast(floor(goal * most) as bigint) as cap
    from ranked
) r

-- name: homes
-- Units of classes that are large enough; all others are left over.
create or replace table {{ homes | ident }} as
with full_groups as (
    select b.block, g.grp
    from {{ groups | ident }} g
    join {{ blocks | ident }} b on b.unit = g.unit
    group by b.block, g.grp
    having count(*) >= (select max(goal) from {{ class_size | ident }})
)
select b.unit, b.block, b.bin, w.grp, 0 as round
from {{ blocks | ident }} b
left join {{ groups | ident }} g on g.unit = b.unit
left join full_groups w on w.block = b.block and w.grp = g.grp

-- name: settle
-- Leftover units join one of the classes of their block that widen least among those whose surplus
-- allows it; a class takes at most {{ at_once }} per round.
create or replace table {{ homes | ident }} as
with last_round as (
    select min(round) as round from {{ homes | ident }} where grp is null
),
bins as (
    select distinct bin, q, total, most from {{ shares | ident }}
),
extents as (
    select
        h.block, h.grp, cast(count(*) as bigint) as size
        {% for column in columns %}, {{ column.over("p.") }} as {{ column.sql }}{% endfor %}

    from {{ homes | ident }} h
    join {{ points | ident }} p on p.unit = h.unit
    where h.grp is not null
    group by h.block, h.grp
),
classes as (
    select *, size * cast({{ loss() }} as bigint) as lost from extents
),
counts as (
    select block, grp, bin, cast(count(*) as bigint) as n
    from {{ homes | ident }}
    where grp is not null
    group by block, grp, bin
),
surpluses as (
    select c.block, c.grp, cast(sum(greatest(c.n * b.total - s.size * b.q, 0)) as bigint) as surplus
    from counts c
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
    left join counts c on c.block = s.block and c.grp = s.grp and c.bin = b.bin
    where coalesce(c.n, 0) + 1 <= floor((s.size + 1) * b.most)
),
able as (
    select block, grp, bin
    from growing
    where surplus + more <= {{ t | lit }} * (size + 1) * total - {{ tolerance | lit }}
),
offered as (
    select unit, bin, block, grp, j_size * cast({{ loss("j") }} as bigint) - lost as cost
    from (
        select
            h.unit, h.bin, s.block, s.grp, s.size + 1 as j_size, s.lost
            {% for column in columns %}, {{ column.joined("s.", "p.") }} as j{{ column.sql }}{% endfor %}

        from {{ homes | ident }} h
        join {{ points | ident }} p on p.unit = h.unit
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
    where o.cost - l.cost <= l.cost * {{ patience | lit }} * (r.round + 1)
),
ranks as (
    select unit, row_number() over (partition by block, bin order by unit) - 1 as rank
    from {{ homes | ident }}
    where grp is null
),
proposed as (
    select o.*, row_number() over (partition by o.block, o.grp, o.bin order by o.regret, o.unit) as nth
    from offers o
    join ranks t on t.unit = o.unit
    where o.choice = 1 + t.rank % o.choices
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
    select unit, grp from spent where place = 1 or (place <= {{ at_once | lit }} and spending <= {{ t | lit }} * (size + place) * total - {{ tolerance | lit }})
)
select
    h.unit, h.block, h.bin, coalesce(h.grp, s.grp) as grp,
    case when h.grp is null then (select round from last_round) + 1 else h.round end as round
from {{ homes | ident }} h
left join settled s on s.unit = h.unit

-- name: unsettled
-- Whether units are left over and the last round settled some.
select count(*)
from {{ homes | ident }}
where grp is null and round < {{ rounds | lit }} and round <= (select coalesce(max(round), -1) from {{ homes | ident }} where grp is not null)

-- name: joined
-- Units that no class of their block can take form one class together with as many of its classes as
-- they need, beginning with those that lose most. If all are too few, the block is one class.
create or replace table {{ homes | ident }} as
with bins as (
    select distinct bin, q, total, most from {{ shares | ident }}
),
lacking as (
    select distinct block from {{ homes | ident }} where grp is null
),
extents as (
    select
        h.block, coalesce(h.grp, 0) as grp
        {% for column in columns %}, {{ column.over("p.") }} as {{ column.sql }}{% endfor %}

    from {{ homes | ident }} h
    join lacking l on l.block = h.block
    join {{ points | ident }} p on p.unit = h.unit
    group by h.block, coalesce(h.grp, 0)
),
placed as (
    -- what is left over comes first
    select
        block, grp,
        row_number() over (partition by block order by case when grp = 0 then 0 else 1 end, {{ loss() }} desc, grp) as place
    from extents
),
counts as (
    select p.block, p.place, h.bin, count(*) as n
    from {{ homes | ident }} h
    join placed p on p.block = h.block and p.grp = coalesce(h.grp, 0)
    group by p.block, p.place, h.bin
),
running as (
    select
        p.block, p.place, b.q, b.total, b.most,
        cast(sum(coalesce(c.n, 0)) over (partition by p.block, b.bin order by p.place rows unbounded preceding) as bigint) as n
    from placed p
    cross join bins b
    left join counts c on c.block = p.block and c.place = p.place and c.bin = b.bin
),
sizes as (
    select *, cast(sum(n) over (partition by block, place) as bigint) as size from running
),
verdicts as (
    select block, place
    from sizes
    group by block, place
    having sum(greatest(n * total - size * q, 0)) <= {{ t | lit }} * max(size) * max(total) - {{ tolerance | lit }}
    and bool_and(n <= floor(size * most))
    and max(size) >= (select max(goal) from {{ class_size | ident }})
),
ends as (
    select l.block, coalesce(min(j.place), (select max(place) from placed)) as place
    from lacking l
    left join verdicts j on j.block = l.block
    group by l.block
)
select h.unit, h.block, h.bin, case when p.place <= e.place then 0 else h.grp end as grp, h.round
from {{ homes | ident }} h
left join placed p on p.block = h.block and p.grp = coalesce(h.grp, 0)
left join ends e on e.block = h.block

-- name: better
-- The units in the classes that were dealt, where these hold every rule and lose less.
create or replace table {{ points | ident }} as
with extents as (
    select
        h.block, h.grp, cast(sum(p.n) as bigint) as size
        {% for column in columns %}, {{ column.over("p.") }} as {{ column.sql }}{% endfor %}

    from {{ homes | ident }} h
    join {{ points | ident }} p on p.unit = h.unit
    group by h.block, h.grp
),
loss as (
    select cast(coalesce(sum(size * cast({{ loss() }} as bigint)), 0) as bigint) as lost, coalesce(min(size), 0) as least from extents
),
{% for one in judged %}
counted_{{ loop.index | lit }} as (
    select h.block, h.grp, c.value, cast(sum(c.n) as bigint) as n
    from {{ homes | ident }} h
    join {{ one.cells | ident }} c on c.unit = h.unit
    group by h.block, h.grp, c.value
),
{% set outer = loop.index %}
layer_{{ outer | lit }}_0 as (
    {% if one.dense %}
    select e.block, e.grp, coalesce(c.n, 0) as n, r.*
    from extents e
    cross join {{ one.reference | ident }} r
    left join counted_{{ outer | lit }} c on c.block = e.block and c.grp = e.grp and c.value = r.value
    {% else %}
    select c.block, c.grp, c.n, r.*
    from counted_{{ outer | lit }} c
    join {{ one.reference | ident }} r on r.value = c.value
    {% endif %}
),
{% for layer in one.layers %}
layer_{{ outer | lit }}_{{ loop.index | lit }} as (
    select *{% for name, expression in layer %}, {{ expression }} as {{ name | ident }}{% endfor %}

    from layer_{{ outer | lit }}_{{ loop.index0 | lit }}
),
{% endfor %}
failing_{{ outer | lit }} as (
    select block, grp from layer_{{ outer | lit }}_{{ one.layers | length | lit }} group by block, grp
    having not ({{ one.holds }})
),
{% endfor %}
better as (
    select 1 as one
    from loss l
    where l.lost < (select sum(lost) from {{ classes | ident }})
    and l.least >= {{ k | lit }}
    and (select count(*) from {{ homes | ident }}) = (select count(*) from {{ points | ident }})
    {% for one in judged %}
    and not exists (select 1 from failing_{{ loop.index | lit }})
    {% endfor %}
),
numbered as (
    select
        h.unit,
        (select max(class_id) from {{ members | ident }}) + dense_rank() over (order by h.block, h.grp) as class_id
    from {{ homes | ident }} h
    cross join better
)
select
    p.unit, coalesce(h.class_id, p.class_id) as class_id, p.n, p.rarity
    {% for one in signs %}, p.{{ one.sign }}{% endfor %}

    {% for column in columns %}, p.{{ column.sql }}{% endfor %}

from {{ points | ident }} p
left join numbered h on h.unit = p.unit

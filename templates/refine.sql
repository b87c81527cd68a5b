-- name: _grow
-- Rows of three kinds, whose words and extents have the same columns: a unit that has no new class yet, a
-- unit that was taken (with the number of its class), and per block the class that grows there (rank 0):
-- its number, size, the rows of the block that are left over, and its extent.
{% macro first() %}
with units as (
    select p.*, b.block, count(*) over (partition by b.block) as units
    from {{ points | ident }} p
    join {{ blocks | ident }} b on b.class_id = p.class_id
)
select
    unit, block, n, row_number() over (partition by block order by rarity desc, unit) as rank,
    cast(0 as bigint) as left_over, cast(0 as bigint) as grp, false as taken, cast(0 as bigint) as size
    {% for one in kept %}, {{ one.word }}{% endfor %}{% for column in columns %}, {{ column.sql }}{% endfor %}

from units
-- a few large classes have too many units to be taken one by one
where units <= {{ block_units | lit }}
union all
select
    cast(0 as bigint), block, cast(0 as bigint), cast(0 as bigint), cast(sum(n) as bigint), cast(0 as bigint), false, cast(0 as bigint)
    {% for one in kept %}, cast(0 as bigint){% endfor %}{% for column in columns %}, cast({{ column.empty }} as bigint){% endfor %}

from units
where units <= {{ block_units | lit }}
group by block
{% endmacro %}

{#- One more unit for every block that has some left: the one that adds least to the loss. A class is large
    enough with k rows and so many values; where fewer than k rows are left, no other class is started. -#}
{% macro next(grow) %}
with open as (
    select unit, block, n, rank{% for one in kept %}, {{ one.word }}{% endfor %}{% for column in columns %}, {{ column.sql }}{% endfor %}

    from {{ grow }}
    where rank > 0 and not taken
),
growing as (
    select
        g.*
        {% for name, expression in steps %}, {{ expression }} as {{ name }}{% endfor %}

    from {{ grow }} g
    where g.rank = 0
),
best as (
    select block, cast(min(case when size = 0 then rank else (
        {{ added }}
        {% for one in kept %}
        -- the values that are missing have to fit into the rows that are missing
        + case when bit_count(j{{ one.word }}) + greatest({{ k | lit }} - size - n, 0) < {{ one.l }} then {{ far | lit }} else 0 end
        {% endfor %}

    ) * {{ ranks | lit }} + rank end) % {{ ranks | lit }} as bigint) as rank
    from (
        select
            u.block, u.rank, u.n, g.size
            {% for column in sets %}, u.{{ column.sql }}{% endfor %}
            {% for column in unions %}, {{ column.joined("u.", "g.") }} as j{{ column.sql }}{% endfor %}
            {% for name, expression in steps %}, g.{{ name }}{% endfor %}
            {% for one in kept %}, u.{{ one.word }} | g.{{ one.word }} as j{{ one.word }}{% endfor %}

        from open u
        join growing g on g.block = u.block
    ) j
    group by block
),
joined as (
    select
        u.block, u.rank, g.size + u.n as size, g.left_over - u.n as left_over,
        g.grp + case when g.size = 0 then 1 else 0 end as grp
        {% for one in kept %}, u.{{ one.word }} | g.{{ one.word }} as {{ one.word }}{% endfor %}
        {% for column in columns %}, {{ column.joined("u.", "g.") }} as {{ column.sql }}{% endfor %}

    from best b
    join open u on u.block = b.block and u.rank = b.rank
    join growing g on g.block = b.block
),
picked as (
    select *, size >= {{ k | lit }}{% for one in kept %} and bit_count({{ one.word }}) >= {{ one.l }}{% endfor %} as closes from joined
)
select
    u.unit, u.block, u.n, u.rank, 0, p.grp, u.rank = p.rank, 0
    {% for one in kept %}, u.{{ one.word }}{% endfor %}{% for column in columns %}, u.{{ column.sql }}{% endfor %}

from open u
join picked p on p.block = u.block
where u.rank = p.rank or not p.closes or p.left_over >= {{ k | lit }}
union all
select
    0, block, 0, 0, left_over, grp, false, case when closes then 0 else size end
    {% for one in kept %}, case when closes then 0 else {{ one.word }} end{% endfor %}
    {% for column in columns %}, case when closes then {{ column.empty }} else {{ column.sql }} end{% endfor %}

from picked
where not closes or left_over >= {{ k | lit }}
{% endmacro %}

-- name: _placed
-- The units, with the class of those that moved.
{% macro placed(moved) %}
select
    p.unit, coalesce(m.class_id, p.class_id) as class_id, p.n, p.rarity
    {% for one in kept %}, p.{{ one.word }}{% endfor %}{% for one in signs %}, p.{{ one.sign }}{% endfor %}

    {% for column in columns %}, p.{{ column.sql }}{% endfor %}

from {{ points | ident }} p
left join {{ moved }} m on m.unit = p.unit
{% endmacro %}

-- name: points
-- The units of all classes that lose something (those with more than one unit), with their extents.
create or replace table {{ points | ident }} as
with several as (
    select class_id, count(*) as units from {{ members | ident }} group by class_id having count(*) > 1
)
{% for domain in domain_of %}
, {{ domain.d }} as (
    select code, {{ domain.rarity }} as rarity{% for value, name in domain.lookups %}, {{ value }} as {{ name }}{% endfor %}

    from {{ domain.table | ident }}
)
{% endfor %}
{% for one in kept %}
, values_{{ one.word }} as (
    select unit, bit_or({{ one.bit }}) as {{ one.word }} from {{ one.cells | ident }} where value > 0 group by unit
)
{% endfor %}
{% for one in signs %}
-- equal signs: the same value, as often; several values are like no others
, signed_{{ one.sign }} as (
    select unit, case when count(*) = 1 then cast(min(value) as bigint) * {{ one.counts | lit }} + cast(sum(n) as bigint) else -unit end as {{ one.sign }}
    from {{ one.cells | ident }}
    group by unit
)
{% endfor %}
select
    u.unit, m.class_id, cast(u.n as bigint) as n,
    {{ rarity }} as rarity
    {% for one in kept %}
    , coalesce(values_{{ one.word }}.{{ one.word }}, 0) as {{ one.word }}
    {% endfor %}
    {% for one in signs %}
    , coalesce(signed_{{ one.sign }}.{{ one.sign }}, -u.unit) as {{ one.sign }}
    {% endfor %}
    {% for column in columns %}
    , {{ column.unit }} as {{ column.sql }}
    {% endfor %}
from {{ members | ident }} m
join {{ units | ident }} u on u.unit = m.unit
join several s on s.class_id = m.class_id
{% for domain in domain_of %}
join {{ domain.d }} on {{ domain.d }}.code = u.{{ domain.c }}
{% endfor %}
{% for part in parts %}
{% set p %}p{{ loop.index | lit }}{% endset %}
join {{ part | ident }} {{ p }} on {{ p }}.unit = u.unit
{% endfor %}
{% for one in kept %}
left join values_{{ one.word }} on values_{{ one.word }}.unit = u.unit
{% endfor %}
{% for one in signs %}
left join signed_{{ one.sign }} on signed_{{ one.sign }}.unit = u.unit
{% endfor %}
{% if most is not none %}
where (select coalesce(sum(units), 0) from several) <= {{ most | lit }}
{% endif %}

-- name: points_part
-- What the extents of units need of the domains of some attributes: with very many attributes, one
-- statement does not join all domains.
create or replace table {{ points_part | ident }} as
with several as (
    select class_id, count(*) as units from {{ members | ident }} group by class_id having count(*) > 1
)
{% for domain in domain_of %}
, {{ domain.d }} as (
    select code, {{ domain.rarity }} as rarity{% for value, name in domain.lookups %}, {{ value }} as {{ name }}{% endfor %}

    from {{ domain.table | ident }}
)
{% endfor %}
select
    u.unit, {{ rarity }} as rarity
    {% for column in columns %}
    , {{ column.unit }} as {{ column.sql }}
    {% endfor %}
from {{ members | ident }} m
join {{ units | ident }} u on u.unit = m.unit
join several s on s.class_id = m.class_id
{% for domain in domain_of %}
join {{ domain.d }} on {{ domain.d }}.code = u.{{ domain.c }}
{% endfor %}
{% if most is not none %}
where (select coalesce(sum(units), 0) from several) <= {{ most | lit }}
{% endif %}

-- name: classes
-- The extents of classes and what all their rows lose together.
create or replace table {{ classes | ident }} as
select *, n * cast({{ loss() }} as bigint) as lost
from (
    select
        class_id, cast(sum(n) as bigint) as n, count(*) as units
        {% for one in kept %}, bit_or({{ one.word }}) as {{ one.word }}{% endfor %}

        {% for column in columns %}, {{ column.aggregate }} as {{ column.sql }}{% endfor %}

    from {{ points | ident }}
    group by class_id
) c

-- name: members
-- The units in their final classes.
create or replace table {{ members | ident }} as
select m.unit, coalesce(p.class_id, m.class_id) as class_id
from {{ members | ident }} m
left join {{ points | ident }} p on p.unit = m.unit

-- name: rest
-- Every unit of a near class with its own extent and that of the other units of its class; and for every
-- such class a row without a unit (unit 0, no rows, empty extent), so that a move is a swap with nothing.
create or replace table {{ rest | ident }} as
with pairs as (
    select a as class_id from {{ near | ident }} union select b from {{ near | ident }}
),
others as (
    select
        p.unit, cast(sum(o.n) as bigint) as size
        {% for one in kept %}, bit_or(o.{{ one.word }}) as {{ one.word }}{% endfor %}

        {% for column in columns %}, {{ column.over("o.") }} as {{ column.sql }}{% endfor %}

    from {{ points | ident }} p
    join pairs c on c.class_id = p.class_id
    join {{ points | ident }} o on o.class_id = p.class_id and o.unit <> p.unit
    group by p.unit
)
select *, cast({{ loss("g") }} as bigint) as each
from (
    select
        p.class_id, p.unit, p.n, o.size
        {%- for one in signs %}, p.{{ one.sign }}{% endfor %}

        {% for one in kept %}, p.{{ one.word }}, o.{{ one.word }} as g{{ one.word }}{% endfor %}

        {% for column in columns %}, p.{{ column.sql }}, o.{{ column.sql }} as g{{ column.sql }}{% endfor %}

    from others o
    join {{ points | ident }} p on p.unit = o.unit
    union all
    select
        class_id, 0, 0, n
        {%- for one in signs %}, null{% endfor %}

        {% for one in kept %}, 0, {{ one.word }}{% endfor %}

        {% for column in columns %}, {{ column.empty }}, {{ column.sql }}{% endfor %}

    from {{ classes | ident }}
    where class_id in (select class_id from pairs)
) r

-- name: offers
-- The best swap of every pair of near classes, if it saves something: unit r of class a against
-- unit q of class b, where 0 is none. Offers of pairs that the last swaps did not touch are kept.
create or replace table {{ offers | ident }} as
with changed as (
    select a as class_id from {{ swaps | ident }} union all select b from {{ swaps | ident }}
),
looked_at as (
    select p.a, p.b, x.lost + y.lost as lost
    from {{ near | ident }} p
    join {{ classes | ident }} x on x.class_id = p.a
    join {{ classes | ident }} y on y.class_id = p.b
    where p.a in (select class_id from changed) or p.b in (select class_id from changed)
),
paired as (
    select
        p.a, p.b, r.unit as r, q.unit as q, p.lost,
        r.size + q.n as size_a, q.size + r.n as size_b, q.each as each_b
        {% for column in columns %}, {{ column.joined("r.g", "q.") }} as a{{ column.sql }}, {{ column.joined("q.g", "r.") }} as b{{ column.sql }}{% endfor %}

    from looked_at p
    join {{ rest | ident }} r on r.class_id = p.a
    join {{ rest | ident }} q on q.class_id = p.b
    where r.size + q.n >= {{ k | lit }} and q.size + r.n >= {{ k | lit }}
    -- a class loses at least what its other units lose
    and (r.size + q.n) * r.each + (q.size + r.n) * q.each < p.lost
    {% for one in kept %}
    and bit_count(r.g{{ one.word }} | q.{{ one.word }}) >= {{ one.l }} and bit_count(q.g{{ one.word }} | r.{{ one.word }}) >= {{ one.l }}
    {% endfor %}
    {% for one in signs %}
    and r.{{ one.sign }} = q.{{ one.sign }}
    {% endfor %}
),
half_weighed as (
    select *, lost - size_a * cast({{ loss("a") }} as bigint) as left_over from paired
),
weights as (
    select a, b, r, q, left_over - size_b * cast({{ loss("b") }} as bigint) as gain
    from half_weighed
    where left_over > size_b * each_b
),
ranked as (
    select *, row_number() over (partition by a, b order by gain desc, r, q) as choice
    from weights
    where gain > 0
)
select a, b, r, q, gain from ranked where choice = 1
union all
select a, b, r, q, gain
from {{ offers | ident }}
where a not in (select class_id from changed) and b not in (select class_id from changed)

-- name: swaps
-- The swaps of a round: the best of all that touch one of their two classes, so that each class is in
-- one; then the best of what these leave, twice.
{% macro best(offers) %}
    select o.a, o.b, o.r, o.q, o.gain
    from {{ offers }} o
    join (
        select class_id, min(rank) as rank
        from (select a as class_id, rank from {{ offers }} union all select b, rank from {{ offers }}) t
        group by class_id
    ) x on x.class_id = o.a and x.rank = o.rank
    join (
        select class_id, min(rank) as rank
        from (select a as class_id, rank from {{ offers }} union all select b, rank from {{ offers }}) t
        group by class_id
    ) y on y.class_id = o.b and y.rank = o.rank
{% endmacro %}
{% macro left(offers, taken) %}
    select * from {{ offers }}
    where a not in (select a from {{ taken }} union all select b from {{ taken }})
    and b not in (select a from {{ taken }} union all select b from {{ taken }})
{% endmacro %}
create or replace table {{ swaps | ident }} as
with offers_1 as (
    select *, row_number() over (order by gain desc, a, b) as rank from {{ offers | ident }}
),
taken_1 as (
{{ best("offers_1" | ident) }}
),
offers_2 as (
{{ left("offers_1" | ident, "taken_1" | ident) }}
),
taken_2 as (
{{ best("offers_2" | ident) }}
),
offers_3 as (
{{ left("offers_2" | ident, "taken_2" | ident) }}
),
taken_3 as (
{{ best("offers_3" | ident) }}
)
select a, b, r, q, gain from taken_1
union all
select a, b, r, q, gain from taken_2
union all
select a, b, r, q, gain from taken_3

-- name: swapped
-- The units in their classes after the swaps of a round.
{% from "refine/_placed" import placed with context %}
create or replace table {{ points | ident }} as
with moved as (
    select r as unit, b as class_id from {{ swaps | ident }}
    union all
    select q, a from {{ swaps | ident }}
)
{{ placed("moved" | ident) }}

-- name: near
-- Pairs of near classes: of those that follow a class in some order, the ones that lose least in a
-- union with it.
create or replace table {{ near | ident }} as
with ordered as (
    select
        class_id, row_number() over (order by class_id) as place_0
        {% for order in orders %}
        , row_number() over (order by {{ order }}, class_id) as place_{{ loop.index | lit }}
        {% endfor %}
    from {{ classes | ident }}
    -- every unit of a class is compared with every unit of a near one
    where units <= {{ most_in_class | lit }}
    {% if least is not none %}
    -- nothing is looked for any more once a search has saved too little
    and (select saved * {{ least | lit }} > lost from {{ rounds | ident }})
    {% endif %}
    {% if most_swapped is not none %}
    and (select count(*) from {{ points | ident }}) <= {{ most_swapped | lit }}
    {% endif %}
),
steps as (
    select o.class_id{% for number in range(orders | length + 1) %}, o.place_{{ number | lit }}{% endfor %}, s.step
    from ordered o
    cross join ({% for step in range(1, beside + 1) %}select {{ step | lit }} as step{% if not loop.last %} union all {% endif %}{% endfor %}) s
),
beside as (
    {% for number in range(orders | length + 1) %}
    select x.class_id as a, y.class_id as b
    from steps x
    join ordered y on y.place_{{ number | lit }} = x.place_{{ number | lit }} + x.step
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
joined as (
    select
        p.a, p.b, x.n + y.n as j_size, x.lost + y.lost as lost
        {% for column in columns %}, {{ column.joined("x.", "y.") }} as j{{ column.sql }}{% endfor %}

    from beside p
    join {{ classes | ident }} x on x.class_id = p.a
    join {{ classes | ident }} y on y.class_id = p.b
),
costs as (
    select a, b, j_size * cast({{ loss("j") }} as bigint) - lost as cost from joined
),
ranked as (
    -- a class may follow another one in several orders
    select a, b, dense_rank() over (partition by a order by cost, b) as choice from costs
)
select distinct least(a, b) as a, greatest(a, b) as b from ranked where choice <= {{ nearest | lit }}

-- name: every_class
-- The initial state: as if all classes had swapped units, so that no offers are kept.
create or replace table {{ swaps | ident }} as
select a, b, cast(0 as bigint) as r, cast(0 as bigint) as q, cast(0 as bigint) as gain from {{ near | ident }}

-- name: no_offers
-- The initial state (no offers).
create or replace table {{ offers | ident }} as
select a, b, cast(0 as bigint) as r, cast(0 as bigint) as q, cast(0 as bigint) as gain from {{ near | ident }} where false

-- name: no_rounds
-- The initial state (no round has been made since near classes were looked for).
create or replace table {{ rounds | ident }} as
select 0 as number, cast(0 as bigint) as swaps, cast(0 as bigint) as saved, cast(coalesce(sum(lost), 0) as bigint) as lost
from {{ classes | ident }}

-- name: rounds
-- One more round of swaps, and what it saved.
create or replace table {{ rounds | ident }} as
select r.number + 1 as number, s.swaps, r.saved + s.saved as saved, r.lost
from {{ rounds | ident }} r
cross join (select count(*) as swaps, cast(coalesce(sum(gain), 0) as bigint) as saved from {{ swaps | ident }}) s

-- name: swaps_left
-- Whether another round may save something, and is allowed.
select count(*) from {{ rounds | ident }} where swaps > 0 and number < {{ most_rounds | lit }}

-- name: searches_left
-- Whether what was saved since near classes were looked for is enough to look again, and that is allowed.
select count(*)
from {{ rounds | ident }} r
cross join {{ searches | ident }} s
where r.saved * {{ least | lit }} > r.lost and s.number < {{ most_searches | lit }}

-- name: no_searches
-- The initial state (no search has been made).
create or replace table {{ searches | ident }} as select 0 as number

-- name: searches
-- One more search.
create or replace table {{ searches | ident }} as select number + 1 as number from {{ searches | ident }}

-- name: first_search
-- The initial state: as if a search before the first had saved everything.
create or replace table {{ rounds | ident }} as
select 0 as number, cast(0 as bigint) as swaps, cast(2 as bigint) as saved, cast(1 as bigint) as lost

-- name: groups
-- New classes in every block, all blocks at once: the unit with the rarest values starts a class,
-- which takes the unit that widens it least until it is large enough.
{% from "refine/_grow" import first, next with context %}
create or replace table {{ groups | ident }} as
with recursive grow(unit, block, n, rank, left_over, grp, taken, size{% for one in kept %}, {{ one.word }}{% endfor %}{% for column in columns %}, {{ column.sql }}{% endfor %}) as (
    {{ first() }}
    union all (
        {{ next("grow" | ident) }}
    )
)
select unit, block, grp from grow where taken

-- name: first_grown
-- The units of every block, none of which has a new class yet.
{% from "refine/_grow" import first with context %}
create or replace table {{ grown | ident }} as
{{ first() }}

-- name: grown
-- The new class of every unit that has one.
create or replace table {{ groups | ident }} as
select unit, block, grp from {{ grown | ident }} where taken

-- name: grow
-- One more unit for the class that grows in every block.
{% from "refine/_grow" import next with context %}
create or replace table {{ grown | ident }} as
select * from {{ grown | ident }} where taken
union all (
    {{ next(grown | ident) }}
)

-- name: grow_left
-- Units that may still join a new class.
select count(*) from {{ grown | ident }} where rank > 0 and not taken

-- name: blocks
-- Classes that lie beside each other in the order of the cuts, in blocks of about so many rows.
create or replace table {{ blocks | ident }} as
select
    class_id,
    cast(floor((sum(n) over (order by class_id rows unbounded preceding) - n) / {{ block | lit }}) as bigint) as block
from {{ classes | ident }}

-- name: homes
-- The new class of every unit of a block; units that are left over join the one that widens least.
create or replace table {{ homes | ident }} as
with grown as (
    select
        g.block, g.grp, cast(sum(p.n) as bigint) as size
        {% for one in kept %}, bit_or({{ one.word }}) as {{ one.word }}{% endfor %}

        {% for column in columns %}, {{ column.aggregate }} as {{ column.sql }}{% endfor %}

    from {{ groups | ident }} g
    join {{ points | ident }} p on p.unit = g.unit
    group by g.block, g.grp
),
full_groups as (
    select *, size * cast({{ loss() }} as bigint) as lost
    from grown
    where size >= {{ k | lit }}{% for one in kept %} and bit_count({{ one.word }}) >= {{ one.l }}{% endfor %}

),
placed as (
    select g.unit, g.block, g.grp
    from {{ groups | ident }} g
    join full_groups w on w.block = g.block and w.grp = g.grp
),
left_over as materialized (
    select p.*, b.block
    from {{ points | ident }} p
    join {{ blocks | ident }} b on b.class_id = p.class_id
    where p.unit not in (select unit from placed)
),
offers as (
    select
        p.unit, w.block, w.grp, w.size + p.n as j_size, w.lost
        {% for column in columns %}, {{ column.joined("w.", "p.") }} as j{{ column.sql }}{% endfor %}

    from left_over p
    join full_groups w on w.block = p.block
),
costs as (
    select unit, block, grp, j_size * cast({{ loss("j") }} as bigint) - lost as cost from offers
)
select unit, block, grp from placed
union all
select unit, block, grp
from (
    select unit, block, grp, row_number() over (partition by unit order by cost, grp) as choice from costs
) o
where choice = 1

-- name: better
-- The units of every block in its new classes, where these lose less than the old ones.
create or replace table {{ points | ident }} as
with groups as (
    select
        h.block, h.grp, cast(sum(p.n) as bigint) as size
        {% for column in columns %}, {{ column.aggregate }} as {{ column.sql }}{% endfor %}

    from {{ homes | ident }} h
    join {{ points | ident }} p on p.unit = h.unit
    group by h.block, h.grp
),
new_loss as (
    select block, sum(size * cast({{ loss() }} as bigint)) as lost from groups group by block
),
old_loss as (
    select b.block, sum(c.lost) as lost
    from {{ blocks | ident }} b
    join {{ classes | ident }} c on c.class_id = b.class_id
    group by b.block
),
better as (
    select n.block
    from new_loss n
    join old_loss o on o.block = n.block
    where n.lost < o.lost
),
numbered as (
    select
        h.unit,
        (select max(class_id) from {{ members | ident }}) + dense_rank() over (order by h.block, h.grp) as class_id
    from {{ homes | ident }} h
    join better b on b.block = h.block
)
select
    p.unit, coalesce(h.class_id, p.class_id) as class_id, p.n, p.rarity
    {% for one in kept %}, p.{{ one.word }}{% endfor %}

    {% for column in columns %}, p.{{ column.sql }}{% endfor %}

from {{ points | ident }} p
left join numbered h on h.unit = p.unit

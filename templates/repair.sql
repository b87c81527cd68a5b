-- name: items
-- The units of near classes, of which one holds up to five items: single units, and all others as the
-- last one. Their order does not change, so that offers of classes that did not change stay valid.
create or replace table {{ items | ident }} as
select
    p.unit, p.class_id, p.n
    {% for one in kept %}, p.{{ one.word }}{% endfor %}{% for column in columns %}, p.{{ column.sql }}{% endfor %}
    , cast(least(
        row_number() over (partition by p.class_id order by (p.unit * {{ spread | lit }}) % {{ spread_over | lit }}, p.unit),
        {{ most_items | lit }}
    ) as integer) as item
from {{ points | ident }} p
where p.class_id in (select a from {{ near | ident }} union select b from {{ near | ident }})

-- name: item_sets
-- The extents of all sets of the items of every near class, as bits of a number, and what a row of each
-- loses.
create or replace table {{ item_sets | ident }} as
with wide as (
    select
        class_id
        {% for item in range(1, most_items + 1) %}
        , cast(coalesce(sum(case when item = {{ item | lit }} then n end), 0) as bigint) as n_{{ item | lit }}
        {% for one in kept %}
        , coalesce(bit_or(case when item = {{ item | lit }} then {{ one.word }} end), 0) as {{ one.word }}_{{ item | lit }}
        {% endfor %}
        {% for column in columns %}
        , coalesce({{ column.of_rows("case when item = " ~ item ~ " then " ~ column.name ~ " end") }}, {{ column.absent }}) as {{ column.sql }}_{{ item | lit }}
        {% endfor %}
        {% endfor %}
    from {{ items | ident }}
    group by class_id
),
sets as (
    {% for number in range(sets_of_items) %}
    select cast({{ number | lit }} as bigint) as part
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
sides as (
    select
        w.class_id, s.part
        , {% for item in range(1, most_items + 1) %}w.n_{{ item | lit }} * ((s.part >> {{ (item - 1) | lit }}) & 1){% if not loop.last %} + {% endif %}{% endfor %} as n
        {% for one in kept %}
        , {% for item in range(1, most_items + 1) %}(w.{{ one.word }}_{{ item | lit }} & -((s.part >> {{ (item - 1) | lit }}) & 1)){% if not loop.last %} | {% endif %}{% endfor %} as {{ one.word }}
        {% endfor %}
        {% for column in columns %}
        , {{ column.of_items(most_items) }} as {{ column.sql }}
        {% endfor %}
    from wide w
    cross join sets s
)
select *, case when n = 0 then 0 else cast({{ loss() }} as bigint) end as each
from sides

-- name: divisions
-- The best division of every pair of near classes, if it saves something: the items r of class a stay in
-- it, and the items q of class b join it. Offers of pairs that the last round did not touch are kept.
create or replace table {{ offers | ident }} as
with changed as (
    select a as class_id from {{ swaps | ident }} union all select b from {{ swaps | ident }}
),
unions as (
    select
        p.a, p.b, x.lost + y.lost as lost, x.n + y.n as j_size
        {% for column in columns %}, {{ column.joined("x.", "y.") }} as j{{ column.sql }}{% endfor %}

    from {{ near | ident }} p
    join {{ classes | ident }} x on x.class_id = p.a
    join {{ classes | ident }} y on y.class_id = p.b
    where p.a in (select class_id from changed) or p.b in (select class_id from changed)
),
looked_at as (
    -- where the union loses much more than both, hardly any division gains
    select a, b, lost
    from unions
    where lost > 0 and j_size * cast({{ loss("j") }} as bigint) * 100 <= {{ ratio | lit }} * lost
),
sides as (
    select
        x.class_id, x.part, x.n, x.each, y.n as o_n, y.each as o_each
        {% for one in kept %}, x.{{ one.word }}, y.{{ one.word }} as o{{ one.word }}{% endfor %}

        {% for column in columns %}, x.{{ column.sql }}, y.{{ column.sql }} as o{{ column.sql }}{% endfor %}

    from {{ item_sets | ident }} x
    join {{ item_sets | ident }} y on y.class_id = x.class_id and y.part = {{ (sets_of_items - 1) | lit }} - x.part
),
leaving as (
    -- in a class of few items the others are empty
    select * from sides where bit_count(part) <= {{ most_moved | lit }} and o_n > 0
),
paired as (
    select
        p.a, p.b, x.part as left_part, y.part as q, p.lost,
        x.o_n + y.n as size_a, y.o_n + x.n as size_b, y.o_each as each_b
        {% for column in columns %}, {{ column.joined("x.o", "y.") }} as a{{ column.sql }}, {{ column.joined("y.o", "x.") }} as b{{ column.sql }}{% endfor %}

    from looked_at p
    join leaving x on x.class_id = p.a
    join leaving y on y.class_id = p.b
    where x.o_n + y.n >= {{ k | lit }} and y.o_n + x.n >= {{ k | lit }}
    -- a class loses at least what its parts lose
    and (x.o_n + y.n) * greatest(x.o_each, y.each) + (y.o_n + x.n) * greatest(y.o_each, x.each) < p.lost
    {% for one in kept %}
    and bit_count(x.o{{ one.word }} | y.{{ one.word }}) >= {{ one.l }} and bit_count(y.o{{ one.word }} | x.{{ one.word }}) >= {{ one.l }}
    {% endfor %}
),
half_weighed as (
    select *, lost - size_a * cast({{ loss("a") }} as bigint) as left_over from paired
),
weights as (
    select a, b, {{ (sets_of_items - 1) | lit }} - left_part as r, q, left_over - size_b * cast({{ loss("b") }} as bigint) as gain
    from half_weighed
    where left_over > size_b * each_b
),
ranked as (
    select *, row_number() over (partition by a, b order by gain desc, r, q) as choice
    from weights
    where gain > 0
)
select a, b, cast(r as bigint) as r, cast(q as bigint) as q, gain from ranked where choice = 1
union all
select a, b, r, q, gain
from {{ offers | ident }}
where a not in (select class_id from changed) and b not in (select class_id from changed)

-- name: divided
-- The units in their classes after the divisions of a round.
{% from "refine/_placed" import placed with context %}
create or replace table {{ points | ident }} as
with ends as (
    select a as class_id, a, b, r as part from {{ swaps | ident }}
    union all
    select b, a, b, q from {{ swaps | ident }}
),
moved as (
    select i.unit, case when (e.part >> (i.item - 1)) & 1 = 1 then e.a else e.b end as class_id
    from {{ items | ident }} i
    join ends e on e.class_id = i.class_id
)
{{ placed("moved" | ident) }}

-- name: near_units
-- Pairs of units that agree in nearly all attributes, each with the next ones by another; of these the
-- ones whose common class would lose least.
create or replace table {{ near_units | ident }} as
with coded as (
    select u.unit{% for c in codes %}, u.{{ c }}{% endfor %}

    from {{ units | ident }} u
    where u.unit in (select unit from {{ points | ident }})
    {% if most_divided is not none %}
    and (select count(*) from {{ points | ident }}) <= {{ most_divided | lit }}
    {% endif %}
),
{% for arm in arms %}
placed_{{ loop.index | lit }} as (
    select unit{% for step in range(1, unit_steps + 1) %}, lead(unit, {{ step | lit }}) over w as next_{{ step | lit }}{% endfor %}

    from coded
    window w as ({% if arm.alike %}partition by {{ arm.alike | join(", ") }} {% endif %}order by {{ arm.by }}, unit)
),
{% endfor %}
beside as (
    {% for arm in arms %}
    {% set a = loop.index %}
    {% for step in range(1, unit_steps + 1) %}
    select unit as one, next_{{ step | lit }} as other from placed_{{ a | lit }} where next_{{ step | lit }} is not null
    {% if not (loop.last and a == arms | length) %}
    union all
    {% endif %}
    {% endfor %}
    {% endfor %}
),
pairs as (
    select distinct least(one, other) as one, greatest(one, other) as other from beside
),
joined as (
    select
        p.one, p.other
        {% for column in columns %}, {{ column.joined("x.", "y.") }} as j{{ column.sql }}{% endfor %}

    from pairs p
    join {{ points | ident }} x on x.unit = p.one
    join {{ points | ident }} y on y.unit = p.other
),
costs as (
    select one, other, cast({{ loss("j") }} as bigint) as cost from joined
),
ranked as (
    select
        one, other,
        row_number() over (partition by one order by cost, other) as choice,
        row_number() over (partition by other order by cost, one) as back
    from costs
)
select one, other from ranked where choice <= {{ near_to_unit | lit }} or back <= {{ near_to_unit | lit }}

-- name: near_by_units
-- Pairs of classes with near units.
create or replace table {{ near | ident }} as
select distinct least(x.class_id, y.class_id) as a, greatest(x.class_id, y.class_id) as b
from {{ near_units | ident }} n
join {{ points | ident }} x on x.unit = n.one
join {{ points | ident }} y on y.unit = n.other
where x.class_id <> y.class_id

-- name: births
-- New classes of units that their classes can spare: one unit and the nearest ones to it, where they
-- lose less together than now. A class takes part in one birth, the best of all that it could.
create or replace table {{ births | ident }} as
with spare as (
    select p.unit, p.class_id, p.n, c.n - {{ k | lit }} as room, cast(floor(cast(c.lost as double) / c.n) as bigint) as each
    {% if kept %}
    from (
        select p.*{% for one in kept %}, count(*) over (partition by class_id, {{ one.word }}) as alike_{{ one.word }}{% endfor %}

        from {{ points | ident }} p
    ) p
    {% else %}
    from {{ points | ident }} p
    {% endif %}
    join {{ classes | ident }} c on c.class_id = p.class_id
    where c.n - p.n >= {{ k | lit }}
    {% for one in kept %}
    -- another unit of the class has its values
    and p.alike_{{ one.word }} > 1
    {% endfor %}
),
links as (
    select one as seed, other as unit from {{ near_units | ident }}
    union all
    select other, one from {{ near_units | ident }}
),
around as (
    select
        l.seed, l.unit, y.n, y.room, y.class_id, y.each
        {% for column in columns %}, {{ column.joined("a.", "b.") }} as j{{ column.sql }}{% endfor %}

    from links l
    join spare x on x.unit = l.seed
    join spare y on y.unit = l.unit
    join {{ points | ident }} a on a.unit = l.seed
    join {{ points | ident }} b on b.unit = l.unit
),
costs as (
    select seed, unit, n, room, class_id, each, cast({{ loss("j") }} as bigint) - each as cost from around
    union all
    select unit, unit, n, room, class_id, each, cast({{ -far | lit }} as bigint) from spare
),
spared as (
    select
        *, sum(n) over (partition by seed, class_id order by cost, unit rows unbounded preceding) as taken
        {% if kept %}
        , row_number() over (partition by seed, class_id order by cost, unit) as choice
        {% endif %}
    from costs
),
gathered as (
    select *, sum(n) over (partition by seed order by cost, unit rows unbounded preceding) - n as before
    from spared
    where taken <= room
    {% if kept %}
    -- two units of a class may be the only ones with their values
    and choice = 1
    {% endif %}
),
grown as (
    select
        g.seed, cast(sum(g.n) as bigint) as size, count(distinct g.class_id) as donors, cast(sum(g.n * g.each) as bigint) as now
        {% for column in columns %}, {{ column.over("p.") }} as {{ column.sql }}{% endfor %}

    from gathered g
    join {{ points | ident }} p on p.unit = g.unit
    where g.before < {{ k | lit }}
    group by g.seed
    having sum(g.n) >= {{ k | lit }}
    {% for one in kept %}
    and bit_count(bit_or(p.{{ one.word }})) >= {{ one.l }}
    {% endfor %}
),
offers as (
    select seed, donors, now - size * cast({{ loss() }} as bigint) as gain from grown
),
wanted as (
    select distinct g.class_id, o.seed, o.donors, o.gain
    from offers o
    join gathered g on g.seed = o.seed and g.before < {{ k | lit }}
    where o.gain > 0
),
firsts as (
    select seed, donors, row_number() over (partition by class_id order by gain desc, seed) as choice from wanted
),
made as (
    select seed from firsts where choice = 1 group by seed having count(*) = max(donors)
)
select
    g.unit,
    (select greatest(max(m.class_id), max(p.class_id)) from {{ members | ident }} m left join {{ points | ident }} p on p.unit = m.unit)
    + dense_rank() over (order by g.seed) as class_id
from gathered g
join made m on m.seed = g.seed
where g.before < {{ k | lit }}

-- name: moved
-- The units in their classes after births, or deaths.
{% from "refine/_placed" import placed with context %}
create or replace table {{ points | ident }} as
{{ placed(births | ident) }}

-- name: deaths
-- Classes that are given up: every unit joins the class of a near unit where it adds least, if that
-- costs less than the class loses. A class takes part in one, the best of all that it could.
create or replace table {{ births | ident }} as
with doomed as (
    select p.unit, p.class_id, p.n, c.lost
    from {{ points | ident }} p
    join {{ classes | ident }} c on c.class_id = p.class_id
    where c.lost > 0 and c.n < 2 * {{ k | lit }} and c.units <= {{ most_doomed | lit }}
),
links as (
    select one as unit, other from {{ near_units | ident }}
    union all
    select other, one from {{ near_units | ident }}
),
goals as (
    select distinct d.unit, d.class_id, d.n, d.lost, o.class_id as goal
    from doomed d
    join links l on l.unit = d.unit
    join {{ points | ident }} o on o.unit = l.other
    where o.class_id <> d.class_id
),
joined as (
    select
        g.unit, g.class_id, g.n, g.lost, g.goal, c.n + g.n as size, c.lost as goal_lost
        {% for column in columns %}, {{ column.joined("c.", "p.") }} as j{{ column.sql }}{% endfor %}

    from goals g
    join {{ points | ident }} p on p.unit = g.unit
    join {{ classes | ident }} c on c.class_id = g.goal
),
costs as (
    select unit, class_id, lost, goal, size * cast({{ loss("j") }} as bigint) - goal_lost as cost from joined
),
ranked as (
    select *, row_number() over (partition by unit order by cost, goal) as choice from costs
),
best as (
    select unit, class_id, lost, goal, cost from ranked where choice = 1
),
offers as (
    -- two units in one class would cost more than each by itself
    select b.class_id, max(b.lost) - sum(b.cost) as gain, count(*) as units
    from best b
    group by b.class_id
    having count(distinct b.goal) = count(*)
),
whole as (
    select o.class_id, o.gain, o.units
    from offers o
    join {{ classes | ident }} c on c.class_id = o.class_id and c.units = o.units
    where o.gain > 0
),
wanted as (
    select class_id as taken, class_id, gain, units from whole
    union all
    select b.goal, w.class_id, w.gain, w.units
    from whole w
    join best b on b.class_id = w.class_id
),
firsts as (
    select class_id, units, row_number() over (partition by taken order by gain desc, class_id) as choice from wanted
),
made as (
    select class_id from firsts where choice = 1 group by class_id having count(*) = max(units) + 1
)
select b.unit, b.goal as class_id
from best b
join made m on m.class_id = b.class_id

-- name: boxes
-- The extent of every class: lowest and highest code per attribute, NULLs, size, smallest draw.
-- parameters: attributes: where no NULLs were counted (the guard of codes holds columns to that) every code
-- is a value, and null<i> is false
create or replace table {{ boxes | ident }} as
select
    m.class_id,
    cast(sum(u.n) as bigint) as n,
    min(u.draw) as draw
    {% for a in attributes %}
    {% if a.attribute.nulls or a.flagged %}
    , min(u.{{ a.c }}) filter (where u.{{ a.c }} > 0) as {{ a.lo }}
    , max(u.{{ a.c }}) filter (where u.{{ a.c }} > 0) as {{ a.hi }}
    , bool_or(u.{{ a.c }} = 0) as {{ a.null }}
    {% else %}
    , min(u.{{ a.c }}) as {{ a.lo }}
    , max(u.{{ a.c }}) as {{ a.hi }}
    , false as {{ a.null }}
    {% endif %}
    {% if a.flagged %}
    , bool_or(u.{{ a.c }} = -1) as {{ a.f }}
    {% endif %}
    {% if a.as_bits %}
    , bit_or(case when u.{{ a.c }} > 0 then cast(1 as bigint) << u.{{ a.c }} else 0 end) as {{ a.bits }}
    {% endif %}
    {% endfor %}
from {{ members | ident }} m
join {{ units | ident }} u on u.unit = m.unit
group by m.class_id

-- name: alike
-- The extent of every cell of a column that is published like another one: that of the published rows
-- whose value of the other is in the other's cell. So rows with one cell there have one cell here.
-- parameters: of: the other column, whose cells have the shapes of the next statements; own: this one
create or replace table {{ alike | ident }} as
with pairs as (
    select distinct u.{{ of.c }} as code, u.{{ own.c }} as own
    from {{ members | ident }} m
    join {{ units | ident }} u on u.unit = m.unit
),
extents as (select distinct {{ keys | join(", ") }} from {{ boxes | ident }}),
{% if of.shape == "node" %}
nodes as (
    select e.{{ of.lo }}, e.{{ of.hi }}, l.level, l.node
    from (select distinct {{ of.lo }}, {{ of.hi }} from extents where {{ of.lo }} < {{ of.hi }}) e
    join {{ domain | ident }} dl on dl.code = e.{{ of.lo }}
    join {{ domain | ident }} dh on dh.code = e.{{ of.hi }}
    join {{ hierarchy | ident }} l on l.value = dl.value
    join {{ hierarchy | ident }} h on h.value = dh.value and h.level = l.level and h.node = l.node
    qualify row_number() over (partition by e.{{ of.lo }}, e.{{ of.hi }} order by l.level) = 1
),
{% endif %}
admitted as (
    select {{ prefixed | join(", ") }}, e.{{ of.lo }} as code from extents e where e.{{ of.lo }} = e.{{ of.hi }}
    union all
    select {{ prefixed | join(", ") }}, 0 as code from extents e where e.{{ of.null }}
    union all
    select {{ prefixed | join(", ") }}, d.code
    from extents e
    {% if of.shape == "node" %}
    join nodes n on n.{{ of.lo }} = e.{{ of.lo }} and n.{{ of.hi }} = e.{{ of.hi }}
    join {{ hierarchy | ident }} h on h.level = n.level and h.node = n.node
    join {{ domain | ident }} d on d.value = h.value
    {% elif of.on_grid %}
    join {{ domain | ident }} dl on dl.code = e.{{ of.lo }}
    join {{ domain | ident }} dh on dh.code = e.{{ of.hi }}
    join {{ domain | ident }} d on d.value between dl.first and dh.last
    {% elif of.shape == "range" %}
    join {{ domain | ident }} d on d.code between e.{{ of.lo }} and e.{{ of.hi }}
    {% elif of.whole %}
    join {{ domain | ident }} d on d.code > 0
    {% elif of.as_bits %}
    join {{ domain | ident }} d on d.code > 0 and (e.{{ of.bits }} >> d.code) & 1 = 1
    {% else %}
    join {{ members | ident }} m on m.class_id = e.class_id
    join {{ units | ident }} u on u.unit = m.unit
    join {{ domain | ident }} d on d.code = u.{{ of.c }}
    {% endif %}
    where e.{{ of.lo }} < e.{{ of.hi }}
)
select
    {{ keys_of_a | join(", ") }},
    min(p.own) filter (where p.own > 0) as {{ own.lo }},
    max(p.own) filter (where p.own > 0) as {{ own.hi }},
    bool_or(p.own = 0) as {{ own.null }}
    {% if own.as_bits %}
    , bit_or(case when p.own > 0 then cast(1 as bigint) << p.own else 0 end) as {{ own.bits }}
    {% endif %}
from admitted a
join pairs p on p.code = a.code
group by {{ keys_of_a | join(", ") }}

-- name: with_alike
-- The extents of classes, in the columns that are published like others those of the others' cells.
create or replace table {{ boxes | ident }} as
select
    b.class_id,
    b.n,
    b.draw
    {% for a in attributes %}
    {% set of %}{% if a.attribute.like %}w{{ a.index | lit }}{% else %}b{% endif %}{% endset %}
    , {{ of }}.{{ a.lo }}
    , {{ of }}.{{ a.hi }}
    , {{ of }}.{{ a.null }}
    {% if a.flagged %}
    , b.{{ a.f }}
    {% endif %}
    {% if a.as_bits %}
    , {{ of }}.{{ a.bits }}
    {% endif %}
    {% endfor %}
from {{ apart | ident }} b
{% for own, table, keys in alike %}
join {{ table | ident }} w{{ own.index | lit }} on {% for key in keys %}w{{ own.index | lit }}.{{ key }} is not distinct from b.{{ key }}{% if not loop.last %} and {% endif %}{% endfor %}

{% endfor %}

-- name: sets
-- The sets that classes with more than one value publish for one categorical attribute, keyed by
-- their bits if the domain is small, otherwise by class. The set of all published values is `*`.
{% set key %}{% if attribute.as_bits %}bits{% else %}class_id{% endif %}{% endset %}
create or replace table {{ sets | ident }} as
with pairs as (
    {% if attribute.as_bits %}
    select f.bits, d.code
    from (select distinct {{ attribute.bits }} as bits from {{ boxes | ident }} where {{ attribute.lo }} < {{ attribute.hi }}) f
    join {{ domain | ident }} d on d.code > 0 and (f.bits >> d.code) & 1 = 1
    {% else %}
    select distinct m.class_id, u.{{ attribute.c }} as code
    from {{ members | ident }} m
    join {{ units | ident }} u on u.unit = m.unit
    join {{ boxes | ident }} b on b.class_id = m.class_id
    where b.{{ attribute.lo }} < b.{{ attribute.hi }} and u.{{ attribute.c }} > 0
    {% endif %}
)
select
    p.{{ key }},
    count(*) as size,
    {% if attribute.whole %}
    {% if typed %}
    (select list(value order by value) from {{ domain | ident }} where code > 0) as cell
    {% else %}
    '*' as cell
    {% endif %}
    {% elif typed %}
    list(d.value order by d.value) as cell
    {% else %}
    case when count(*) = (
        {%- if present is not none %}select count(*) from {{ present | ident }} where code > 0
        {%- else %}select bit_count(bit_or({{ attribute.bits }})) from {{ boxes | ident }}{% endif %}) then '*'
        else '{' || string_agg(d.label, ', ' order by cast(d.value as varchar)) || '}' end as cell
    {% endif %}
from pairs p
join {{ domain | ident }} d on d.code = p.code
group by p.{{ key }}

-- name: labels
-- For every extent that occurs, the lowest node of the hierarchy that covers it, and its published
-- form.
create or replace table {{ labels | ident }} as
with extents as (
    select distinct {{ attribute.lo }} as low, {{ attribute.hi }} as high
    from {{ boxes | ident }}
    where {{ attribute.lo }} < {{ attribute.hi }}
),
shared as (
    select e.low, e.high, l.level, l.node
    from extents e
    join {{ domain | ident }} dl on dl.code = e.low
    join {{ domain | ident }} dh on dh.code = e.high
    join {{ hierarchy | ident }} l on l.value = dl.value
    join {{ hierarchy | ident }} h on h.value = dh.value and h.level = l.level and h.node = l.node
    qualify row_number() over (partition by e.low, e.high order by l.level) = 1
)
select l.low, l.high, s.label as cell
from shared l
join {{ shown | ident }} s on s.level = l.level and s.node = l.node

-- name: cells
-- The published cells of every class, one column each, and its number in secret-keyed order.
create or replace table {{ cells | ident }} as
with numbers as (
    select class_id, row_number() over (order by {{ class_draw }}, class_id) as number
    from {{ boxes | ident }}
)
select
    b.class_id,
    o.number,
    b.n
    {% for name, expression in columns %}
    , {{ expression }} as {{ name }}
    {% endfor %}
from {{ boxes | ident }} b
join numbers o on o.class_id = b.class_id
{% for a in attributes %}
left join {{ a.domain | ident }} {{ a.low }} on {{ a.low }}.code = b.{{ a.lo }}
{% if a.shape == "range" %}
left join {{ a.domain | ident }} {{ a.high }} on {{ a.high }}.code = b.{{ a.hi }}
{% elif a.shape == "set" %}
left join {{ a.sets | ident }} {{ a.chosen }} on {% if a.as_bits %}{{ a.chosen }}.bits = b.{{ a.bits }}{% else %}{{ a.chosen }}.class_id = b.class_id{% endif %}

{% elif a.shape == "node" %}
left join {{ a.labels | ident }} {{ a.chosen }} on {{ a.chosen }}.low = b.{{ a.lo }} and {{ a.chosen }}.high = b.{{ a.hi }}
{% endif %}
{% endfor %}

-- name: joined
-- The published cells of every class, joined from the parts that were written one by one.
create or replace table {{ cells | ident }} as
select
    p1.class_id,
    p1.number,
    p1.n
    {% for name in names %}
    , {{ name }}
    {% endfor %}
from {{ parts[0] | ident }} p1
{% for part in parts[1:] %}
{% set p %}p{{ (loop.index + 1) | lit }}{% endset %}
join {{ part | ident }} {{ p }} on {{ p }}.class_id = p1.class_id
{% endfor %}

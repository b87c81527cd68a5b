-- name: screen
-- The totals over the classes of every node of the batch, and whether a node is worth a closer
-- look: the classes below the minimum size hold no more than may be suppressed.
create or replace table {{ screened | ident }} as
with classes as (
    select b.number{% for word in words %}, t.{{ word.w }} & b.{{ word.m }} as {{ word.g }}{% endfor %}, cast(sum(t.n) as bigint) as n{% if persons %}, cast(sum(t.records) as bigint) as records{% endif %}

    from {{ tuples | ident }} t
    cross join {{ batch | ident }} b
    group by b.number{% for word in words %}, t.{{ word.w }} & b.{{ word.m }}{% endfor %}

),
counts as (
    select
        number,
        count(*) as classes,
        min(n) as smallest,
        cast(coalesce(sum(n) filter (where n < {{ k | lit }}), 0) as bigint) as small,
        cast(sum(cast({{ records }} as hugeint) * {{ records }}) as hugeint) as squares
    from classes
    group by number
)
select b.*, c.classes, c.smallest, c.small, c.squares, c.small <= l.allowed as kept
from {{ batch | ident }} b
join counts c on c.number = b.number
cross join {{ limits | ident }} l

-- name: classes
-- The classes of the nodes that passed the screen; those that are too small are not published.
create or replace table {{ classes | ident }} as
with groups as (
    select
        s.number
        {% for word in words %}
        , t.{{ word.w }} & s.{{ word.m }} as {{ word.g }}
        {% endfor %}
        , cast(sum(t.n) as bigint) as n
        , cast(sum(t.records) as bigint) as records
        , min(t.unit) as unit
    from {{ tuples | ident }} t
    cross join (select * from {{ screened | ident }} where kept) s
    group by s.number{% for word in words %}, t.{{ word.w }} & s.{{ word.m }}{% endfor %}

)
select *, row_number() over () as class_id, n >= {{ k | lit }} as published
from groups

-- name: histogram
-- How often each value of one sensitive column occurs in each class that is large enough.
create or replace table {{ histogram | ident }} as
with groups as (
    select
        s.number
        {% for word in words %}
        , t.{{ word.w }} & s.{{ word.m }} as {{ word.g }}
        {% endfor %}
        , v.value
        , cast(sum(v.n) as bigint) as n
    from {{ tuples | ident }} t
    join {{ cells | ident }} v on v.unit = t.unit
    cross join (select * from {{ screened | ident }} where kept) s
    group by s.number{% for word in words %}, t.{{ word.w }} & s.{{ word.m }}{% endfor %}, v.value
)
select g.number, c.class_id, g.value, g.n
from groups g
join {{ classes | ident }} c on c.number = g.number{% for word in words %} and c.{{ word.g }} = g.{{ word.g }}{% endfor %}

where c.published

-- name: failing
-- Published classes that break a rule of a sensitive column. A rule that compares a class with the
-- table uses, as the table, the classes of the same node that are published so far.
create or replace table {{ failing | ident }} as
with alive as (
    select number, class_id from {{ classes | ident }} where published
),
{% for p in protections %}
present_{{ p.number }} as (
    select h.number, h.class_id, h.value, h.n
    from {{ p.histogram | ident }} h
    join alive a on a.class_id = h.class_id
),
counted_{{ p.number }} as (
    select number, value, cast(sum(n) as bigint) as q
    from present_{{ p.number }}
    group by number, value
),
reference_{{ p.number }} as (
    select
        c.number,
        c.value,
        c.q,
        cast(coalesce(sum(c.q) filter (where c.value > 0) over node, 0) as bigint) as q_known,
        cast(sum(c.q) over node as bigint) as q_size,
        cast(count(*) filter (where c.value > 0) over node as integer) as m
        {% for level in p.levels %}
        , f.{{ level.a }}
        {% endfor %}
    from counted_{{ p.number }} c
    {% if p.levels %}
    join {{ p.reference | ident }} f on f.value = c.value
    {% endif %}
    window node as (partition by c.number)
),
layer_{{ p.number }}_0 as (
    {% if p.dense %}
    select a.class_id, coalesce(h.n, 0) as n, r.value, r.q, r.q_known, r.q_size, r.m{% for level in p.levels %}, r.{{ level.a }}{% endfor %}

    from alive a
    join reference_{{ p.number }} r on r.number = a.number
    left join present_{{ p.number }} h on h.class_id = a.class_id and h.value = r.value
    {% else %}
    select h.class_id, h.n, r.value, r.q, r.q_known, r.q_size, r.m{% for level in p.levels %}, r.{{ level.a }}{% endfor %}

    from present_{{ p.number }} h
    join reference_{{ p.number }} r on r.number = h.number and r.value = h.value
    {% endif %}
),
{% for layer in p.layers %}
layer_{{ p.number }}_{{ loop.index | lit }} as (
    select *{% for name, expression in layer %}, {{ expression }} as {{ name | ident }}{% endfor %}

    from layer_{{ p.number }}_{{ loop.index0 | lit }}
),
{% endfor %}
failing_{{ p.number }} as (
    select class_id
    from layer_{{ p.number }}_{{ p.layers | length | lit }}
    group by class_id
    having not ({{ p.holds }})
){% if not loop.last %},{% endif %}

{% endfor %}
{% for p in protections %}
select class_id from failing_{{ p.number }}
{% if not loop.last %}
union
{% endif %}
{% endfor %}

-- name: suppress
-- Failing classes are not published. Nodes that would have to suppress more than is allowed are
-- given up: none of their classes is published.
create or replace table {{ classes | ident }} as
with marked as (
    select c.number{% for word in words %}, c.{{ word.g }}{% endfor %}, c.n, c.records, c.unit, c.class_id, c.published and f.class_id is null as published
    from {{ classes | ident }} c
    left join {{ failing | ident }} f on f.class_id = c.class_id
),
spent as (
    select number, coalesce(sum(n) filter (where not published), 0) as suppressed
    from marked
    group by number
)
select m.number{% for word in words %}, m.{{ word.g }}{% endfor %}, m.n, m.records, m.unit, m.class_id, m.published and s.suppressed <= l.allowed as published
from marked m
join spent s on s.number = m.number
cross join {{ limits | ident }} l

-- name: still_failing
-- Whether any classes were suppressed in nodes that can still hold, which changes what their other
-- classes are compared with.
select count(*)
from {{ failing | ident }} f
join {{ classes | ident }} c on c.class_id = f.class_id
where c.number in (select number from {{ classes | ident }} where published)

-- name: verdicts
-- The result of every node of the batch: whether it holds, and its loss with its suppressed rows, each of
-- which costs a whole cell per column.
create or replace table {{ verdicts | ident }} as
with kept as (
    select
        number,
        count(*) filter (where published) as classes,
        cast(coalesce(sum(n) filter (where not published), 0) as bigint) as suppressed,
        cast(coalesce(sum(records) filter (where not published), 0) as bigint) as suppressed_rows,
        cast(coalesce(sum(cast(records as hugeint) * records) filter (where published), 0) as hugeint) as squares
    from {{ classes | ident }}
    group by number
),
holding as (
    select k.*
    from kept k
    cross join {{ limits | ident }} l
    where k.classes > 0 and k.suppressed <= l.allowed
),
-- with codes and levels side by side, every join below keeps the number of rows
gone as materialized (
    select
        c.number,
        c.records
        {% for a in attributes %}
        , t.{{ a.c }}
        , v.{{ a.level }}
        {% endfor %}
    from {{ classes | ident }} c
    join holding h on h.number = c.number
    join {{ nodes | ident }} v on v.number = c.number
    join {{ tuples | ident }} t on t.unit = c.unit
    where not c.published
),
spared as (
    select
        g.number
        {% for measure in ("ncp", "glm", "distortion") %}
        , cast(sum(cast(g.records as hugeint) * ({% for a in attributes %}{{ a.r }}.{{ measure | ident }}{% if not loop.last %} + {% endif %}{% endfor %})) as hugeint) as {{ measure | ident }}
        {% endfor %}
    from gone g
    -- every code has its losses, so left joins drop no row; they keep this join order, which saves the search for the best
    {% for a in attributes %}
    left join {{ a.recoding | ident }} {{ a.r }} on {{ a.r }}.code = g.{{ a.c }} and {{ a.r }}.level = g.{{ a.level }}
    {% endfor %}
    group by g.number
),
lost as (
    select
        h.*
        {% for measure, row_loss in penalties %}
        , v.{{ measure }} - coalesce(s.{{ measure }}, 0) + cast(h.suppressed_rows as hugeint) * {{ row_loss }} as {{ measure }}
        {% endfor %}
        , h.squares + cast(h.suppressed_rows as hugeint) * (l.records - l.left_out) as c_dm
    from holding h
    join {{ nodes | ident }} v on v.number = h.number
    left join spared s on s.number = h.number
    cross join {{ limits | ident }} l
)
select
    s.number,
    s.guide,
    {% for word in words %}
    s.{{ word.m }},
    {% endfor %}
    s.smallest,
    s.classes,
    s.small,
    s.squares,
    x.suppressed,
    x.suppressed_rows,
    x.ncp,
    x.glm,
    x.distortion,
    x.c_dm,
    x.{{ optimum | ident }} as loss,
    x.number is not null as holds,
    {% if monotone %}
    x.number is null as decides
    {% else %}
    -- if rows may be suppressed, any other rule can hold for a finer node and yet fail here
    x.number is null and (s.small > l.allowed or l.allowed = 0) as decides
    {% endif %}
from {{ screened | ident }} s
left join lost x on x.number = s.number
cross join {{ limits | ident }} l

-- name: add_evaluations
-- Keep the verdicts of this round.
insert into {{ evaluations | ident }}
select number, guide, smallest, classes, small, squares, suppressed, suppressed_rows, {{ measures | join }}, c_dm, loss, holds
from {{ verdicts | ident }}

-- name: _leaning
-- The common table expressions that end in `leaning`: how much more the first group of a class would
-- lose by taking a unit than the second. What a group loses is its rows times the NCP of its box, as
-- a whole number, so that nothing depends on the order of addition. The caller says which units.
{% macro leaning() -%}
boxes as (
    select *, {{ loss }} as loss
    from (
        select *{% for name, size in sizes %}, {{ size }} as {{ name }}{% endfor %}

        from (
            select
                class_id, is_left, cast(sum(n) as bigint) as n,
                cast(sum(count(*)) over (partition by class_id) as bigint) as units
                {% for s in spans %}
                , {{ s.over }} as {{ s.name }}
                {% endfor %}
            from {{ dealt | ident }}
            where is_left is not null
            group by class_id, is_left
        )
    )
),
grown as (
    select
        x.unit, x.class_id, x.rank, x.n, b.is_left, b.units, b.n as before, b.loss as loss_before
        {% for s in spans %}
        , {{ s.widened }} as {{ s.name }}
        {% endfor %}
    from boxes b
    join {{ dealt | ident }} x on x.class_id = b.class_id
    {{ caller() }}
),
leaning as (
    select
        class_id, unit, min(rank) as rank, min(n) as n, min(units) as units,
        cast(sum(case when is_left then growth else -growth end) as bigint) as lean
    from (
        select *, (before + n) * {{ loss }} - before * loss_before as growth
        from (
            select *{% for name, size in sizes %}, {{ size }} as {{ name }}{% endfor %}

            from grown
        )
    )
    group by class_id, unit
),
{% endmacro %}

-- name: many_units
-- There are more distinct tuples than an algorithm of one statement each is for.
select count(*) as units from {{ units | ident }} having count(*) > {{ most | lit }}

-- name: points
-- Every unit as a point: its place per ordered attribute, its ancestors per hierarchy, its values as
-- bits. Its rank is its place in its class in the order of the draws.
create or replace table {{ open | ident }} as
select
    u.unit, u.class_id, row_number() over (partition by u.class_id order by u.draw, u.unit) as rank, u.n, u.draw, 0 as attempt
    {% for p in points %}
    , u.{{ p.c }}
    {% for expression, name in p.columns %}
    , {{ expression }} as {{ name }}
    {% endfor %}
    {% endfor %}
    {% for name, expression in words %}
    , {{ expression }} as {{ name }}
    {% endfor %}
from (select *, {{ first_class }} as class_id from {{ units | ident }}) u
{% for p in points %}
left join {{ p.domain | ident }} {{ p.d }} on {{ p.d }}.code = u.{{ p.c }}
{% endfor %}

-- name: choose_seeds
-- Two units far from each other in every class that can still be divided: from a drawn unit go to the
-- farthest, and from there again. Where that pair split off fewer than k rows, later attempts take
-- another drawn unit and the one farthest from it, which is less extreme.
-- source: Xu et al. 2006, top-down algorithm; LGB Algorithm 4
create or replace table {{ seeds | ident }} as
with sizes as (
    select class_id, count(*) as units, max(attempt) as attempt
    from {{ open | ident }}
    group by class_id
    having sum(n) >= {{ (2 * k) | lit }} and count(*) > 1
),
start as (
    select s.class_id, s.units, s.attempt, o.unit
    from {{ open | ident }} o
    join sizes s on s.class_id = o.class_id and o.rank = 1 + s.attempt % s.units
),
{% for before, name in scans %}
{{ name }} as (
    select class_id, units, attempt, unit{% if literal %}, apart{% endif %}

    from (
        select x.class_id, f.units, f.attempt, x.unit, x.n as rows{% if literal %}, {{ distance }} as apart{% endif %}, cast(sum(x.n) over (
            partition by x.class_id order by {{ distance }} desc, x.rank
            rows between unbounded preceding and current row
        ) as bigint) as reached
        from {{ open | ident }} x
        join {{ before }} f on f.class_id = x.class_id
        join {{ open | ident }} y on y.unit = f.unit
        {% if not loop.first %}
        where f.attempt = 0
        {% endif %}
    )
    where reached >= {{ farthest | lit }} and reached - rows < {{ farthest | lit }}
),
{% endfor %}
{% if literal %}
-- three rounds of both; a round that does not raise the distance ends them
rounds as (
    {% for (_, other), (_, name) in rounds %}
    select a.class_id, {{ loop.index | lit }} as round, a.unit as first, b.unit as second, a.apart
    from {{ name }} a
    join {{ other }} b on b.class_id = a.class_id
    {% if not loop.last %}union all{% endif %}

    {% endfor %}
),
pairs as (
    select class_id, first, second
    from (select *, row_number() over (partition by class_id order by apart desc, round) as choice from rounds)
    where choice = 1 and apart > 0
)
{% else %}
pairs as (
    select a.class_id, a.unit as first, b.unit as second
    from far_1 a
    join far_2 b on b.class_id = a.class_id
    union all
    select a.class_id, a.unit, b.unit
    from start a
    join far_1 b on b.class_id = a.class_id
    where a.attempt > 0
)
{% endif %}
select class_id, first, second from pairs where first <> second

-- name: seeded
-- The units of every class that is divided, of which only the seeds are in a group.
create or replace table {{ dealt | ident }} as
select
    o.unit, o.class_id, o.rank, o.n
    {% for name in boxed %}
    , o.{{ name }}
    {% endfor %}
    , case when o.unit = s.first then true when o.unit = s.second then false end as is_left
from {{ open | ident }} o
join {{ seeds | ident }} s on s.class_id = o.class_id

-- name: grow
-- The groups of every class take further units, each the group whose loss it increases less: of the
-- next units those for which the choice is clearest, as many as the groups already have, later
-- several times as many.
{% from "lgb/_leaning" import leaning with context %}
{% set batch %}{% if literal %}1{% else %}units * case when units < {{ early | lit }} then 1 else {{ late | lit }} end{% endif %}{% endset %}
create or replace table {{ dealt | ident }} as
with {% call leaning() %}
{% if literal %}
where x.is_left is null and x.rank <= b.units + 1
{% else %}
where x.is_left is null and x.rank <= b.units + {{ choice | lit }} * b.{{ batch }}
{% endif %}
{%- endcall %}
clearest as (
    select unit, lean <= 0 as is_left
    from (
        select *, row_number() over (partition by class_id order by {% if not literal %}abs(lean) desc, {% endif %}rank) as place
        from leaning
    )
    where place <= {{ batch }}
)
select
    x.unit, x.class_id, x.rank, x.n
    {% for name in boxed %}
    , x.{{ name }}
    {% endfor %}
    , coalesce(x.is_left, c.is_left) as is_left
from {{ dealt | ident }} x
left join clearest c on c.unit = x.unit

-- name: ungrouped
-- How many units of classes that are divided are in no group yet.
select count(*) from {{ dealt | ident }} where is_left is null

-- name: divide
-- Classes are divided into their two groups if both have k rows. If the cut may move, units are in
-- one order: those of the first group before those of the second, each by how it leans.
{% from "lgb/_leaning" import leaning with context %}
create or replace table {{ sides | ident }} as
{% if rebalance %}
with {% call leaning() %}{% endcall %}

lined as (
    select
        l.class_id, l.unit, l.n,
        cast(sum(l.n) over line as bigint) as n_left,
        cast(sum(l.n) over (partition by l.class_id) as bigint) as n_all,
        cast(sum(case when d.is_left then l.n else 0 end) over (partition by l.class_id) as bigint) as n_near,
        row_number() over line as place
    from leaning l
    join {{ dealt | ident }} d on d.unit = l.unit
    window line as (
        partition by l.class_id order by case when d.is_left then 0 else 1 end, l.lean, l.unit
        rows between unbounded preceding and current row
    )
),
cuts as (
    select class_id, place as cut
    from (
        select class_id, place, row_number() over (partition by class_id order by abs(n_left - n_near), place) as choice
        from lined
        where n_left >= {{ k | lit }} and n_all - n_left >= {{ k | lit }}
    )
    where choice = 1
)
select l.unit, l.class_id, l.place <= c.cut as is_left, c.cut as units_left
from lined l
join cuts c on c.class_id = l.class_id
{% else %}
with sizes as (
    select class_id, count(case when is_left then 1 end) as units_left
    from {{ dealt | ident }}
    group by class_id
    having sum(case when is_left then n else 0 end) >= {{ k | lit }} and sum(case when is_left then 0 else n end) >= {{ k | lit }}
)
select d.unit, d.class_id, d.is_left, s.units_left
from {{ dealt | ident }} d
join sizes s on s.class_id = d.class_id
{% endif %}

-- name: close_undivided
-- Classes too small to divide, or not divided at the last attempt, are final.
insert into {{ members | ident }}
select o.unit, o.class_id
from {{ open | ident }} o
where o.class_id not in (select class_id from {{ seeds | ident }})
    or (o.attempt >= {{ attempts | lit }} and o.class_id not in (select class_id from {{ sides | ident }}))

-- name: apply_division
-- The units of every divided class move to their group's class; classes that failed may try again.
create or replace table {{ open | ident }} as
select *, row_number() over (partition by class_id order by draw, unit) as rank
from (
    select
        o.unit,
        case when s.unit is null or s.is_left then o.class_id else o.class_id + s.units_left end as class_id,
        o.n,
        o.draw,
        case when s.unit is null then o.attempt + 1 else 0 end as attempt
        {% for name in state %}
        , o.{{ name }}
        {% endfor %}
    from {{ open | ident }} o
    left join {{ sides | ident }} s on s.unit = o.unit
    where s.unit is not null
        or (o.class_id in (select class_id from {{ seeds | ident }}) and o.attempt < {{ attempts | lit }})
)

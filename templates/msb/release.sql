-- name: guard_levels
-- Values of the data that are in two levels, or in none.
select twice, without
from (
    select
        count(*) filter (where listed > 1) as twice,
        {% if unlisted %}
        count(*) filter (where listed = 0 and code > 0) as without
        {% else %}
        0 as without
        {% endif %}
    from {{ values | ident }}
)
where twice > 0 or without > 0

-- name: guard_diversity
-- A column that cannot be diverse: the shares of 1/l of its values do not add up to a whole group,
-- or a value is so frequent that more rows would have to be suppressed than is allowed. After x of
-- its c rows are suppressed, a value fits into the rest if (c - x) l <= n - x.
with known as (select * from {{ values | ident }} where code > 0),
amounts as (
    select
        cast(coalesce(sum({{ unit | lit }} // need), 0) as bigint) as shares,
        count(*) as different,
        cast(coalesce(sum(n), 0) as bigint) as known
    from known
),
frequent as (
    select
        k.need,
        k.n,
        case
            when k.need > 1 and k.n * k.need > a.known then least(k.n, (k.n * k.need - a.known + k.need - 2) // (k.need - 1))
            else 0
        end as over
    from known k
    cross join amounts a
    qualify row_number() over (order by over desc, k.need, k.n desc, k.code) = 1
),
total as (select cast(sum(n) as bigint) as records from {{ values | ident }})
select a.shares < {{ unit | lit }} as poor, a.different, f.need, f.n, a.known, f.over
from amounts a
cross join total t
left join frequent f on true
where a.shares < {{ unit | lit }} or f.over > {{ allowed }} * t.records

-- name: guard_rows
-- No bucket of complete records can begin a group of as many records as it needs.
select coalesce(min(target), {{ least | lit }}) as least, coalesce(cast(sum(n) as bigint), 0) as records
from {{ buckets | ident }}
where complete
having count(*) = 0 or min(target) > sum(n)

-- name: rows
-- The view's rows: exact quasi-identifiers and the group, shuffled by their draw.
create or replace table {{ release | ident }} as
select
    {% for expression, name in columns %}
    {{ expression }} as {{ name }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ coded | ident }} r
{% for a in attributes %}
join {{ a.domain | ident }} {{ a.d }} on {{ a.d }}.code = r.{{ a.c }}
{% endfor %}
{% if cells %}
cross join lateral (select {% for name, expression in cells %}{{ expression }} as {{ name }}{% if not loop.last %}, {% endif %}{% endfor %}) c
{% endif %}
{% if persons %}
join {{ persons | ident }} p on p.person = r.person
{% endif %}
{% if ordered %}
order by r.draw
{% endif %}

-- name: records
-- One row of every person, the first in drawn order: its values are those of all rows of the person.
create or replace table {{ records | ident }} as
select r.*
from {{ coded | ident }} r
join (select min(draw) as draw from {{ coded | ident }} group by person) f on f.draw = r.draw

-- name: person_rows
-- All rows of the persons who are in groups, under the number of their group.
create or replace table {{ coded | ident }} as
select r.*, g.group_number
from {{ coded | ident }} r
join {{ records | ident }} g on g.person = r.person

-- name: guard_persons
-- Persons whose rows differ in one sensitive column.
select count(*) as persons
from (
    select person
    from {{ coded | ident }}
    group by person
    having min({{ column }}) <> max({{ column }}) or count({{ column }}) not in (0, count(*))
)
having count(*) > 0

-- name: separate
-- One sensitive column with the number of the group, in an order drawn for this column alone:
-- neither the order of the view nor that of another column reveals which value belongs to which
-- row.
create or replace table {{ release | ident }} as
select group_number as {{ group | ident }}, {{ value }} as {{ name | ident }}
from {{ coded | ident }}
order by {{ draw }}

-- name: query_source
-- The source as codes, with the value that queries sum (1 where they count).
create or replace table {{ source | ident }} as
select
    {% for a in attributes %}
    d{{ a.index | lit }}.code as c{{ a.index | lit }},
    {% endfor %}
    {% if summed is none %}cast(1 as double){% else %}cast(o.{{ summed | ident }} as double){% endif %} as v
    {%- if person is not none %},
    o.{{ person | ident }} as u
    {%- endif %}

from {{ original | ident }} o
{% for a in attributes %}
left join {{ a.domain | ident }} d{{ a.index | lit }} on d{{ a.index | lit }}.value = cast(o.{{ a.physical | ident }} as {{ a.type }})
{% endfor %}

-- name: query_rows
-- The release with its cells numbered: equal generalized cells, and cells of one bucket, have
-- one number.
create or replace table {{ rows | ident }} as
with cells as (
    select
        {% for a in attributes %}
        {% for part, name in a.parts %}
        {% if a.column.bucket is not none %}
        case when {{ a.column.bucket | ident }} is null then {{ name | ident }} end as {{ part }}{{ a.index | lit }},
        {% else %}
        {{ name | ident }} as {{ part }}{{ a.index | lit }},
        {% endif %}
        {% endfor %}
        {% if a.column.bucket is not none %}{{ a.column.bucket | ident }}{% else %}cast(null as bigint){% endif %} as bucket{{ a.index | lit }},
        {% endfor %}
        {% for name in carried %}
        {{ name | ident }} as e{{ loop.index | lit }},
        {% endfor %}
        {% if group %}{{ group | ident }}{% else %}cast(0 as bigint){% endif %} as b,
        {% if summed is none %}cast(1 as double){% else %}cast({{ summed | ident }} as double){% endif %} as v
    from {{ data | ident }}
)
select
    *
    {% for a in attributes %}
    , dense_rank() over (order by bucket{{ a.index | lit }}{% for part, name in a.parts %}, {{ part }}{{ a.index | lit }}{% endfor %}) as k{{ a.index | lit }}
    {% endfor %}
from cells

-- name: query_help
-- The help table of every bucket (Zhang et al. 2007): sums of its h smallest and h largest values for
-- every h, NULL counting as 0, and how many are below and above 0.
create or replace table {{ help | ident }} as
with ranked as (
    select
        b,
        coalesce(v, 0) as v,
        row_number() over (partition by b order by coalesce(v, 0)) as up,
        sum(coalesce(v, 0)) over (partition by b order by coalesce(v, 0) rows unbounded preceding) as low_sum,
        row_number() over (partition by b order by coalesce(v, 0) desc) as down,
        sum(coalesce(v, 0)) over (partition by b order by coalesce(v, 0) desc rows unbounded preceding) as high_sum
    from {{ rows | ident }}
    where b is not null
)
select
    b,
    count(*) filter (where v < 0) as negative,
    count(*) filter (where v > 0) as positive,
    list_prepend(cast(0 as double), list(low_sum order by up)) as lows,
    list_prepend(cast(0 as double), list(high_sum order by down)) as ups
from ranked
group by b

-- name: query_domain
-- The values of one column that queries are drawn from and cells may stand for, as codes: values of
-- the source first, in order, then leaves of the hierarchy that the source lacks. Places are
-- numbers, dates in days.
create or replace table {{ domain | ident }} as
with listed as (
    select cast({{ physical | ident }} as {{ type }}) as value, true as drawn from {{ original | ident }}
    {% if nodes is not none %}
    union all
    select try_cast(value as {{ type }}), false from {{ nodes | ident }}
    {% endif %}
),
known as (select value, bool_or(drawn) as drawn from listed where value is not null group by value)
select
    cast(row_number() over (order by not drawn, value) as integer) as code,
    value,
    drawn,
    {% if column.kind == "date" %}
    epoch_us(cast(value as timestamp)) / 86400000000.0
    {% elif column.kind == "numeric" %}
    cast(value as double)
    {% else %}
    cast(null as double)
    {% endif %} as place
from known

-- name: query_members
-- The values that the cells of one column represent, as codes: each member of a set or below a
-- node once, each value of a bucket as often as it occurs there. `size` counts NULL as well.
{% from "verify/_cells" import body, unquoted, members as listed, value %}
create or replace table {{ members | ident }} as
with cells as (
    select distinct k{{ i | lit }} as cell, bucket{{ i | lit }} as bucket{% for part, name in parts %}, {{ part }}{{ i | lit }} as {{ part }}{% endfor %}

    from {{ rows | ident }}
),
{% if column.kind == "categorical" %}
generalized as (
    select
        cell,
        {% if column.list_cells %}
        list_filter(name, lambda m: m is not null) as listed,
        false as everything,
        cast(null as varchar) as label,
        case when list_count(name) < len(name) then 1 else 0 end as nulls
        {% elif column.nullable is not none %}
        cast(null as varchar[]) as listed,
        name = '*' as everything,
        name as label,
        case when nullable then 1 else 0 end as nulls
        {% else %}
        case when starts_with(name, '{') then {{ listed(body("name" | ident)) }} end as listed,
        {{ body("name" | ident) }} = '*' as everything,
        {{ unquoted(body("name" | ident)) }} as label,
        case when ends_with(name, ' or NULL') then 1 else 0 end as nulls
        {% endif %}
    from cells
    where bucket is null and name is not null
),
below as (
    select g.cell, g.nulls, d.code
    from generalized g, unnest(g.listed) as m(value)
    join {{ domain | ident }} d on cast(d.value as varchar) = cast(m.value as varchar)
    where g.listed is not null
    union
    select g.cell, g.nulls, d.code
    from generalized g
    cross join {{ domain | ident }} d
    where g.listed is null and g.everything
    union
    {% if nodes is not none %}
    select g.cell, g.nulls, d.code
    from generalized g
    join {{ nodes | ident }} h on h.label = g.label
    join {{ domain | ident }} d on cast(d.value as varchar) = cast(h.value as varchar)
    where g.listed is null and not g.everything
    union
    {% endif %}
    select g.cell, g.nulls, d.code
    from generalized g
    join {{ domain | ident }} d on cast(d.value as varchar) = g.label
    where g.listed is null and not g.everything
    {% if nodes is not none %}
        and g.label not in (select label from {{ nodes | ident }})
    {% endif %}
),
{% else %}
below as (select cell, 0 as nulls, 0 as code from cells where false),
{% endif %}
{% if column.bucket is not none %}
bucketed as (
    select {{ column.bucket | ident }} as bucket, {{ value(column, type) }} as value
    from {{ data | ident }}
    where {{ column.bucket | ident }} is not null
),
set_members as (
    select c.cell, d.code, count(*) as weight, sum(count(*)) over (partition by c.cell) as size
    from bucketed b
    join cells c on c.bucket = b.bucket
    left join {{ domain | ident }} d on d.value = b.value
    group by c.cell, d.code
)
{% else %}
set_members as (select cell, code, 0 as weight, 0 as size from below where false)
{% endif %}
select cell, code, cast(1 as bigint) as weight, cast(count(*) over (partition by cell) + nulls as bigint) as size from below
union all
select cell, code, cast(weight as bigint), cast(size as bigint) from set_members where code is not null

-- name: query_spans
-- The generalized cells of one ordered column as intervals of places. Beyond a top or bottom code there
-- is one value, the code: an open interval ends there.
{% from "verify/_cells" import body, bound %}
{% macro place(x) -%}
{% if column.kind == "date" %}epoch_us(cast({{ x }} as timestamp)) / 86400000000.0{% else %}cast({{ x }} as double){% endif %}
{%- endmacro %}
{% macro code(x) -%}cast({{ x | lit }} as {{ type }}){%- endmacro %}
create or replace table {{ spans | ident }} as
with cells as (
    select distinct k{{ i | lit }} as cell, bucket{{ i | lit }} as bucket{% for part, name in parts %}, {{ part }}{{ i | lit }} as {{ part }}{% endfor %}

    from {{ rows | ident }}
),
ends as (
    select
        cell,
        {% if column.lo is not none %}
        {{ place("lo" | ident) }} as lo, {{ place("hi" | ident) }} as hi, coalesce(nullable, false) as nullable
        {% else %}
        case when {{ body("name" | ident) }} = '*' then d.first_place else {{ place(bound(body("name" | ident), 1, type)) }} end as lo,
        case when {{ body("name" | ident) }} = '*' then d.last_place else {{ place(bound(body("name" | ident), 2, type)) }} end as hi,
        coalesce(ends_with(name, ' or NULL'), false) as nullable
        {% endif %}
    from cells
    cross join (select min(place) as first_place, max(place) as last_place from {{ domain | ident }}) d
    where bucket is null
)
{% if column.bottom is not none or column.top is not none %}
, coded as (
    select
        cell,
        nullable,
        {% if column.bottom is not none %}
        case
            when hi < {{ place(code(column.bottom)) }} then hi
            else greatest(lo, {{ place(code(column.bottom)) }} - {{ step | lit }})
        end as lo,
        {% else %}
        lo,
        {% endif %}
        {% if column.top is not none %}
        least(hi, {{ place(code(column.top)) }}) as hi
        {% else %}
        hi
        {% endif %}
    from ends
    where lo is not null
)
{% endif %}
select cell, lo, hi, nullable, (lo = floor(lo) and hi = floor(hi)) or lo = hi as integral
from {% if column.bottom is not none or column.top is not none %}coded{% else %}ends{% endif %}

where lo is not null

-- name: query_draws
-- Random queries, reproducible by seed: which attributes each has predicates on; for an ordered one
-- an operator and a value of the domain, for a categorical one how many values.
create or replace table {{ draws | ident }} as
with attributes as (
    {% for a in attributes %}
    select {{ a.index | lit }} as attribute, {{ a.ordered | lit }} as ordered, count(*) filter (where drawn) as size from {{ a.domain | ident }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
shuffled as (
    select
        r.draw,
        a.*,
        concat({{ seed | lit }}, ':', r.draw, ':', a.attribute) as source,
        row_number() over (partition by r.draw order by md5_number(concat({{ seed | lit }}, ':', r.draw, ':', a.attribute, ':chosen')), a.attribute) as place
    from range({{ first | lit }}, {{ last | lit }}) as r(draw)
    cross join attributes a
    where a.size > 0
),
chosen as (
    select
        draw,
        attribute,
        ordered,
        sum(1 << attribute) over (partition by draw) as pattern,
        cast(md5_number_lower(source || ':operator') % 6 as integer) as operator,
        cast(md5_number_lower(source || ':value') % size as integer) + 1 as number
    from shuffled
    where place <= {{ predicates | lit }}
),
located as (
    {% for a in attributes %}
    select c.draw, c.attribute, d.code, d.place
    from chosen c
    join {{ a.domain | ident }} d on d.code = c.number
    where c.attribute = {{ a.index | lit }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
)
select
    c.draw,
    c.attribute,
    cast(c.pattern as bigint) as pattern,
    c.ordered,
    c.operator,
    l.code,
    l.place,
    c.number as many
from chosen c
join located l on l.draw = c.draw and l.attribute = c.attribute

-- name: query_truth
-- The codes of one attribute that satisfy each drawn predicate. Operators: = <> < <= > >=.
create or replace table {{ truth | ident }} as
with mine as (select * from {{ draws | ident }} where attribute = {{ i | lit }})
{% if ordered %}
select m.draw, d.code, (m.draw << 32) + d.code as key
from mine m
join {{ domain | ident }} d on case m.operator
    when 0 then d.code = m.code
    when 1 then d.code <> m.code
    when 2 then d.code < m.code
    when 3 then d.code <= m.code
    when 4 then d.code > m.code
    else d.code >= m.code
end
{% else %}
select draw, code, (draw << 32) + code as key
from (
    select
        m.draw,
        m.many,
        d.code,
        row_number() over (
            partition by m.draw
            order by md5_number(concat({{ seed | lit }}, ':', m.draw, ':', m.attribute, ':', d.code, ':member')), d.code
        ) as place
    from mine m
    cross join {{ domain | ident }} d
    where d.drawn
)
where place <= many
{% endif %}

-- name: query_shares
-- Which part of each cell of one attribute satisfies each predicate: of its members, of its bucket, of
-- the integer points of its interval, or of the interval's length where a bound is no integer.
-- Cells that cannot satisfy it are left out.
create or replace table {{ shares | ident }} as
with by_members as (
    select t.draw, m.cell, sum(m.weight) / cast(min(m.size) as double) as share, sum(m.weight) = min(m.size) as certain
    from {{ members | ident }} m
    join {{ truth | ident }} t on t.code = m.code
    group by t.draw, m.cell
)
{% if ordered %}
, measured as (
    select
        d.draw,
        s.cell,
        d.operator,
        s.nullable,
        s.lo,
        s.hi,
        d.place as point,
        case when s.integral then s.hi - s.lo + 1 else s.hi - s.lo end as points,
        least(greatest(case when s.integral then ceil(d.place - s.lo) else d.place - s.lo end, 0),
            case when s.integral then s.hi - s.lo + 1 else s.hi - s.lo end) as below,
        least(greatest(case when s.integral then floor(d.place - s.lo) + 1 else d.place - s.lo end, 0),
            case when s.integral then s.hi - s.lo + 1 else s.hi - s.lo end) as upto
    from {{ spans | ident }} s
    cross join {{ draws | ident }} d
    where d.attribute = {{ i | lit }}
),
by_span as (
    select
        draw,
        cell,
        case operator
            when 0 then upto - below
            when 1 then points - upto + below
            when 2 then below
            when 3 then upto
            when 4 then points - upto
            else points - below
        end / (points + case when nullable then least(points, 1) else 0 end) as share,
        not nullable and case operator
            when 0 then lo = point and hi = point
            when 1 then point < lo or point > hi
            when 2 then hi < point
            when 3 then hi <= point
            when 4 then lo > point
            else lo >= point
        end as certain,
        case operator
            when 0 then lo <= point and point <= hi
            when 1 then not (lo = point and hi = point)
            when 2 then lo < point
            when 3 then lo <= point
            when 4 then hi > point
            else hi >= point
        end as possible
    from measured
)
{% endif %}
select (draw << 32) + cell as key, share, certain from by_members
{% if ordered %}
union all
select (draw << 32) + cell as key, share, certain from by_span where possible
{% endif %}

-- name: query_patterns
-- The set of attributes of every drawn query.
select distinct draw, pattern from {{ draws | ident }} order by pattern, draw

-- name: query_actual
-- The answers of some queries over the same attributes, on the source, and the rows (persons) behind them.
select d.draw, sum(s.v) as actual, {% if persons %}count(distinct s.u){% else %}count(*){% endif %} as units
from {{ source | ident }} s
cross join (values {% for draw in some %}({{ draw }}){% if not loop.last %}, {% endif %}{% endfor %}) as d(draw)
{% for a in attributes %}
join {{ a.truth | ident }} t{{ a.index | lit }} on t{{ a.index | lit }}.key = (cast(d.draw as bigint) << 32) + s.c{{ a.index | lit }}
{% endfor %}
group by d.draw

-- name: query_bounds
-- The intervals that a recipient computes for some queries over the same attributes: in each bucket
-- of the summed value between floor and ceiling of the expected number of rows (Li and He 2022,
-- §4.2), and between the rows that certainly match and those that can.
with hits as (
    select
        d.draw,
        r.b,
        sum({% for a in attributes %}p{{ a.index | lit }}.share{% if not loop.last %} * {% endif %}{% endfor %}) as expected,
        count(*) filter (where {% for a in attributes %}p{{ a.index | lit }}.certain{% if not loop.last %} and {% endif %}{% endfor %}) as certain,
        count(*) as possible
    from {{ rows | ident }} r
    cross join (values {% for draw in some %}({{ draw }}){% if not loop.last %}, {% endif %}{% endfor %}) as d(draw)
    {% for a in attributes %}
    join {{ a.shares | ident }} p{{ a.index | lit }} on p{{ a.index | lit }}.key = (cast(d.draw as bigint) << 32) + r.k{{ a.index | lit }}
    {% endfor %}
    group by 1, 2
),
counts as (
    select draw, b, cast(floor(expected + 1e-9) as bigint) as fewest, cast(ceil(expected - 1e-9) as bigint) as most, certain, possible
    from hits
)
select
    c.draw,
    sum(h.lows[least(greatest(h.negative, c.fewest), c.most) + 1]),
    sum(h.ups[least(greatest(h.positive, c.fewest), c.most) + 1]),
    sum(h.lows[least(greatest(h.negative, c.certain), c.possible) + 1]),
    sum(h.ups[least(greatest(h.positive, c.certain), c.possible) + 1])
from counts c
join {{ help | ident }} h on h.b = c.b
group by c.draw

-- name: query_counts
-- How many rows a recipient expects to satisfy some queries over the same attributes: the sum over
-- rows of the product of the matching shares of their cells.
with distinct_rows as (
    select {% for a in attributes %}k{{ a.index | lit }}, {% endfor %}count(*) as n
    from {{ rows | ident }}
    group by {% for a in attributes %}k{{ a.index | lit }}{% if not loop.last %}, {% endif %}{% endfor %}

)
select
    d.draw,
    sum(r.n * {% for a in attributes %}p{{ a.index | lit }}.share{% if not loop.last %} * {% endif %}{% endfor %}) as expected
from distinct_rows r
cross join (values {% for draw in some %}({{ draw }}){% if not loop.last %}, {% endif %}{% endfor %}) as d(draw)
{% for a in attributes %}
join {{ a.shares | ident }} p{{ a.index | lit }} on p{{ a.index | lit }}.key = (cast(d.draw as bigint) << 32) + r.k{{ a.index | lit }}
{% endfor %}
group by d.draw

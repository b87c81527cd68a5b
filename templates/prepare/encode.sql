-- name: domain
-- Number the values of one column in the order in which it is cut:
-- by value (numbers, dates), by hierarchy leaf, else the most frequent first.
-- parameters: nulls: the column has NULLs
create or replace table {{ domain | ident }} as
with value_counts as (
    select value, n from {{ values | ident }}
    {% if nulls %}
    union all
    select null, {{ attribute.nulls | lit }}
    {% endif %}
),
{% if attribute.height %}
ancestors as (
    select
        value,
        min(leaf) as leaf
        {% for level in attribute.levels %}
        , max(node) filter (where level = {{ level.number | lit }}) as {{ level.a }}
        , max(leaves) filter (where level = {{ level.number | lit }}) as {{ level.z }}
        {% endfor %}
    from {{ hierarchy | ident }}
    group by value
),
{% endif %}
coded as (
    select
        v.value,
        v.n,
        {% if nulls %}case when v.value is null then 0 else {% endif %}row_number() over (
            {% if nulls %}partition by v.value is null {% endif %}order by {% if attribute.ordered %}v.value{% elif attribute.height %}h.leaf, v.value{% else %}v.n desc, v.value{% endif %}

        ){% if nulls %} end{% endif %} as code,
        count(*) over () as size
        {% for level in attribute.levels %}
        , coalesce(h.{{ level.a }}, 0) as {{ level.a }}
        , coalesce(h.{{ level.z }}, 1) as {{ level.z }}
        {% endfor %}
    from value_counts v
    {% if attribute.height %}
    left join ancestors h on h.value = v.value
    {% endif %}
)
{% if first %},
stepped as (
    select
        *,
        {% for name, at in [("place", "value"), ("start", "first"), ("finish", "last")] %}
        {% if attribute.kind == "numeric" %}cast({{ at | ident }} as double){% else %}cast(date_diff('{{ unit }}', min(value) over (), {{ at | ident }}) as double){% endif %} as {{ name | ident }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from (select *, {{ first }} as first, {{ last }} as last from coded) as ends
)
{% endif %}
select
    cast(code as integer) as code,
    value,
    {{ label }} as label,
    {% if first %}
    first,
    {{ first_label }} as first_label,
    last,
    {{ last_label }} as last_label,
    {% endif %}
    n,
    cast(size as bigint) as size,
    {% if first %}
    -- of the width between the outermost bounds; a value counts as near to the first one of its
    -- step, so that cuts fall between steps, or set a single value apart
    (start + {{ nearness | lit }} * (place - start) - min(start) over ()) / nullif(max(finish) over () - min(start) over (), 0) as share,
    (start - min(start) over ()) / nullif(max(finish) over () - min(start) over (), 0) as share_first,
    (finish - min(start) over ()) / nullif(max(finish) over () - min(start) over (), 0) as share_last
    {% elif attribute.kind == "numeric" %}
    -- halved, so that the width of a domain of doubles cannot overflow
    (cast(value as double) / 2 - min(cast(value as double)) over () / 2)
        / nullif(max(cast(value as double)) over () / 2 - min(cast(value as double)) over () / 2, 0) as share
    {% elif attribute.kind == "date" %}
    cast(date_diff('{{ unit }}', min(value) over (), value) as double)
        / nullif(date_diff('{{ unit }}', min(value) over (), max(value) over ()), 0) as share
    {% else %}
    (code - min(code) over ()) / nullif(cast(max(code) over () - min(code) over () as double), 0) as share
    {% endif %}
    {% for level in attribute.levels %}
    , {{ level.a }}
    , {{ level.z }} / cast(max({{ attribute.levels[-1].z }}) over () as double) as {{ level.z }}
    {% endfor %}
from {% if first %}stepped{% else %}coded{% endif %}

order by code

-- name: coded
-- Every row as small codes, or as the words of its tuple, with its secret-keyed draw.
-- parameters: parts: where codes were looked up before; packed: words instead of codes; with `identity` they tell rows apart;
-- keyed: the identity is a key, and draws depend on nothing else of the row;
-- copies: rows may be exact duplicates, and are distinguished by a number. With one draw for all,
-- copies of a row would be adjacent in the release, whatever their cells and buckets;
-- which copy gets which number makes no difference
create or replace table {{ coded | ident }} as
with placed as (
    select
        {% if parts %}
        row_ref
        {% else %}
        s.rowid as row_ref
        {% endif %}
        {% for value, word in word_of_codes %}
        , {{ value }} as {{ word }}
        {% endfor %}
        {% if not packed %}
        {% for a in attributes %}
        {% if parts %}
        , {{ a.c }}
        {% else %}
        , {{ a.d }}.code as {{ a.c }}
        {% endif %}
        {% endfor %}
        {% endif %}
        {% if has_identity %}
        , s.identity
        {% endif %}
        {% if flagged %}
        , {% for a in flagged %}case when coalesce(s.{{ a.f }}, true) then {{ a.bit }} else 0 end{% if not loop.last %} + {% endif %}{% endfor %} as pattern
        {% endif %}
        {% for column in carried %}
        , s.{{ column }}
        {% endfor %}
    from {% if parts %}(select rowid as row_ref, * from {{ snapshot | ident }}){% else %}{{ snapshot | ident }}{% endif %} s
    {% for part in parts %}
    join {{ part | ident }} using (row_ref)
    {% else %}
    {% for a in attributes %}
    join {{ a.domain | ident }} {{ a.d }} on {{ a.d }}.value is not distinct from s.{{ a.q }}
    {% endfor %}
    {% endfor %}
),
{% set apart = ([] if keyed else words) + (["identity" | ident] if has_identity else []) %}
{% if copies %}
copied as (
    select *, row_number() over ({% if apart %}partition by {{ apart | join }}{% endif %}) as copy
    from placed
),
{% endif %}
drawn as (
    select
        md5_number(concat($secret{% for part in apart %}, ':', {{ part }}{% endfor %}{% if copies %}, ':', copy{% endif %})) as draw
        , row_ref
        {% for column in (words if packed else codes) %}
        , {{ column }}
        {% endfor %}
        {% if flagged %}
        , pattern
        {% endif %}
        {% for column in carried %}
        , {{ column }}
        {% endfor %}
    from {% if copies %}copied{% else %}placed{% endif %}

)
select {% if numbered %}row_number() over (order by draw) as row_id, {% endif %}*
from drawn

-- name: coded.postgres
-- The rows as on the other engines. Codes are found by joins on equality, which can be hashed;
-- NULL, which equals nothing, has the code 0. Draws are made in two steps, each in a subquery that
-- `offset '0'` keeps separate (an unquoted 0 would also exclude parallel workers): as one
-- expression it would need a subquery for every row, which no parallel worker computes.
-- parameters: as for the other engines; draw_of(digest) is the draw that the dialect knows
{% macro carried_on() %}
        , row_ref
        {% for column in (words if packed else codes) %}
        , {{ column }}
        {% endfor %}
        {% if flagged %}
        , pattern
        {% endif %}
        {% for column in carried %}
        , {{ column }}
        {% endfor %}
{% endmacro %}
create or replace table {{ coded | ident }} as
with placed as (
    select
        {% if parts %}
        row_ref
        {% else %}
        s.rowid as row_ref
        {% endif %}
        {% for value, word in word_of_known_codes %}
        , {{ value }} as {{ word }}
        {% endfor %}
        {% if not packed %}
        {% for a in attributes %}
        {% if parts %}
        , {{ a.c }}
        {% else %}
        , coalesce({{ a.d }}.code, 0) as {{ a.c }}
        {% endif %}
        {% endfor %}
        {% endif %}
        {% if has_identity %}
        , s.identity
        {% endif %}
        {% if flagged %}
        , {% for a in flagged %}case when coalesce(s.{{ a.f }}, true) then {{ a.bit }} else 0 end{% if not loop.last %} + {% endif %}{% endfor %} as pattern
        {% endif %}
        {% for column in carried %}
        , s.{{ column }}
        {% endfor %}
    from {% if parts %}(select rowid as row_ref, * from {{ snapshot | ident }}){% else %}{{ snapshot | ident }}{% endif %} s
    {% for part in parts %}
    join {{ part | ident }} using (row_ref)
    {% else %}
    {% for a in attributes %}
    left join {{ a.domain | ident }} {{ a.d }} on {{ a.d }}.value = s.{{ a.q }}
    {% endfor %}
    {% endfor %}
),
{% set apart = ([] if keyed else words) + (["identity" | ident] if has_identity else []) %}
{% if copies %}
copied as (
    select *, row_number() over ({% if apart %}partition by {{ apart | join }}{% endif %}) as copy
    from placed
),
{% endif %}
digested as (
    select
        unhex(md5(concat($secret{% for part in apart %}, ':', {{ part }}{% endfor %}{% if copies %}, ':', copy{% endif %}))) as digest
{{ carried_on() -}}
    from {% if copies %}copied{% else %}placed{% endif %}

    offset '0'
),
drawn as (
    select
        draw_of(digest) as draw
{{ carried_on() -}}
    from digested
)
select {% if numbered %}row_number() over (order by draw) as row_id, {% endif %}*
from drawn

-- name: codes
-- The codes of some of the quasi-identifiers of every row; used if there are very many
-- quasi-identifiers.
create or replace table {{ codes | ident }} as
select
    s.rowid as row_ref
    {% for a in attributes %}
    , {{ a.d }}.code as {{ a.c }}
    {% endfor %}
from {{ snapshot | ident }} s
{% for a in attributes %}
join {{ a.domain | ident }} {{ a.d }} on {{ a.d }}.value is not distinct from s.{{ a.q }}
{% endfor %}

-- name: codes.postgres
-- The codes of some of the quasi-identifiers, by joins on equality, which can be hashed; NULL, which
-- equals nothing, has the code 0.
create or replace table {{ codes | ident }} as
select
    s.rowid as row_ref
    {% for a in attributes %}
    , coalesce({{ a.d }}.code, 0) as {{ a.c }}
    {% endfor %}
from {{ snapshot | ident }} s
{% for a in attributes %}
left join {{ a.domain | ident }} {{ a.d }} on {{ a.d }}.value = s.{{ a.q }}
{% endfor %}

-- name: persons
-- A number without meaning for every person, in secret-keyed order.
create or replace table {{ persons | ident }} as
select person, row_number() over (order by {{ person_draw }}, person) as number
from (select person, min(draw) as draw from {{ coded | ident }} group by person)

-- name: units
-- The distinct quasi-identifier tuples with their counts: what is partitioned instead of rows.
create or replace table {{ units | ident }} as
with groups as (
    select {{ keys | join }}{% if codes %}, {{ codes | join }}{% endif %}, {{ count }} as n, min(draw) as draw
    from {{ coded | ident }}
    group by {{ keys | join }}
)
select row_number() over (order by {{ keys | join }}) as unit, *{% for code, name in unpacked %}, {{ code }} as {{ name }}{% endfor %}

from groups

-- name: present
-- The codes of one column among the rows that are published, in buckets or not; 0 is NULL.
create or replace table {{ present | ident }} as
select distinct u.{{ code }} as code
from {{ members | ident }} m
join {{ units | ident }} u on u.unit = m.unit
where u.{{ code }} >= 0
{% if dealt is not none %}
union
select distinct {{ dealt }} from {{ coded | ident }} where {{ dealt }} is not null
{% endif %}

-- name: bounds
-- The published form of every value and node of one ordered column: a closed interval. Its bounds
-- follow from the policy, or from published values.
-- parameters: height; lo, hi: of the node above a published value; listed: a taxonomy with its values;
-- built: whether the bounds depend on the ends of the data; hung: the root reaches from the
-- lowest to the highest published node; value_lo, value_hi: of a value
create or replace table {{ shown | ident }} as
with published as (
    select d.code, d.value
    from {{ present | ident }} p
    join {{ domain | ident }} d on d.code = p.code
    where p.code > 0
),
extent as (
    select
        count(*) filter (where code = 0) > 0 as nulls
        {% if built %}
        , min(code) filter (where code > 0) = (select min(code) from {{ domain | ident }} where code > 0)
            and max(code) = (select max(code) from {{ domain | ident }}) as complete
        {% endif %}
    from {{ present | ident }}
),
{% if listed is not none %}
extents as (
    select level, node, min({{ typed }}) as lo, max({{ typed }}) as hi
    from {{ listed | ident }}
    group by level, node
),
{% endif %}
nodes as (
    select h.level, h.node, min({{ lo }}) as lo, max({{ hi }}) as hi
    from {{ hierarchy | ident }} h
    join published p on p.value = h.value
    {% if listed is not none %}
    join extents e on e.level = h.level and e.node = h.node
    {% endif %}
    {% if built %}
    cross join extent x
    {% endif %}
    group by h.level, h.node
),
bounded as (
    select 0 as level, cast(code as bigint) as node, {{ value_lo }} as lo, {{ value_hi }} as hi
    from published
    union all
    select level, node, lo, hi
    from nodes
    {% if hung %}
    where level < {{ height | lit }}
    union all
    select r.level, r.node, b.lo, b.hi
    from nodes r
    cross join (select min(lo) as lo, max(hi) as hi from nodes where level = {{ below | lit }}) b
    where r.level = {{ height | lit }}
    {% endif %}
)
select
    b.level,
    b.node,
    case
        when b.level = {{ height | lit }} and b.level > 0 then '*'
        when b.lo = b.hi then {{ lo_text }}
        else '[' || {{ lo_text }} || ', ' || {{ hi_text }} || ']'
    end as label,
    b.level = {{ height | lit }} and b.level > 0 and x.nulls as nullable,
    b.lo,
    b.hi
from bounded b
cross join extent x

-- name: labels
-- The published text of every value and node of one categorical column, one text each, made of the
-- published values alone. A node that covers all of them is `*`, and so is the root.
-- parameters: height; sets: nodes are the sets of their published values; kept: characters that the
-- levels of codes keep, filled up with * to the longest published code; suffix: they keep
-- the end; otherwise labels are those of the hierarchy; written: how a text is published
create or replace table {{ shown | ident }} as
with published as (
    select d.code, d.value, d.label, cast(d.value as varchar) as text
    from {{ present | ident }} p
    join {{ domain | ident }} d on d.code = p.code
    where p.code > 0
),
extent as (
    select
        count(*) as size,
        {% if kept is not none %}
        max(length(text)) as longest,
        {% endif %}
        (select count(*) from {{ present | ident }} where code = 0) > 0 as nulls
    from published
),
nodes as (
    select
        h.level,
        h.node,
        count(*) as size,
        {% if sets %}
        string_agg(p.label, ', ' order by p.text) as text
        {% elif kept is not none %}
        min(p.text) as text
        {% else %}
        min(h.label) as text
        {% endif %}
    from {{ hierarchy | ident }} h
    join published p on p.value = h.value
    group by h.level, h.node
),
named as (
    select
        n.level,
        n.node,
        n.size,
        {% if kept is not none %}
        case
            when length(n.text) < k.kept then n.text
            {% if suffix %}
            else repeat('*', greatest(x.longest - k.kept, 0)) || right(n.text, k.kept)
            {% else %}
            else left(n.text, k.kept) || repeat('*', greatest(x.longest - k.kept, 0))
            {% endif %}
        end as text
    from nodes n
    join {{ kept | ident }} k on k.level = n.level
    cross join extent x
        {% else %}
        n.text
    from nodes n
        {% endif %}
)
select 0 as level, cast(code as bigint) as node, label, false as nullable
from published
union all
select
    n.level,
    n.node,
    case
        when n.level = {{ height | lit }} or n.size = x.size then '*'
        {% if sets %}
        when n.size = 1 then n.text
        else '{' || n.text || '}'
        {% else %}
        else {{ written }}
        {% endif %}
    end,
    n.level = {{ height | lit }} and x.nulls
from named n
cross join extent x

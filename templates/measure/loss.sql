-- name: _levels
-- The l that a value of a column needs; NULL for a NULL that does not count.
{% macro needed(x) -%}
case
    when {{ x.name | ident }} is null then {{ (x.default if x.nulls_count else none) | lit }}
    {% for l, values in x.levels %}
    when {% for value in values %}{{ x.name | ident }} = try_cast({{ value | lit }} as {{ x.type }}){% if not loop.last %} or {% endif %}{% endfor %} then {{ l | lit }}
    {% endfor %}
    else {{ x.default | lit }}
end
{%- endmacro %}

-- name: _losses
-- The cells of a column, the domain that they span, and what one of them loses, as CTEs and
-- expressions. The domain is that of the release: from the lowest published bound to the highest,
-- or the published categories; where a hierarchy is a file, its leaves.
{% macro place(x) -%}
{% if column.kind == "date" %}cast(epoch_us(cast({{ x }} as timestamp)) as double){% else %}cast({{ x }} as double){% endif %}
{%- endmacro %}
{#- The place of a published bound: an open interval of a coded column ends with its code. -#}
{% macro code(x) -%}cast({{ x | lit }} as {{ type }}){%- endmacro %}
{% macro low_place(x) -%}
{% if column.bottom is not none %}case when {{ x }} is not null then greatest({{ place(x) }}, {{ place(code(column.bottom)) }}) end{% else %}{{ place(x) }}{% endif %}
{%- endmacro %}
{% macro high_place(x) -%}
{% if column.top is not none %}case when {{ x }} is not null then least({{ place(x) }}, {{ place(code(column.top)) }}) end{% else %}{{ place(x) }}{% endif %}
{%- endmacro %}
{#- `cells`: every different generalized cell, parsed, with the number of its rows; with `holder`, by
    that column. -#}
{% macro holding() -%}{% if holder is defined %}holder, {% endif %}{%- endmacro %}
{% macro cells() %}
{% set written = column.lo is none and column.nullable is none and not column.list_cells %}
{% if written %}published{% else %}cells{% endif %} as (
    select
        {% if holder is defined %}
        {{ holder | ident }} as holder,
        {% endif %}
        {% if column.lo is not none %}
        {{ column.lo | ident }} as lo, {{ column.hi | ident }} as hi,
        {% elif column.nullable is not none %}
        {{ column.name | ident }} as body, {{ column.nullable | ident }} as nullable,
        {% else %}
        {{ column.name | ident }} as cell,
        {% endif %}
        count(*) as n
    from {{ data | ident }}
    {% if column.bucket is not none %}
    where {{ column.bucket | ident }} is null
    {% endif %}
    group by all
)
{%- if written %},
cells as (
    select {{ holding() }}{{ body("cell" | ident) }} as body, coalesce(ends_with(cell, ' or NULL'), false) as nullable, n
    from published
)
{%- endif %}
{% if column.kind != "categorical" %},
placed as (
    select
        {{ holding() }}n,
        {% if column.lo is not none %}
        false as everything, {{ low_place("lo" | ident) }} as lo, {{ high_place("hi" | ident) }} as hi
        {% else %}
        coalesce(body = '*', false) as everything,
        {{ low_place(bound("body" | ident, 1, type)) }} as lo,
        {{ high_place(bound("body" | ident, 2, type)) }} as hi
        {% endif %}
    from cells
)
{%- endif %}
{%- endmacro %}
{#- `shown`: the different categories that generalized cells and buckets show, NULL among them. -#}
{% macro shown() %}
shown as (
    {% if column.list_cells %}
    select cast(m.value as varchar) as value from cells, unnest(cell) as m(value)
    {% else %}
    select {{ unquoted("body" | ident) }} as value
    from cells
    where body is not null and body <> '*' and not starts_with(body, '{')
    union
    select m.value from cells, unnest(case when starts_with(body, '{') then {{ members("body" | ident) }} end) as m(value)
    union
    select null from cells where body is null or nullable
    {% endif %}
    union
    {% if column.bucket is not none %}
    select cast({{ value(column, type) }} as varchar) from {{ data | ident }} where {{ column.bucket | ident }} is not null
    {% else %}
    select null where false
    {% endif %}
)
{%- endmacro %}
{% macro domain() %}
{% if column.kind == "categorical" %}
{{ shown() }},
domain as (
    select
        {% if leaves is not none %}
        (select count(distinct value) from {{ leaves | ident }})
        {% elif nodes is not none %}
        (select count(distinct value) from {{ nodes | ident }})
        {% else %}
        count(value)
        {% endif %}
        + coalesce(max(case when value is null then 1 else 0 end), 0) as size
    from shown
)
{% else %}
{% if column.bucket is not none %}
ends as (
    select lo, hi from placed
    union all
    select {{ place("value" | ident) }}, {{ place("value" | ident) }}
    from (select {{ value(column, type) }} as value from {{ data | ident }} where {{ column.bucket | ident }} is not null)
),
{% endif %}
domain as (
    select min(lo) filter (where isfinite(lo)) as first_place, max(hi) filter (where isfinite(hi)) as last_place
    from {% if column.bucket is not none %}ends{% else %}placed{% endif %}

)
{% endif %}
{%- endmacro %}
{% macro width(lo, hi) -%}
case
    when {{ lo }} is null or {{ lo }} = {{ hi }} or d.first_place is null then 0
    when not isfinite({{ lo }}) or not isfinite({{ hi }}) then 1
    when d.last_place <= d.first_place then 0
    else greatest({{ hi }} - {{ lo }}, 0) / (d.last_place - d.first_place)
end
{%- endmacro %}

-- name: groups
-- Groups of an msb release: how many, rows (persons), smallest, largest, and the sum over groups of the largest l of
-- their values (Xiao and Li 2020, Definition 14).
{% from "measure/_levels" import needed %}
with sizes as (
    select {{ group | ident }} as grp, {% if person %}count(distinct {{ person | ident }}){% else %}count(*){% endif %} as n
    from {{ data | ident }}
    group by 1
),
needs as (
    {% for x in columns %}
    select {{ group | ident }} as grp, max({{ needed(x) }}) as needed
    from {{ x.table | ident }}
    group by 1
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
largest as (
    select grp, coalesce(max(needed), 1) as needed
    from needs
    group by grp
)
select
    count(*),
    cast(coalesce(sum(s.n), 0) as bigint),
    min(s.n),
    max(s.n),
    cast(coalesce(sum(l.needed), 0) as bigint)
from sizes s
join largest l on l.grp = s.grp

-- name: group_shares
-- The value of one column that comes nearest to its bound: its share of its group, and the bound 1/l.
{% from "measure/_levels" import needed %}
with counts as (
    select {{ group | ident }} as grp, {{ needed({"name": name, "type": type, "levels": levels, "default": default, "nulls_count": nulls_count}) }} as needed, count(*) as n
    from {{ table | ident }}
    group by {{ group | ident }}, {{ name | ident }}
),
shares as (
    select n, needed, sum(n) over (partition by grp) as total
    from counts
    where needed is not null
)
select cast(n / total as double), cast(1 / needed as double)
from shares
where needed > 1
order by n * needed / total desc, needed desc, n desc
limit 1

-- name: losses
-- Information lost in the generalized cells of one column: their number, the sum of their NCP (Xu
-- et al. 2006) and of their generalized loss metric (Iyengar 2002). NULL is one more category; a
-- cell that is not generalized costs nothing, `*` costs 1. Sums are of decimals, so that they do
-- not depend on the order of the rows. The domain is that of the release, so that a recipient can
-- compute the same figures, and they disclose nothing of the rows left out.
-- parameters: nodes: published values with the labels of their nodes; leaves: those that a file declares;
-- unknown: nobody knows what nodes stand for, so that all but `*` cost nothing;
-- holder: if given, a column of the release (the class), and every value of it has its own line
{% from "verify/_cells" import body, bound, unquoted, members, value with context %}
{% from "measure/_losses" import cells, domain, width, holding with context %}
with {{ cells() }},
{{ domain() }},
{% if column.kind != "categorical" %}
shares as (
    select {{ holding() }}n, case when everything then 1 else {{ width("lo" | ident, "hi" | ident) }} end as ncp
    from placed c
    cross join domain d
),
losses as (select {{ holding() }}n, ncp, ncp as glm from shares)
{% else %}
{% set labelled = leaves if leaves is not none else nodes %}
{% if labelled is not none %}
labels as (select label, count(distinct value) as leaves from {{ labelled | ident }} group by label),
{% endif %}
sizes as (
    select
        {{ holding() }}c.n,
        {% if column.list_cells %}
        false as everything,
        coalesce(len(c.cell), 0) as size,
        {% else %}
        coalesce(c.body = '*', false) as everything,
        {% if unknown %}
        0 as size,
        {% else %}
        case
            when c.body is null then 0
            else case when starts_with(c.body, '{') then len({{ members("body" | ident) }}) else {% if labelled is not none %}coalesce(h.leaves, 1){% else %}1{% endif %} end
                + case when c.nullable then 1 else 0 end
        end as size,
        {% endif %}
        {% endif %}
        d.size as domain_size
    from cells c
    cross join domain d
    {% if labelled is not none %}
    left join labels h on h.label = {% if column.nullable is none or leaves is not none %}{{ unquoted("body" | ident) }}{% else %}c.body{% endif %}

    {% endif %}
),
losses as (
    select
        {{ holding() }}n,
        case when everything then 1 when size > 1 then size / cast(domain_size as double) else 0 end as ncp,
        case when everything then 1 when size > 1 then (size - 1) / cast(domain_size - 1 as double) else 0 end as glm
    from sizes
)
{% endif %}
select
    {{ holding() }}cast(coalesce(sum(n), 0) as bigint) as cells,
    cast(coalesce(sum(n * cast(cast(ncp as double) as decimal(18, 15))), 0) as double) as ncp_sum,
    cast(coalesce(sum(n * cast(cast(glm as double) as decimal(18, 15))), 0) as double) as glm_sum
from losses
{% if holder is defined %}
group by holder
{% endif %}

-- name: bucket_ranges
-- The mean range of a column's buckets, relative to the range of its published domain: by value
-- for ordered columns, by rank in code-point order for categories. NULLs are left out.
{% from "verify/_cells" import body, bound, unquoted, members, value with context %}
{% from "measure/_losses" import cells, shown, domain, place with context %}
with dealt as (
    select {{ column.bucket | ident }} as bucket, {{ value(column, type) }} as value
    from {{ data | ident }}
    where {{ column.bucket | ident }} is not null
),
{% if column.kind == "categorical" %}
{% if column.role == "semi" %}
{{ cells() }},
{{ shown() }},
{% else %}
shown as (select distinct cast(value as varchar) as value from dealt),
{% endif %}
ranks as (
    select value, row_number() over (order by value) as place, count(*) over () as size
    from shown
    where value is not null
),
ranges as (
    select (max(r.place) - min(r.place)) / cast(nullif(min(r.size) - 1, 0) as double) as share
    from dealt b
    join ranks r on r.value = cast(b.value as varchar)
    group by b.bucket
)
{% else %}
{% if column.role == "semi" %}
{{ cells() }},
{{ domain() }},
{% else %}
domain as (
    select min(p) as first_place, max(p) as last_place
    from (select {{ place("value" | ident) }} as p from dealt)
    where isfinite(p)
),
{% endif %}
places as (
    select bucket, {{ place("value" | ident) }} as p
    from dealt
),
ranges as (
    select (max(p) - min(p)) / nullif(min(d.last_place) - min(d.first_place), 0) as share
    from places
    cross join domain d
    where isfinite(p)
    group by bucket
)
{% endif %}
select coalesce(cast(avg(cast(coalesce(share, 0) as decimal(18, 15))) as double), 0) from ranges

-- name: exposure
-- By class, what an adversary who finds somebody's class learns of one protected column (Li and He
-- 2022, Lemma 2): `bound`, the sum of p(t, mb) |mb(s')| / |mb| as printed; `exposure`, its exact form,
-- the largest sum over one value; `remaining`, the fewest rows of the class that one known value
-- leaves. Shares are over the non-NULL values of a bucket.
{% from "verify/_cells" import value %}
with cells as (
    select {{ group | ident }} as class_id, {{ column.bucket | ident }} as bucket, {{ value(column, type) }} as value
    from {{ data | ident }}
    where {{ column.bucket | ident }} is not null
),
class_sizes as (select {{ group | ident }} as class_id, count(*) as size from {{ data | ident }} group by 1),
matches as (
    select c.class_id, c.bucket, count(*) as n, min(s.size) as size
    from cells c
    join class_sizes s on s.class_id = c.class_id
    group by c.class_id, c.bucket
),
frequencies as (
    select bucket, value, count(*) as n, sum(count(*)) over (partition by bucket) as total, max(count(*)) over (partition by bucket) as most
    from cells
    where value is not null
    group by bucket, value
),
value_counts as (
    select m.class_id, f.value, sum(cast(cast(m.n * f.n as double) / (m.size * f.total) as decimal(18, 15))) as exposure, sum(m.n) as remaining
    from matches m
    join frequencies f on f.bucket = m.bucket
    group by m.class_id, f.value
),
bounds as (
    select m.class_id, sum(cast(cast(m.n * f.most as double) / (m.size * f.total) as decimal(18, 15))) as bound
    from matches m
    join (select bucket, min(most) as most, min(total) as total from frequencies group by bucket) f on f.bucket = m.bucket
    group by m.class_id
),
verdicts as (
    select h.class_id, round(cast(max(h.exposure) as double), 12) as exposure, round(cast(min(b.bound) as double), 12) as bound, cast(min(h.remaining) as bigint) as remaining
    from value_counts h
    join bounds b on b.class_id = h.class_id
    group by h.class_id
)
{% if by_class %}
select class_id, exposure, bound, remaining from verdicts order by class_id
{% else %}
select coalesce(max(exposure), 0), coalesce(max(bound), 0), min(remaining) from verdicts
{% endif %}

-- name: counts
-- Rows, persons, and the sizes of classes in rows.
with classes as (
    select count(*) as n
    from {{ data | ident }}
    {% if group %}
    group by {{ group | ident }}
    {% endif %}
),
sizes as (
    select
        coalesce(sum(n), 0) as total,
        count(*) filter (where n > 0) as classes,
        coalesce(min(n), 0) as least,
        coalesce(max(n), 0) as most,
        coalesce(sum(n * n), 0) as squares
    from classes
)
select
    cast(total as bigint),
    classes,
    least,
    total / cast(nullif(classes, 0) as double),
    most,
    cast(squares as hugeint),
    {% if person %}
    (select count(distinct {{ person | ident }}) from {{ data | ident }})
    {% else %}
    cast(total as bigint)
    {% endif %}
from sizes

-- name: smallest
-- The number of persons in the smallest class. NULL without classes.
select min(persons)
from (
    select count(distinct {{ person | ident }}) as persons
    from {{ data | ident }}
    group by {{ group | ident }}
)

-- name: set_losses
-- The NCP that one categorical column would have if its cells were the sets of the values in their
-- classes, over the published values or the leaves that a file declares. The actual NCP exceeds it
-- by the cost of using the nodes of the hierarchy.
with cells as (
    select
        l.{{ group | ident }} as class_id,
        {% if column.bucket is not none %}
        l.{{ column.bucket | ident }} is null as generalized,
        {% else %}
        true as generalized,
        {% endif %}
        o.{{ physical | ident }} as value
    from {{ link | ident }} l
    join {{ original | ident }} o on o.{{ row_ref | ident }} = l.{{ row_ref | ident }}
),
domain as (
    select
        {% if leaves is not none %}(select count(distinct value) from {{ leaves | ident }}){% else %}count(distinct value){% endif %}

        + coalesce(max(case when value is null then 1 else 0 end), 0) as size
    from cells
),
set_members as (
    select count(*) as n, count(distinct value) + max(case when value is null then 1 else 0 end) as size
    from cells
    where generalized
    group by class_id
)
select cast(coalesce(sum(h.n * cast(case when h.size > 1 then h.size / cast(d.size as double) else 0 end as decimal(18, 15))), 0) as double)
from set_members h
cross join domain d

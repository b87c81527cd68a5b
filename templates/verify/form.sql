-- name: _cells
-- The grammar of published cells as SQL expressions.
{% macro body(x) -%}
case when ends_with({{ x }}, ' or NULL') then left({{ x }}, length({{ x }}) - 8) else {{ x }} end
{%- endmacro %}
{% macro unquoted(x) -%}
case when starts_with({{ x }}, '"') then replace(substr({{ x }}, 2, length({{ x }}) - 2), '""', '"') else {{ x }} end
{%- endmacro %}
{% macro quoted(x) -%}
case
    when {{ x }} in ('', '*', 'NULL') or starts_with({{ x }}, ' ') or ends_with({{ x }}, ' ')
        or ends_with({{ x }}, ' or NULL') or regexp_matches({{ x }}, '[,{}\[\]"]')
    then '"' || replace({{ x }}, '"', '""') || '"'
    else {{ x }}
end
{%- endmacro %}
{% macro members(x) -%}
list_transform(
    regexp_extract_all(
        substr({{ x }}, 2, length({{ x }}) - 2),
        '"(?:[^"]|"")*"|[^,{}\[\]" ][^,{}\[\]"]*'
    ),
    lambda m: {{ unquoted("m" | ident) }}
)
{%- endmacro %}
{% macro written_set(list) -%}
'{' || array_to_string(list_transform(list_sort(list_distinct({{ list }})), lambda m: {{ quoted("m" | ident) }}), ', ') || '}'
{%- endmacro %}
{% macro bound(x, side, type) -%}
try_cast(coalesce(nullif(regexp_extract({{ x }}, '^\[(.*), (.*)\]$', {{ side | lit }}), ''), {{ x }}) as {{ type }})
{%- endmacro %}
{% macro value(column, type) -%}
{% if column.value is not none -%}
{{ column.value | ident }}
{%- elif column.role == "semi" -%}
try_cast({{ unquoted(column.name | ident) }} as {{ type }})
{%- else -%}
{{ column.name | ident }}
{%- endif %}
{%- endmacro %}

-- name: _flags
-- Rows that satisfy a condition on cells `l` and originals `o`, by class.
{% macro mismatching_rows() -%}
cells as (
    select {% if group %}l.{{ group | ident }}{% else %}0{% endif %} as grp, {{ caller() }} as mismatch
    from {{ link | ident }} l
    join {{ original | ident }} o on o.{{ row_ref | ident }} = l.{{ row_ref | ident }}
),
classes as (select grp, count(*) as units, count(*) filter (where mismatch) as mismatches from cells group by grp),
verdicts as (select *, mismatches = 0 as holds from classes)
{%- endmacro %}

-- name: _forms
-- Whether published cells are well formed, from a query `read` of different cells and their bodies.
{% from "verify/_cells" import body, bound, quoted, unquoted, members, written_set %}
{% macro read_cells() -%}
read as (
    select
        *
        {% if column.lo is none %}
        , {{ body("cell1" | ident) }} as body
        {% endif %}
    from cells
)
{%- endmacro %}
{% macro forms(read) -%}
{% if column.lo is none and column.kind == "categorical" %}
sets as (
    select *, case when starts_with(body, '{') and ends_with(body, '}') then {{ members("body" | ident) }} end as listed
    from {{ read | ident }}
),
{% endif %}
forms as (
    select
        *,
        {% if column.lo is not none %}
        cell3 is not null and (cell1 is null) = (cell2 is null)
            and (cell1 is null or cell1 <= cell2)
            and (cell1 is not null or cell3) as well_formed
        {% elif column.kind != "categorical" %}
        cell1 is null or body = '*' or case
            when starts_with(body, '[') then coalesce(
                regexp_matches(body, '^\[[^\[\]]+, [^\[\]]+\]$')
                and {{ bound("body" | ident, 1, type) }} < {{ bound("body" | ident, 2, type) }}, false
            )
            else try_cast(body as {{ type }}) is not null
        end as well_formed
        {% else %}
        cell1 is null or body = '*' or case
            when starts_with(body, '{') then coalesce(len(listed) > 1 and {{ written_set("listed" | ident) }} = body, false)
            when starts_with(body, '"') then ends_with(body, '"') and length(body) > 1
                and {{ quoted(unquoted("body" | ident)) }} = body
            else {{ quoted("body" | ident) }} = body
        end as well_formed
        {% endif %}
    from {% if column.lo is none and column.kind == "categorical" %}sets{% else %}{{ read | ident }}{% endif %}

)
{%- endmacro %}

-- name: _owned
-- Common table expressions that lead every published row to its person: `people` and, for every
-- table, `owned<i>` with the person, the class and the columns that are asked for. These are called
-- by their place, for a published column may be called `person`, `grp` or `own`. Where rows are
-- known with those above them, they have the event cells of these (`above`), and `at<i>` for the row of each
-- table in which several rows may share one.
{% macro shown_as(t, column) %}shown{{ (t.shown.index(column) + 1) | lit }}{% endmacro %}
{% macro line(t) %}{% for cell in t.above_cells %}, a.{{ cell }}{% endfor %}{% for column, cell in t.own_cells %}, d.{{ column | ident }} as {{ cell }}{% endfor %}{% for n in t.places %}, {% if n == t.number %}d.{{ t.key | ident }}{% else %}a.at{{ n | lit }}{% endif %} as at{{ n | lit }}{% endfor %}{% endmacro %}
{% macro owned() %}
people as (
    select {{ key | ident }} as person, {{ group | ident }} as grp from {{ persons | ident }}
),
{% for t in tables %}
owned{{ t["number"] | lit }} as (
    select {% if t.key %}d.{{ t.key | ident }} as own, {% endif %}a.person, a.grp{% for column in t.shown %}, d.{{ column | ident }} as {{ shown_as(t, column) }}{% endfor %}{{ line(t) }}

    from {{ t.data | ident }} d
    join {% if t.above %}owned{{ t.above | lit }} a on a.own{% else %}people a on a.person{% endif %} = d.{{ t.link | ident }}
){% if not loop.last %},{% endif %}

{% endfor %}
{% endmacro %}

-- name: safe_harbor
-- Published values that Safe Harbor does not allow for the kind of identifier that the column holds.
-- The bounds or members of a generalized cell are examined; what cannot be read is refused.
{% from "verify/_cells" import body, unquoted, members %}
{% from "verify/_verdict" import verdict with context %}
with shown as (
    {% if raw or column.lo is not none %}
    {% for part in parts %}
    select {{ part }} as value, count(*) as n, true as readable
    from {{ data | ident }}
    where {{ part }} is not null
    group by 1
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
    {% elif column.list_cells %}
    select unnest({{ column.name | ident }}) as value, count(*) as n, true as readable
    from {{ data | ident }}
    group by 1
    {% else %}
    select
        try_cast(part as {{ type }}) as value, n, try_cast(part as {{ type }}) is not null as readable
    from (
        select
            unnest({% if column.kind == "categorical" %}case when starts_with(body, '{') then {{ members("body" | ident) }} else [{{ unquoted("body" | ident) }}] end{% else %}case when starts_with(body, '[') then regexp_split_to_array(substr(body, 2, length(body) - 2), ', ') else [body] end{% endif %}) as part,
            n
        from (
            select {{ body(column.name | ident) }} as body, count(*) as n
            from {{ data | ident }}
            where {{ column.name | ident }} is not null
            group by 1
        ) as cells
        where body not in ('*', 'NULL')
    ) as parts
    {% endif %}
),
verdicts as (
    select 'rows' as grp, coalesce(sum(n), 0) as n, false as holds
    from shown
    where not readable or (value is not null and ({{ refused }}))
    having count(*) > 0
)
{{ verdict("n") }}

-- name: nodes
-- Which labels of nodes admit each published value of one column of categories, itself among them:
-- derived from the values, the policy and the given tree, not from how the release was labelled.
-- parameters: values: the different values, where there is no link; height: level of the root;
-- lengths: characters that the levels of codes may keep, up to the longest value;
-- suffix: they keep the end; listed: labels are those of the hierarchy;
-- name: the published column
{% from "verify/_cells" import body, unquoted, quoted, members %}
create or replace table {{ nodes | ident }} as
with known as (
    {% if link is not none %}
    select distinct o.{{ physical | ident }} as value, cast(o.{{ physical | ident }} as varchar) as text
    from {{ link | ident }} l
    join {{ original | ident }} o on o.{{ row_ref | ident }} = l.{{ row_ref | ident }}
    where o.{{ physical | ident }} is not null
    {% else %}
    select value, cast(value as varchar) as text from {{ values | ident }}
    {% endif %}
),
{% if codes %}
extent as (
    {% if link is not none %}
    select max(length(text)) as longest from known
    {% else %}
    -- a label of the release is as long as its longest code
    select max(length({{ unquoted(body("cell" | ident)) }})) as longest
    from (select distinct cast({{ name | ident }} as varchar) as cell from {{ data | ident }})
    {% endif %}
),
{% endif %}
labelled as (
    {% if codes %}
    select
        value,
        {% if suffix %}
        repeat('*', longest - k.kept) || right(text, k.kept) as label
        {% else %}
        left(text, k.kept) || repeat('*', longest - k.kept) as label
        {% endif %}
    from (
        select value, text, x.longest, unnest(range(1, least(length(text) + 1, x.longest))) as kept
        from known
        cross join extent x
    ) k
    {% elif listed %}
    select k.value, h.label
    from {{ hierarchy | ident }} h
    join known k on k.value = h.value
    where h.level < {{ height | lit }}
    {% else %}
    select value, text as label from known
    {% endif %}
    union
    select value, text from known
)
{% if typed %}
select value, {{ quoted("label" | ident) }} as label from labelled
union
select value, '*' from known
{% if not codes and not listed %}
union
select k.value, s.label
from (
    select label, unnest({{ members("label" | ident) }}) as text
    from (select distinct {{ name | ident }} as label from {{ data | ident }})
    where starts_with(label, '{')
) s
join known k on k.text = s.text
{% endif %}
{% else %}
select value, label from labelled
{% endif %}

-- name: admitted
-- The bounds that nodes of one ordered column may have in addition to published values: those that
-- follow from the policy, and those of a grid between the ends of the data.
-- parameters: given: bounds that the policy tells, as lows and highs; height: level of the root;
-- built: the bounds depend on the ends of the data; period: the root is no bound
create or replace table {{ admitted | ident }} as
{% if given is not none %}
select unnest([{{ given[0] | join }}]) as lo, unnest([{{ given[1] | join }}]) as hi, cast(null as {{ type }}) as first, cast(null as {{ type }}) as last
{% elif listed is not none %}
select min({{ typed }}) as lo, max({{ typed }}) as hi, cast(null as {{ type }}) as first, cast(null as {{ type }}) as last
from {{ listed | ident }}
group by level, node
{% else %}
select distinct
    lo,
    hi,
    {% if built %}
    min(value) over () as first,
    max(value) over () as last
    {% else %}
    cast(null as {{ type }}) as first,
    cast(null as {{ type }}) as last
    {% endif %}
from {{ hierarchy | ident }}
{% if period %}
where level < {{ height | lit }}
{% endif %}
{% endif %}

-- name: cell_or_bucket
-- Cells that are not exactly one of generalized and bucketized, by class.
{% from "verify/_either" import either with context %}
{% from "verify/_verdict" import verdict with context %}
with cells as (
    select {% if group %}{{ group | ident }}{% else %}0{% endif %} as grp, {{ either() }} as either
    from {{ data | ident }}
),
classes as (select grp, count(*) as units, count(*) filter (where not either) as neither from cells group by grp),
verdicts as (select *, neither = 0 as holds from classes)
{{ verdict("units", "neither") }}

-- name: class_cells
-- Classes (of one flag pattern) whose rows do not all show the same generalized cells.
{% from "verify/_verdict" import verdict with context %}
with tuples as (
    select {{ group | ident }} as grp{% for flag in flags %}, {{ flag }} as f{{ loop.index | lit }}{% endfor %}, count(*) as n
    from {{ data | ident }}
    where {{ group | ident }} is not null
    group by {{ group | ident }}{% for flag in flags %}, {{ flag }}{% endfor %}{% for cell in cells %}, {{ cell }}{% endfor %}

),
verdicts as (
    select grp, sum(n) as units, count(*) as tuples, count(*) = 1 as holds
    from tuples
    group by grp{% for flag in flags %}, f{{ loop.index | lit }}{% endfor %}

)
{{ verdict("units", "tuples") }}

-- name: cells_alike
-- Cells of a column with which rows show different cells of a column that follows from it.
{% from "verify/_verdict" import verdict with context %}
with pairs as (
    select {% for part in of %}{{ part }} as o{{ loop.index | lit }}, {% endfor %}count(*) as n
    from {{ data | ident }}
    group by {{ of | join(", ") }}, {{ parts | join(", ") }}
),
verdicts as (
    select cast(o1 as varchar) as grp, sum(n) as units, count(*) as cells, count(*) = 1 as holds
    from pairs
    group by {% for part in of %}o{{ loop.index | lit }}{% if not loop.last %}, {% endif %}{% endfor %}

)
{{ verdict("units", "cells") }}

-- name: class_flags
-- Classes in which not all rows have the same cells in buckets (Li and He 2022, Definition 8).
{% from "verify/_verdict" import verdict with context %}
with patterns as (
    select {{ group | ident }} as grp, count(*) as n
    from {{ data | ident }}
    where {{ group | ident }} is not null
    group by {{ group | ident }}, {{ flags | join }}
),
verdicts as (select grp, sum(n) as units, count(*) as patterns, count(*) = 1 as holds from patterns group by grp)
{{ verdict("units", "patterns") }}

-- name: cell_form
-- Generalized cells that do not conform to the grammar of published cells, by class. Every
-- different cell is parsed once.
{% from "verify/_forms" import read_cells, forms with context %}
{% from "verify/_verdict" import verdict with context %}
with cells as (
    select distinct {% for part in parts %}{{ part }} as cell{{ loop.index | lit }}{% if not loop.last %}, {% endif %}{% endfor %}

    from {{ data | ident }}
    {% if column.bucket is not none %}
    where {{ column.bucket | ident }} is null
    {% endif %}
),
{{ read_cells() }},
{{ forms("read") }},
verdicts as (
    select {% if group %}d.{{ group | ident }}{% else %}0{% endif %} as grp, count(*) as malformed, false as holds
    from {{ data | ident }} d
    join forms f on not coalesce(f.well_formed, false){% for part in parts %} and f.cell{{ loop.index | lit }} is not distinct from d.{{ part }}{% endfor %}

    {% if column.bucket is not none %}
    where d.{{ column.bucket | ident }} is null
    {% endif %}
    group by 1
)
{{ verdict("malformed") }}

-- name: class_present
-- Rows that belong to no class.
{% from "verify/_verdict" import verdict with context %}
with verdicts as (
    select {{ group | ident }} as grp, 1 as units, false as holds
    from {{ data | ident }}
    where {{ group | ident }} is null
)
{{ verdict("units") }}

-- name: key_dense
-- Whether the keys of a table are the numbers from 1 to the number of its rows, each once.
{% from "verify/_verdict" import verdict with context %}
with counts as (
    select count(*) as n, count(distinct {{ key | ident }}) as different, coalesce(min({{ key | ident }}), 1) as first, coalesce(max({{ key | ident }}), 0) as last
    from {{ data | ident }}
),
verdicts as (
    select 'keys' as grp, n - different + abs(first - 1) + abs(last - n) as n, n = different and first = 1 and last = n as holds from counts
)
{{ verdict("n") }}

-- name: key_order
-- Whether the drawn numbers of a table follow the order of the source, or of its keys: their rank
-- correlation is near 0 if they were drawn, and beyond 7 standard errors once in 10^11 releases.
{% from "verify/_verdict" import verdict with context %}
with pairs as (
    select
        l.{{ key | ident }} as drawn,
        row_number() over (order by o.{{ row_ref | ident }}) as stored
        {% if own %}
        , row_number() over (order by o.{{ own | ident }}) as sorted
        {% endif %}
    from {{ link | ident }} l
    join {{ original | ident }} o on o.{{ row_ref | ident }} = l.{{ row_ref | ident }}
),
alike as (
    select 'stored' as grp, coalesce(abs(corr(drawn, stored)), 0) * sqrt(greatest(count(*) - 1, 0)) as errors, count(*) as n from pairs
    {% if own %}
    union all
    select 'sorted', coalesce(abs(corr(drawn, sorted)), 0) * sqrt(greatest(count(*) - 1, 0)), count(*) from pairs
    {% endif %}
),
verdicts as (
    select grp, case when n < 50 or errors < 7 then 0 else 1 end as n, n < 50 or errors < 7 as holds from alike
)
{{ verdict("n") }}

-- name: owned_cells
-- The rows of a table with the class and person of each, and in place of a generalized cell every
-- value that it may stand for: a number for each set of cells that admit one and the same value.
-- That is the worst case. A person with a cell that admits anything, or of which the release does
-- not say what it admits, may have any value: the row has none, as such a person proves nothing.
-- parameters: together: sets of labels, numbered, that admit one and the same value; cell, nullable:
-- the published columns
{% from "verify/_owned" import owned, shown_as with context %}
{% from "verify/_cells" import unquoted %}
with {{ owned() }},
rows_of as (
    {% for t in tables %}
    {% if t.number == number %}
    select distinct grp, person, cast({{ shown_as(t, cell) }} as varchar) as raw, {% if nullable %}{{ shown_as(t, nullable) }}{% else %}ends_with(cast({{ shown_as(t, cell) }} as varchar), ' or NULL'){% endif %} as open
    from owned{{ number | lit }}
    {% endif %}
    {% endfor %}
),
sets_of as (
    {% if together %}
    select * from (values {% for place, label in together %}({{ place | lit }}, {{ label | lit }}){% if not loop.last %}, {% endif %}{% endfor %}) s(place, label)
    {% else %}
    select 0 as place, '' as label where false
    {% endif %}
),
labels as (
    select label, {{ unquoted("label" | ident) }} as text
    from (select distinct raw as label from rows_of where raw is not null)
),
-- a label that ends or begins with stars says itself what it admits, whatever else is said of it
starred as (
    select label, rtrim(text, '*') as stem, true as front from labels where ends_with(text, '*')
    union all
    select label, ltrim(text, '*'), false from labels where starts_with(text, '*')
),
lengths as (
    select distinct front, length(stem) as n from starred where stem <> ''
),
overlapping as (
    select s.label as one, l.label as two
    from labels l
    cross join lengths n
    join starred s on s.front = n.front and length(s.stem) = n.n
        and s.stem = case when n.front then left(rtrim(l.text, '*'), n.n) else right(ltrim(l.text, '*'), n.n) end
    where s.label <> l.label and l.label not in ('*', '* or NULL')
),
agreed as (
    select distinct a.label as one, b.label as two
    from sets_of a
    join sets_of b on b.place = a.place
),
doubtful as (
    select o.one, o.two from overlapping o
    anti join agreed a on a.one = o.one and a.two = o.two
),
plain as (
    select l.label
    from labels l
    semi join sets_of s on s.label = l.label
    where l.label <> '*' and left(l.label, 1) not in ('{', '[')
        and l.label not in (select one from doubtful)
        and l.label not in (select two from doubtful)
),
cells_of as (
    select r.grp, r.person, p.label, r.raw is not null and (p.label is null or coalesce(r.open, true)) as anything
    from rows_of r
    left join plain p on p.label = r.raw
),
unbound as (
    select distinct grp, person from cells_of where anything
),
bound as (
    select c.grp, c.person, c.label from cells_of c
    anti join unbound u on u.grp is not distinct from c.grp and u.person = c.person
),
narrowed as (
    select b.grp, s.place, list(distinct b.label order by b.label) as labels
    from bound b
    join sets_of s on s.label = b.label
    group by b.grp, s.place
),
worst as (
    select grp, labels, min(place) as place from narrowed group by grp, labels
),
members as (
    select grp, place, labels, unnest(labels) as label from worst
),
counts as (
    select grp, label, count(*) as n from members group by grp, label
),
rarest as (
    select m.grp, m.place, m.labels, m.label
    from members m
    join counts c on c.grp = m.grp and c.label = m.label
    qualify row_number() over (partition by m.grp, m.place order by c.n, m.label) = 1
),
-- a set that is part of another one admits no worse value
part as (
    select distinct r.grp, r.place
    from rarest r
    join members o on o.grp = r.grp and o.label = r.label
    where len(o.labels) > len(r.labels) and list_has_all(o.labels, r.labels)
),
values_of as (
    select m.grp, m.place, m.label from members m
    anti join part p on p.grp = m.grp and p.place = m.place
)
select b.grp as {{ class_name | ident }}, b.person as {{ person_name | ident }}, v.place as {{ cell | ident }}
from bound b
left join values_of v on v.grp = b.grp and v.label = b.label
union all
select grp, person, null from unbound

-- name: owned_values
-- The rows of a table with the class and number of their persons: what its requirements judge.
{% from "verify/_owned" import owned, shown_as with context %}
with {{ owned() }}
select grp as {{ class_name | ident }}, person as {{ person_name | ident }}{% for t in tables if t.number == number %}{% for column in shown %}, {{ shown_as(t, column) }} as {{ column | ident }}{% endfor %}{% endfor %}

from owned{{ number | lit }}

-- name: references
-- Rows whose link leads to no published row of the table above.
{% from "verify/_verdict" import verdict with context %}
with verdicts as (
    select 'rows' as grp, count(*) as n, count(*) = 0 as holds
    from {{ data | ident }} d
    left join {{ above | ident }} a on a.{{ above_key | ident }} = d.{{ link | ident }}
    where a.{{ above_key | ident }} is null
)
{{ verdict("n") }}

-- name: rows_present
-- Whether there is a row at all: what can be said of a release without classes.
{% from "verify/_verdict" import verdict with context %}
with verdicts as (
    select 'release' as grp, count(*) as units, count(*) > 0 as holds
    from {{ data | ident }}
)
{{ verdict("units") }}

-- name: cells_on_grid
-- Cells with bounds that lie on no public grid, or that list some categories.
{% from "verify/_cells" import body, bound with context %}
{% from "verify/_verdict" import verdict with context %}
with cells as (
    select distinct {% for part in parts %}{{ part }} as cell{{ loop.index | lit }}{% if not loop.last %}, {% endif %}{% endfor %}

    from {{ data | ident }}
    {% if bucket is not none %}
    where {{ bucket | ident }} is null
    {% endif %}
),
{% if ordered %}
bounds as (
    {% if column.lo is not none %}
    select cell1 as lo, cell2 as hi from cells where cell1 is not null
    {% else %}
    select {{ bound("body" | ident, 1, type) }} as lo, {{ bound("body" | ident, 2, type) }} as hi
    from (select {{ body("cell1" | ident) }} as body from cells where cell1 is not null) as read
    where body <> '*'
    {% endif %}
),
verdicts as (
    select 'bound' as grp, count(*) as n, false as holds
    from bounds
    where not coalesce(lo = hi or (lo < hi and ({{ begins }}) and ({{ ends }})), false)
    having count(*) > 0
)
{% elif column.list_cells %}
every as (
    select count(distinct value) as n
    from (select unnest(cell1) as value from cells) as members
),
verdicts as (
    select 'list' as grp, count(*) as n, false as holds
    from (select distinct list_filter(cell1, lambda m: m is not null) as members from cells) as lists
    where len(members) > 1 and len(members) <> (select n from every)
    having count(*) > 0
)
{% else %}
verdicts as (
    select 'set' as grp, count(*) as n, false as holds
    from cells
    where starts_with(cell1, '{')
    having count(*) > 0
)
{% endif %}
{{ verdict("n") }}

-- name: _chosen
-- Common table expressions after `owned`, ending in `chosen`: of every person each set of at most
-- `events` rows that may be known, the empty one first. Rows are told apart by table, event cells
-- and (for a second and third row with equal cells) copy. Where rows are known with those above them
-- (`joined`), their cells are those of the whole line, and of every two rows it is known how many of the
-- rows above them they share: `shared`, in an order that does not depend on that of equal rows.
{% from "verify/_owned" import shown_as with context %}
{% macro chosen_columns() %}grp{% for place in range(1, events + 1) %}, source{{ place | lit }}, cells{{ place | lit }}{% if not joined %}, copy{{ place | lit }}{% endif %}{% endfor %}{% if joined %}, shared{% endif %}{% endmacro %}
{% macro nothing(first) %}{% for place in range(first, events + 1) %}, cast(null as integer) as source{{ place | lit }}, cast(null as bigint) as cells{{ place | lit }}{% if not joined %}, cast(null as integer) as copy{{ place | lit }}{% endif %}{% endfor %}{% if joined and first < 3 %}, cast(null as integer[]) as shared{% endif %}{% endmacro %}
{% macro places() %}{% for n in joined %}, at{{ n | lit }}{% endfor %}{% endmacro %}
{% macro in_common(a, b) %}({% for n in joined %}case when {{ a }}.at{{ n | lit }} = {{ b }}.at{{ n | lit }} then 1 else 0 end{% if not loop.last %} + {% endif %}{% endfor %}){% endmacro %}
{% macro after(a, b) %}{{ b }}.grp = {{ a }}.grp and {{ b }}.person = {{ a }}.person and ({{ b }}.source, {{ b }}.cells{% if joined %}, {{ b }}.number{% endif %}) > ({{ a }}.source, {{ a }}.cells{% if joined %}, {{ a }}.number{% endif %}){% endmacro %}
{% macro chosen() %}
{% if events %}
event_rows as (
    {% for t in tables if t.told %}
    select person, grp, {{ t.number | lit }} as source, dense_rank() over (order by {% for cell in t.above_cells %}{{ cell }}, {% endfor %}{% for column in t.told %}{{ shown_as(t, column) }}{% if not loop.last %}, {% endif %}{% endfor %}) as cells
    {%- for n in joined %}, {% if n in t.places %}at{{ n | lit }}{% else %}cast(null as bigint) as at{{ n | lit }}{% endif %}{% endfor %}

    from owned{{ t.number | lit }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
copies_of_rows as materialized (
    -- a row that is the second of its kind needs persons with two of the kind
    select person, grp, source, cells{{ places() }}, count(*) as copies
    from event_rows
    group by person, grp, source, cells{{ places() }}
),
items as materialized (
    select k.person, k.grp, k.source, k.cells, c.copy{% if joined %}{% for n in joined %}, k.at{{ n | lit }}{% endfor %}, row_number() over () as number{% endif %}

    from copies_of_rows k
    join (values {% for copy in range(1, events + 1) %}({{ copy | lit }}){% if not loop.last %}, {% endif %}{% endfor %}) c(copy) on c.copy <= k.copies
),
{% endif %}
chosen as (
    select person, grp{{ nothing(1) }} from people
    {% if events and joined %}
    union all
    select distinct person, grp, source, cells{{ nothing(2) }} from items
    {% elif events %}
    union all
    select person, grp, source, cells, copy{{ nothing(2) }} from items
    {% endif %}
    {% if events > 1 and joined %}
    union all
    select distinct a.person, a.grp, a.source, a.cells, b.source, b.cells{{ nothing(3) }}, [{{ in_common("a" | ident, "b" | ident) }}]
    from items a
    join items b on {{ after("a" | ident, "b" | ident) }}
    {% elif events > 1 %}
    union all
    select a.person, a.grp, a.source, a.cells, a.copy, b.source, b.cells, b.copy{{ nothing(3) }}
    from items a
    join items b on {{ after("a" | ident, "b" | ident) }}
    where a.copy + b.copy <= {{ events | lit }}
    {% endif %}
    {% if events > 2 and joined %}
    union all
    select distinct
        person, grp, source1, cells1, source2, cells2, source3, cells3,
        case
            when (source1, cells1) = (source2, cells2) and (source2, cells2) = (source3, cells3) then list_sort([ab, ac, bc])
            when (source1, cells1) = (source2, cells2) then [ab, least(ac, bc), greatest(ac, bc)]
            when (source2, cells2) = (source3, cells3) then [least(ab, ac), greatest(ab, ac), bc]
            else [ab, ac, bc]
        end
    from (
        select
            a.person, a.grp, a.source as source1, a.cells as cells1, b.source as source2, b.cells as cells2, c.source as source3, c.cells as cells3,
            {{ in_common("a" | ident, "b" | ident) }} as ab, {{ in_common("a" | ident, "c" | ident) }} as ac, {{ in_common("b" | ident, "c" | ident) }} as bc
        from items a
        join items b on {{ after("a" | ident, "b" | ident) }}
        join items c on {{ after("b" | ident, "c" | ident) }}
    )
    {% elif events > 2 %}
    union all
    select a.person, a.grp, a.source, a.cells, a.copy, b.source, b.cells, b.copy, c.source, c.cells, c.copy
    from items a
    join items b on {{ after("a" | ident, "b" | ident) }}
    join items c on {{ after("b" | ident, "c" | ident) }}
    where a.copy + b.copy + c.copy <= {{ events | lit }}
    {% endif %}
)
{% endmacro %}

-- name: _covers
-- Pairs (cell1, cell2, cell3, value) in which the cell does not admit the value. Every different
-- cell is parsed once.
{% from "verify/_cells" import body, bound, unquoted, members %}
{% set written = column.lo is none and not column.list_cells %}
{% set labelled = written and column.kind == "categorical" %}
{#- An original value as it is compared with cells: labels are texts. -#}
{% macro shown(original) -%}
{% if labelled %}cast(cast({{ original }} as {{ type }}) as varchar){% else %}cast({{ original }} as {{ type }}){% endif %}
{%- endmacro %}
{% macro mismatches(pairs) -%}
{% if written %}
bodies as (
    select cell1, {% if column.nullable is none %}{{ body("cell1" | ident) }}{% else %}cell1{% endif %} as body
    from (select distinct cell1 from {{ pairs | ident }})
    where cell1 is not null
),
read as (
    select
        cell1,
        body = '*' as everything,
        {% if not labelled %}
        {{ bound("body" | ident, 1, type) }} as lo,
        {{ bound("body" | ident, 2, type) }} as hi
        {% elif column.nullable is none %}
        case when starts_with(body, '{') then {{ members("body" | ident) }} end as listed,
        case when not starts_with(body, '{') then {{ unquoted("body" | ident) }} end as label
        {% else %}
        body as label
        {% endif %}
    from bodies
),
{% endif %}
mismatches as (
    select p.*
    from {{ pairs | ident }} p
    {% if column.lo is not none %}
    where not coalesce(case when p.value is null then p.cell1 is null or p.cell3 else p.value between p.cell1 and p.cell2 end, false)
    {% elif column.list_cells %}
    where not coalesce(
        case
            when p.value is null then p.cell1 is null or list_count(p.cell1) < len(p.cell1)
            else list_contains(p.cell1, p.value)
        end, false
    )
    {% else %}
    left join read r on r.cell1 = p.cell1
    where p.value is not null and not coalesce(
        r.everything
        {% if not labelled %}
        or p.value between r.lo and r.hi
        {% else %}
        or r.label = p.value
        {% if column.nullable is none %}
        or list_contains(r.listed, p.value)
        {% endif %}
        {% if nodes is not none %}
        or exists (select 1 from {{ nodes | ident }} h where cast(h.value as varchar) = p.value and h.label = r.label)
        {% endif %}
        {% endif %}
        , false
    )
    union all
    select *
    from {{ pairs | ident }}
    where value is null and cell1 is not null
        and not {% if column.nullable is none %}ends_with(cell1, ' or NULL'){% else %}coalesce(cell2, false){% endif %}

    {% endif %}
)
{%- endmacro %}

-- name: _either
-- Whether a cell is generalized or in a bucket, and not both.
{% from "verify/_cells" import quoted, unquoted %}
{% macro either() -%}
{% set named = column.name | ident if column.name is not none else none %}
{% if column.role != "semi" -%}
{{ column.bucket | ident }} is not null
{%- elif column.value is not none -%}
case when {{ column.bucket | ident }} is null then {{ column.value | ident }} is null
        {% if column.lo is not none %}
        else {{ column.lo | ident }} is null and {{ column.hi | ident }} is null
        {% else %}
        else {{ named }} is null
        {% endif %}
    end
{%- elif column.kind != "categorical" -%}
{{ column.bucket | ident }} is null or {{ named }} is null or try_cast({{ named }} as {{ type }}) is not null
{%- else -%}
{{ column.bucket | ident }} is null or {{ named }} is null or case
        when starts_with({{ named }}, '"') then {{ quoted(unquoted(named)) }} = {{ named }}
        else {{ quoted(named) }} = {{ named }}
    end
{%- endif %}
{%- endmacro %}

-- name: _multiset
-- Groups whose `published` values differ from their `originals` as multisets: both are queries of grp,
-- value and n.
{% macro same_multiset() -%}
groups as (
    select coalesce(p.grp, o.grp) as grp, coalesce(sum(abs(coalesce(p.n, 0) - coalesce(o.n, 0))), 0) as mismatches
    from published p
    full join originals o on o.grp is not distinct from p.grp and o.value is not distinct from p.value
    group by 1
),
verdicts as (select *, mismatches = 0 as holds from groups)
{%- endmacro %}

-- name: _named
-- The texts that contain a value of an identifying column.
-- It makes `named` (id, as in `texts`, which has `parts`, the words of a text): each word with those
-- that follow it, of which the first few are compared with the values.
-- parameters: identifiers: (table, words of a column with such values); most: words of the longest value that
-- is looked for; ideographs: two of them in a text
{% macro named_texts() %}
known as (
    {% for table, words in identifiers %}
    select distinct {{ words }} as parts from {{ table | ident }}
    {% if not loop.last %}
    union
    {% endif %}
    {% endfor %}
),
sought as materialized (
    select parts, parts[1] as first, len(parts) as length
    from known
    where len(parts) between 1 and {{ most | lit }} and (
        regexp_matches(array_to_string(parts, ''), {{ ideographs | lit }})
        or (
            length(array_to_string(parts, ' ')) >= 4
            and (length(array_to_string(parts, ' ')) >= 5 or regexp_matches(array_to_string(parts, ' '), '[^0-9]'))
        )
    )
),
numbered as (
    select id, unnest(parts) as word, unnest(range(1, len(parts) + 1)) as place from texts
),
followed as (
    select
        id, word,
        array_agg(word) over (
            partition by id order by place rows between current row and {{ (most - 1) | lit }} following
        ) as ahead
    from numbered
),
starts as (
    select f.id, f.ahead[1:l.length] as parts
    from followed f
    join (select distinct first, length from sought) l on l.first = f.word
),
named as (
    select distinct b.id
    from starts b
    join sought s on s.parts = b.parts
)
{% endmacro %}

-- name: _spanned
-- Parts of generalized cells that no published row has, from pairs (cell1, cell2, cell3, dealt,
-- value): a member of a set that is none of the published values, a bound that lies beyond all of
-- them and does not follow from the policy, NULL where none is published.
{% from "verify/_cells" import body, bound, members %}
{% set written = column.lo is none and not column.list_cells %}
{% macro mismatches(pairs) -%}
cells as (
    select distinct
        {% for part in parts %}
        {% if written and loop.first %}cast(cell1 as varchar) as cell1{% else %}cell{{ loop.index | lit }}{% endif %}{% if not loop.last %}, {% endif %}

        {% endfor %}
    from {{ pairs | ident }}
    where not dealt
),
{% if column.list_cells %}
shown as (select unnest(cell1) as value from cells),
mismatches as (
    select 'member' as what
    from (select distinct value from shown) s
    where not exists (select 1 from {{ pairs | ident }} p where p.value = s.value or (p.value is null and s.value is null))
)
{% else %}
{% if column.kind == "categorical" %}
shown as (
    select distinct unnest({{ members("body" | ident) }}) as value
    from (select {% if column.nullable is none %}{{ body("cell1" | ident) }}{% else %}cell1{% endif %} as body from cells)
    where starts_with(body, '{')
),
mismatches as (
    select 'member' as what
    from shown s
    where not exists (select 1 from {{ pairs | ident }} p where cast(cast(p.value as {{ type }}) as varchar) = s.value)
{% else %}
bounds as (
    {% if column.lo is not none %}
    select cell1 as lo, cell2 as hi from cells where cell1 is not null
    {% else %}
    select {{ bound("body" | ident, 1, type) }} as lo, {{ bound("body" | ident, 2, type) }} as hi
    from (select {{ body("cell1" | ident) }} as body from cells)
    where body <> '*'
    {% endif %}
),
extent as (select min(value) as lo, max(value) as hi from {{ pairs | ident }}),
{% if admitted is not none %}
free as (
    select a.lo, a.hi
    from {{ admitted | ident }} a
    cross join extent x
    where a.first is null or (a.first = x.lo and a.last = x.hi)
),
{% endif %}
mismatches as (
    select 'bound' as what
    from bounds b
    cross join extent x
    where {{ below }} {% if admitted is not none %}and b.lo not in (select lo from free where lo is not null){% endif %}

    union all
    select 'bound' as what
    from bounds b
    cross join extent x
    where {{ above }} {% if admitted is not none %}and b.hi not in (select hi from free where hi is not null){% endif %}

{% endif %}
    union all
    select 'NULL'
    from (select count(*) as n from cells where {% if column.lo is not none %}cell1 is not null and cell3{% elif column.nullable is not none %}cell1 is not null and cell2{% else %}ends_with(cell1, ' or NULL'){% endif %}) c
    where c.n > 0 and not exists (select 1 from {{ pairs | ident }} p where p.value is null)
)
{% endif %}
{%- endmacro %}

-- name: source_together
-- Values of the source that published cells admit which the release does not list together: then a
-- rule on the column would be judged of cells as if they were disjoint.
-- parameters: together: sets of labels, numbered, that admit one and the same value; cell: the
-- published column; typed: labels are listed as they are written
{% from "verify/_cells" import unquoted %}
{% from "verify/_verdict" import verdict with context %}
with published as (
    select label, {% if typed %}label{% else %}{{ unquoted("label" | ident) }}{% endif %} as text
    from (select distinct cast({{ cell | ident }} as varchar) as label from {{ link | ident }})
    where label not in ('*', '* or NULL')
),
admitting as (
    select n.value, list(distinct p.label) as labels
    from published p
    join {{ nodes | ident }} n on n.label = p.text
    group by n.value
),
listed as (
    {% if together %}
    select * from (values {% for place, label in together %}({{ place | lit }}, {{ label | lit }}){% if not loop.last %}, {% endif %}{% endfor %}) s(place, label)
    {% else %}
    select 0 as place, '' as label where false
    {% endif %}
),
sets as (
    select place, list(label) as labels from listed group by place
),
counts as (
    select label, count(*) as n from listed group by label
),
rarest as (
    select a.value, a.labels, u.label
    from admitting a, unnest(a.labels) as u(label)
    left join counts c on c.label = u.label
    qualify row_number() over (partition by a.value order by coalesce(c.n, 0), u.label) = 1
),
together as (
    select distinct r.value
    from rarest r
    join listed l on l.label = r.label
    join sets s on s.place = l.place
    where list_has_all(s.labels, r.labels)
),
verdicts as (
    select 'values' as grp, count(*) as n, count(*) = 0 as holds
    from admitting a
    anti join together t on t.value = a.value
)
{{ verdict("n") }}

-- name: source_rows
-- Published rows that come from no source row, or from the same one as another, and whether published and
-- suppressed rows add up.
{% from "verify/_verdict" import verdict with context %}
with counts as (
    select
        (select count(*) from {{ link | ident }}) as published,
        (select count(*) from {{ original | ident }}) as source,
        (
            select count(*)
            from {{ original | ident }} o
            where o.{{ row_ref | ident }} in (select l.{{ row_ref | ident }} from {{ link | ident }} l)
        ) as stood_for
),
differences as (
    -- each published row takes one row of the source: a published row left over has none, or one already taken
    select 'row without original or twice' as grp, published - stood_for as n from counts
    union all
    select 'rows missing or too many', abs(published + {{ suppressed }} - source) from counts
),
verdicts as (select *, n <= 0 as holds from differences)
{{ verdict("n") }}

-- name: source_link
-- Rows that the view and the staged rows do not share, as multisets.
{% from "verify/_verdict" import verdict with context %}
with both_sides as (
    select {{ columns | join }}, count(*) as "anonymizer: staged", 0 as "anonymizer: published"
    from {{ link | ident }}
    group by {{ columns | join }}
    union all
    select {{ columns | join }}, 0, count(*)
    from {{ data | ident }}
    group by {{ columns | join }}
),
different as (
    select sum("anonymizer: staged") - sum("anonymizer: published") as surplus
    from both_sides
    group by {{ columns | join }}
    having sum("anonymizer: staged") <> sum("anonymizer: published")
),
sides as (
    select 'only staged' as grp, coalesce(sum(surplus) filter (where surplus > 0), 0) as n from different
    union all
    select 'only published', coalesce(-sum(surplus) filter (where surplus < 0), 0) from different
),
verdicts as (select *, n = 0 as holds from sides)
{{ verdict("n") }}

-- name: source_equal
-- Rows in which a kept column was changed, by class.
{% from "verify/_verdict" import verdict with context %}
with cells as (
    select
        {% if group %}l.{{ group | ident }}{% else %}0{% endif %} as grp,
        l.{{ column.name | ident }} is distinct from cast(o.{{ physical | ident }} as {{ type }}) as changed
    from {{ link | ident }} l
    join {{ original | ident }} o on o.{{ row_ref | ident }} = l.{{ row_ref | ident }}
),
classes as (select grp, count(*) as units, count(*) filter (where changed) as changed from cells group by grp),
verdicts as (select *, changed = 0 as holds from classes)
{{ verdict("units", "changed") }}

-- name: source_units
-- Classes whose rows have fewer different values than required in a column that is not published.
{% from "verify/_verdict" import verdict with context %}
with members as (
    select l.{{ group | ident }} as grp, o.{{ physical | ident }} as unit
    from {{ link | ident }} l
    left join {{ original | ident }} o on o.{{ row_ref | ident }} = l.{{ row_ref | ident }}
),
classes as (select grp, count(*) as units, count(distinct unit) as achieved from members group by grp),
verdicts as (select *, achieved >= {{ l | lit }} as holds from classes)
{{ verdict("units") }}

-- name: source_covers
-- Generalized cells that do not admit the original value of their row, by class. Every different
-- cell is compared once with every different value.
{% from "verify/_covers" import shown, mismatches with context %}
{% from "verify/_verdict" import verdict with context %}
{% set value = shown(place | ident) %}
with pairs as (
    select
        {% for part in parts %}
        {{ part }} as cell{{ loop.index | lit }},
        {% endfor %}
        {{ value }} as value
    from {{ compared | ident }}
    {% if column.bucket is not none %}
    where {{ column.bucket | ident }} is null
    {% endif %}
    group by all
),
{{ mismatches("pairs") }},
verdicts as (
    select {% if group %}l.{{ group | ident }}{% else %}0{% endif %} as grp, cast(sum(l.{{ rows | ident }}) as bigint) as uncovered, false as holds
    from {{ compared | ident }} l
    join mismatches s on s.value is not distinct from {{ value }}
        {% for part in parts %}
        and s.cell{{ loop.index | lit }} is not distinct from l.{{ part }}
        {% endfor %}
    {% if column.bucket is not none %}
    where l.{{ column.bucket | ident }} is null
    {% endif %}
    group by 1
)
{{ verdict("uncovered") }}

-- name: source_spanned
-- Parts of generalized cells that occur in no published row: members of sets, bounds, NULL.
{% from "verify/_spanned" import mismatches with context %}
{% from "verify/_verdict" import verdict with context %}
with pairs as (
    select distinct
        {% for part in parts %}
        {{ part }} as cell{{ loop.index | lit }},
        {% endfor %}
        {% if column.bucket is not none %}
        {{ column.bucket | ident }} is not null as dealt,
        {% else %}
        false as dealt,
        {% endif %}
        cast({{ place | ident }} as {{ type }}) as value
    from {{ compared | ident }}
),
{{ mismatches("pairs") }},
verdicts as (
    select what as grp, count(*) as n, false as holds from mismatches group by 1
)
{{ verdict("n") }}

-- name: source_values
-- Groups whose published values of a separated column are not, as a multiset, the originals of
-- their rows; with persons, each person's value counts once.
{% from "verify/_multiset" import same_multiset %}
{% from "verify/_verdict" import verdict with context %}
with published as (
    select {{ group | ident }} as grp, {{ column.name | ident }} as value, count(*) as n
    from {{ values_table | ident }}
    group by all
),
originals as (
    select l.{{ group | ident }} as grp, cast(o.{{ physical | ident }} as {{ type }}) as value, {% if person %}count(distinct l.{{ person | ident }}){% else %}count(*){% endif %} as n
    from {{ link | ident }} l
    join {{ original | ident }} o on o.{{ row_ref | ident }} = l.{{ row_ref | ident }}
    group by all
),
{{ same_multiset() }}
{{ verdict("mismatches") }}

-- name: source_flags
-- Cells whose values are sensitive (condition true or NULL) and that are not in a bucket, by class.
{% from "verify/_flags" import mismatching_rows with context %}
{% from "verify/_verdict" import verdict with context %}
with {% call mismatching_rows() %}l.{{ column.bucket | ident }} is null and coalesce(o.{{ flag | ident }}, true){% endcall %}

{{ verdict("units", "mismatches") }}

-- name: source_unflagged
-- Cells in a bucket whose values are not sensitive (condition false), by class.
{% from "verify/_flags" import mismatching_rows with context %}
{% from "verify/_verdict" import verdict with context %}
with {% call mismatching_rows() %}l.{{ column.bucket | ident }} is not null and not coalesce(o.{{ flag | ident }}, true){% endcall %}

{{ verdict("units", "mismatches") }}

-- name: source_bucket
-- Buckets whose published values are not, as a multiset, the originals of their rows.
{% from "verify/_cells" import value %}
{% from "verify/_multiset" import same_multiset %}
{% from "verify/_verdict" import verdict with context %}
with published as (
    select {{ column.bucket | ident }} as grp, {{ value(column, type) }} as value, count(*) as n
    from {{ link | ident }}
    where {{ column.bucket | ident }} is not null
    group by all
),
originals as (
    select l.{{ column.bucket | ident }} as grp, cast(o.{{ physical | ident }} as {{ type }}) as value, count(*) as n
    from {{ link | ident }} l
    join {{ original | ident }} o on o.{{ row_ref | ident }} = l.{{ row_ref | ident }}
    where l.{{ column.bucket | ident }} is not null
    group by all
),
{{ same_multiset() }}
{{ verdict("mismatches") }}

-- name: side_by_side
-- Generalized cells beside the original values of their rows, equal ones once: rows are joined to
-- their originals here, once for all columns. For a bucketized cell there is only the original,
-- which its bucket publishes.
create or replace table {{ compared | ident }} as
select
    {% if group %}
    l.{{ group | ident }},
    {% endif %}
    {% for c in columns %}
    {% if c.bucket is none %}
    {% for part in c.parts %}
    l.{{ part | ident }},
    {% endfor %}
    {% else %}
    case when l.{{ c.bucket | ident }} is not null then 0 end as {{ c.bucket | ident }},
    {% for part in c.parts %}
    case when l.{{ c.bucket | ident }} is null then l.{{ part | ident }} end as {{ part | ident }},
    {% endfor %}
    {% endif %}
    o.{{ c.physical | ident }} as {{ c.place | ident }},
    {% endfor %}
    count(*) as {{ rows | ident }}
from {{ link | ident }} l
join {{ original | ident }} o on o.{{ row_ref | ident }} = l.{{ row_ref | ident }}
group by all

-- name: source_persons
-- Person numbers that belong to two persons, and persons with two numbers.
{% from "verify/_verdict" import verdict with context %}
with pairs as (
    select distinct l.{{ person | ident }} as number, o.{{ physical | ident }} as person
    from {{ link | ident }} l
    join {{ original | ident }} o on o.{{ row_ref | ident }} = l.{{ row_ref | ident }}
),
shared as (
    select 'numbers' as grp, (select count(*) from (select 1 from pairs group by number having count(*) > 1)) as n
    union all
    select 'persons', (select count(*) from (select 1 from pairs where person is not null group by person having count(*) > 1))
),
verdicts as (select *, n = 0 as holds from shared)
{{ verdict("n") }}

-- name: source_links
-- Published rows whose link leads to another row than that of the source does.
{% from "verify/_verdict" import verdict with context %}
with verdicts as (
    select 'rows' as grp, count(*) as n, count(*) = 0 as holds
    from {{ link | ident }} l
    join {{ original | ident }} o on o.{{ row_ref | ident }} = l.{{ row_ref | ident }}
    left join {{ above | ident }} a on a.{{ row_ref | ident }} = o.above
    where a.{{ above_key | ident }} is distinct from l.{{ link_column | ident }}
)
{{ verdict("n") }}

-- name: _cells
-- Properties of a cell that can be read from its text without parsing it.
{% from "verify/_cells" import quoted %}
{#- Those of a column's different values that need quotes in a cell of text, with their labels. -#}
{% macro quoted_of(values) -%}
select value, {{ quoted("text" | ident) }} as label
from (select value, cast(value as varchar) as text from {{ values | ident }})
where text <> {{ quoted("text" | ident) }}
{%- endmacro %}
{#- Whether a text is a sorted set whose members need no quotes, by a pattern and a sort. -#}
{% macro plain_set(x) -%}
{% set inner %}substr({{ x }}, 2, length({{ x }}) - 2){% endset %}
{% set member = '[^,{}\\[\\]" ](?:[^,{}\\[\\]"]*[^,{}\\[\\]" ])?' -%}
regexp_full_match({{ x }}, {{ ("\\{" ~ member ~ "(?:, " ~ member ~ ")+\\}") | lit }})
        and not contains(', ' || {{ inner }} || ',', ', NULL,') and not contains(', ' || {{ inner }} || ',', ', *,')
        and not contains({{ inner }} || ',', ' or NULL,')
        and list_sort(list_distinct(string_split({{ inner }}, ', '))) = string_split({{ inner }}, ', ')
{%- endmacro %}
{#- Whether a value without a comma is a member of a set without quoted members. -#}
{% macro named(cell) -%}
not contains({{ cell }}, '"') and not contains(value, ',') and value = trim(value) and starts_with({{ cell }}, '{')
        and contains(', ' || substr({{ cell }}, 2, strpos({{ cell }}, '}') - 2) || ', ', ', ' || value || ', ')
{%- endmacro %}

-- name: pairs
-- The different pairs of published cells and original values, for all columns at once, so that
-- rows are joined only once. For cells that may be in buckets, only whether they are and whether
-- they should be.
create or replace table {{ pairs | ident }} as
with side_by_side as (
    select
        {% for c in columns %}
        {% if c.bucket is none %}
        {% for part in c.parts %}
        l.{{ part }} as {{ c.cells[loop.index0] }},
        {% endfor %}
        o.{{ c.physical | ident }} as {{ c.value }}{% if not loop.last %},{% endif %}

        {% else %}
        l.{{ c.bucket | ident }} is not null as {{ c.dealt }},
        coalesce(o.{{ c.flag | ident }}, true) as {{ c.sensitive }}{% if not loop.last %},{% endif %}

        {% endif %}
        {% endfor %}
    from {{ link | ident }} l
    join {{ original | ident }} o on o.{{ row_ref | ident }} = l.{{ row_ref | ident }}
)
select
    {% for c in columns %}
    {% if c.bucket is none %}
    {{ c.read | join }}, {{ c.value }}, grouping({{ c.value }}) as {{ c.other }}{% if not loop.last %},{% endif %}

    {% else %}
    {{ c.dealt }}, {{ c.sensitive }}, grouping({{ c.sensitive }}) as {{ c.unlike }}{% if not loop.last %},{% endif %}

    {% endif %}
    {% endfor %}
from side_by_side
group by grouping sets (
    {% for c in columns %}
    ({% if c.bucket is none %}{{ c.cells | join }}, {{ c.value }}{% else %}{{ c.dealt }}, {{ c.sensitive }}{% endif %}){% if not loop.last %},{% endif %}

    {% endfor %}
)

-- name: quoted
-- Of a column's different values, whether one has to be quoted in a cell of text.
{% from "fast/_cells" import quoted_of %}
select exists ({{ quoted_of(values) }})

-- name: staged
-- Whether the staged rows are the published ones, each of them stands for a different row of the
-- source, and has that row's values in the columns that are published unchanged: 0 proves it.
-- Compares sums of 64-bit digests, which are equal by chance once in 2^64. Rows are hashed twice,
-- since a hash combines its last column by an exclusive or only.
-- parameters: kept: columns published unchanged; rest: the other columns; both as a digest takes them
{% from "fast/_cells" import quoted_of %}
{% macro cell(c, side) -%}
{% if c.values is not none and side == "original" %}coalesce({{ c.quoted }}.label, {{ c.original }}){% else %}{{ c[side] }}{% endif %}
{%- endmacro %}
{% macro values(side) -%}
{% if kept %}hash({% for c in kept %}{{ cell(c, side) }}{% if not loop.last %}, {% endif %}{% endfor %}){% else %}0{% endif %}
{%- endmacro %}
{% macro digest(first, side) -%}
sum(cast(hash(hash({% if first %}{{ first | join }}, {% endif %}{{ values(side) }})) as hugeint))
{%- endmacro %}
with staged as (
    select
        count(*) as n,
        {{ digest(rest, "published") }} as shown,
        {{ digest([row_ref | ident], "published") }} as stands
    from {{ link | ident }}
),
published as (
    select count(*) as n, {{ digest(rest, "published") }} as shown from {{ data | ident }}
),
own as (
    select count(*) as n, {{ digest([row_ref | ident], "original") }} as stands
    from {{ original | ident }} o
    {% for c in kept if c.values is not none %}
    left join ({{ quoted_of(c.values) }}) {{ c.quoted }} on {{ c.quoted }}.value = o.{{ c.physical | ident }}
    {% endfor %}
    {% if suppressed %}
    where {{ row_ref | ident }} in (select {{ row_ref | ident }} from {{ link | ident }})
    {% endif %}
)
select count(*)
from staged s
cross join published p
cross join own o
where s.n <> p.n or s.shown is distinct from p.shown
    or s.n <> o.n or s.stands is distinct from o.stands
    {% if suppressed %}
    or s.n + {{ suppressed | lit }} <> (select count(*) from {{ original | ident }})
    {% endif %}

-- name: separated
-- Whether the published values of separated columns are, group by group, the originals of the
-- rows: 0 proves it. Compares sums of 64-bit digests of (group, value), for all columns from one
-- join.
{% macro digest(value, staged=false) -%}
sum(cast(hash(hash({% if staged %}l.{% endif %}{{ group | ident }}, {{ value }})) as hugeint))
{%- endmacro %}
with own as (
    select
        count(*) as n
        {% for c in separated %}
        , {{ digest(c.original, staged=true) }} as d{{ loop.index | lit }}
        {% endfor %}
    from {{ link | ident }} l
    join {{ original | ident }} o on o.{{ row_ref | ident }} = l.{{ row_ref | ident }}
)
{% for c in separated %}
, values_{{ loop.index | lit }} as (
    select count(*) as n, {{ digest(c.published) }} as d from {{ values_tables[loop.index0] | ident }}
)
{% endfor %}
select count(*)
from own
{% for c in separated %}
cross join values_{{ loop.index | lit }}
{% endfor %}
where
    {% for c in separated %}
    {% if not loop.first %}or {% endif %}values_{{ loop.index | lit }}.n <> own.n
    or values_{{ loop.index | lit }}.d is distinct from own.d{{ loop.index | lit }}
    {% endfor %}

-- name: cell_or_bucket
-- Cells that are not exactly one of generalized and bucketized: 0 proves cell_or_bucket. If the
-- text alone decides, every different text is checked once.
{% from "verify/_either" import either with context %}
select count(*)
{% if column.role == "semi" and column.value is none %}
from (
    select distinct {{ column.name | ident }}, 0 as {{ column.bucket | ident }}
    from {{ data | ident }}
    where {{ column.bucket | ident }} is not null
)
{% else %}
from {{ data | ident }}
{% endif %}
where not ({{ either() }})

-- name: group_sizes
-- Whether the digests of the groups of rows and of values differ in their sums, where rows count:
-- 0 proves group_sizes.
{% macro digest(rows) -%}
select row(count(*), count({{ group | ident }}), sum(cast(hash(hash({{ group | ident }})) as hugeint))) from {{ rows | ident }}
{%- endmacro %}
select ({{ digest(data) }}) is distinct from ({{ digest(values_table) }})
    or exists (select 1 from {{ data | ident }} where {{ group | ident }} is null)

-- name: tuples
-- The different published tuples of every class, with their number of rows: read once, in place of
-- the rows, by all checks of classes and cells. Bucketized cells are NULL.
create or replace table {{ tuples | ident }} as
select {{ shown | join }}, count(*) as {{ weight | ident }}
from {{ data | ident }}
group by all

-- name: cell_form
-- Different cells of the tuples that are not well formed: 0 proves cell_form. A set whose text
-- shows that it is well formed is not parsed.
{% from "verify/_forms" import read_cells, forms with context %}
{% from "fast/_cells" import plain_set %}
{% set sets = column.lo is none and column.kind == "categorical" %}
with cells as (
    select distinct {% for part in parts %}{{ part }} as cell{{ loop.index | lit }}{% if not loop.last %}, {% endif %}{% endfor %}

    from {{ data | ident }}
    {% if column.bucket is not none %}
    where {{ column.bucket | ident }} is null
    {% endif %}
),
{{ read_cells() }},
{% if sets %}
unproven as (select * from read where not coalesce({{ plain_set("body" | ident) }}, false)),
{% endif %}
{{ forms("unproven" if sets else "read") }}
select count(*) from forms where not coalesce(well_formed, false)

-- name: values
-- How often every value of a column occurs in every class or bucket, including NULL: counted once,
-- for all checks that need it.
{% from "verify/_value_counts" import counting with context %}
create or replace table {{ values | ident }} as
{{ counting() }}

-- name: source_covers
-- Different pairs of a cell and an original value that the cell does not admit: 0 proves
-- source_covers. Cells that may be in buckets are joined to their originals here.
{% from "verify/_covers" import shown, mismatches with context %}
{% from "fast/_cells" import named %}
{% set sets = column.lo is none and not column.list_cells and column.kind == "categorical" and column.nullable is none and nodes is none %}
{% set joined %}o.{{ physical | ident }}{% endset %}
with pairs as (
    {% if column.bucket is none %}
    select
        {% for cell in paired.cells %}
        {{ cell }} as cell{{ loop.index | lit }},
        {% endfor %}
        {{ shown(paired.value) }} as value
    from {{ pairs | ident }}
    where {{ paired.other }} = 0
    {% else %}
    select distinct
        {% for part in parts %}
        l.{{ part }} as cell{{ loop.index | lit }},
        {% endfor %}
        {{ shown(joined) }} as value
    from {{ link | ident }} l
    join {{ original | ident }} o on o.{{ row_ref | ident }} = l.{{ row_ref | ident }}
    where l.{{ column.bucket | ident }} is null
    {% endif %}
),
{% if sets %}
-- a pair that the text decides need not be parsed
unnamed as materialized (
    select * from pairs where not coalesce({{ named("cell1" | ident) }}, false)
),
{% endif %}
{{ mismatches("unnamed" if sets else "pairs") }}
select count(*) from mismatches

-- name: source_spanned
-- Parts of generalized cells that occur in no published row: 0 proves source_spanned. Cells that may be
-- in buckets are joined to their originals here.
{% from "verify/_spanned" import mismatches with context %}
with pairs as (
    {% if column.bucket is none %}
    select distinct
        {% for cell in paired.cells %}
        {{ cell }} as cell{{ loop.index | lit }},
        {% endfor %}
        false as dealt,
        cast({{ paired.value }} as {{ type }}) as value
    from {{ pairs | ident }}
    where {{ paired.other }} = 0
    {% else %}
    select distinct
        {% for part in parts %}
        l.{{ part }} as cell{{ loop.index | lit }},
        {% endfor %}
        l.{{ column.bucket | ident }} is not null as dealt,
        cast(o.{{ physical | ident }} as {{ type }}) as value
    from {{ link | ident }} l
    join {{ original | ident }} o on o.{{ row_ref | ident }} = l.{{ row_ref | ident }}
    {% endif %}
),
{{ mismatches("pairs") }}
select count(*) from mismatches

-- name: source_flags
-- Pairs of generalized cells with values that are sensitive: 0 proves source_flags.
select count(*) from {{ pairs | ident }} where {{ paired.unlike }} = 0 and not {{ paired.dealt }} and {{ paired.sensitive }}

-- name: source_unflagged
-- Pairs of cells in buckets with values that are not sensitive: 0 proves source_unflagged.
select count(*) from {{ pairs | ident }} where {{ paired.unlike }} = 0 and {{ paired.dealt }} and not {{ paired.sensitive }}

-- name: source_bucket
-- Whether the sums of the digests of (bucket, value) differ between rows and originals: 0 proves
-- source_bucket, provided that every row stands for one original and no two for the same.
{% from "verify/_cells" import value %}
with dealt as (
    select {{ column.bucket | ident }} as grp, {{ value(column, type) }} as value, {{ row_ref | ident }} as place
    from {{ link | ident }}
    where {{ column.bucket | ident }} is not null
),
digests as (
    select
        sum(cast(hash(hash(d.grp, d.value)) as hugeint)) as published,
        sum(cast(hash(hash(d.grp, cast(o.{{ physical | ident }} as {{ type }}))) as hugeint)) as original
    from dealt d
    left join {{ original | ident }} o on o.{{ row_ref | ident }} = d.place
)
select count(*) from digests where published <> original

-- name: columns
-- Counts of every column, one row each: values, NULLs, zeros, lengths of text, and different values in
-- which a frequent name of a person is a word, whatever digits or accents it has. Of texts in scripts
-- without spaces, the first sign or two are words as well. No values.
-- parameters: columns; names: frequent ones
with rows_read as (select * from {{ relation }})
{% if names %}
, known as (
    select distinct strip_accents(name) as word from (select unnest([{{ names | lits | join }}]) as name) as listed
)
{% endif %}
{% for column in columns %}
{% if not loop.first %}
union all
{% endif %}
select
    {{ loop.index | lit }} as number,
    count(*) as n,
    count({{ column.name }}) as known,
    {% if column.countable %}
    count(distinct {{ column.name }}) as different,
    {% else %}
    cast(null as bigint) as different,
    {% endif %}
    {% if column.text %}
    avg(length({{ column.name }})) as mean_length,
    avg(case when regexp_matches({{ column.name }}, '^[^@\s]+@[^@\s]+\.[^@\s]+$') then 1.0 else 0.0 end) as like_mail,
    {% else %}
    cast(null as double) as mean_length,
    cast(0 as double) as like_mail,
    {% endif %}
    {% if column.countable %}
    (select max(m) from (select count(*) as m from rows_read where {{ column.name }} is not null group by {{ column.name }})) as commonest,
    {% else %}
    cast(null as bigint) as commonest,
    {% endif %}
    {% if column.number %}
    count(*) filter (where {{ column.name }} = 0) as zeros,
    {% if column.fractional %}
    count(*) filter (where {{ column.name }} <> floor({{ column.name }})) as parts,
    {% else %}
    cast(0 as bigint) as parts,
    {% endif %}
    {% else %}
    cast(null as bigint) as zeros,
    cast(null as bigint) as parts,
    {% endif %}
    {% if column.endless %}
    count(*) filter (where not isfinite({{ column.name }})) as endless,
    {% else %}
    cast(0 as bigint) as endless,
    {% endif %}
    {% if column.text %}
    max(length({{ column.name }})) as longest,
    avg(case when regexp_matches({{ column.name }}, '^[0-9]{4}-[0-9]{2}-[0-9]{2}$') then 1.0 else 0.0 end) as like_day,
    avg(case when regexp_matches({{ column.name }}, '^[A-Z0-9.-]*[0-9][A-Z0-9.-]*$') then 1.0 else 0.0 end) as like_code,
    avg(case when regexp_matches({{ column.name }}, '^-?[0-9]{1,3}(([.][0-9]{3})*,|(,[0-9]{3})*[.])[0-9]+$|^-?[0-9]+[.,][0-9]+$') then 1.0 else 0.0 end) as like_decimal,
    avg(case when regexp_matches({{ column.name }}, '^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2}))$') then 1.0 else 0.0 end) as like_date,
    avg(case when regexp_matches({{ column.name }}, '^[A-Za-z]{1,3}$') then 1.0 else 0.0 end) as like_label,
    {% else %}
    cast(null as bigint) as longest,
    cast(0 as double) as like_day,
    cast(0 as double) as like_code,
    cast(0 as double) as like_decimal,
    cast(0 as double) as like_date,
    cast(0 as double) as like_label,
    {% endif %}
    {% if column.named %}
    (
        select count(distinct value)
        from (
            select value, unnest(list_concat(
                string_split_regex(strip_accents(lower(value)), '[^\p{L}]+'),
                case when regexp_full_match(value, '[\x{3040}-\x{30ff}\x{3400}-\x{9fff}\x{ac00}-\x{d7a3}]{2,5}')
                    then [left(value, 1), left(value, 2)] else [] end
            )) as word
            from (select cast({{ column.name }} as varchar) as value from rows_read group by 1) as different
            where length(value) <= 60
        ) as words
        where word in (select word from known)
    ) as names,
    {% else %}
    cast(0 as bigint) as names,
    {% endif %}
    {% if column.early %}
    count(*) filter (where {{ column.early }}) as early,
    {% else %}
    cast(0 as bigint) as early,
    {% endif %}
    {% if column.number %}
    (
        select try_cast(floor(log10(nullif(max(value) - min(value), 0))) as bigint)
        from (select cast({{ column.name }} as double) as value from rows_read) as numbers
        where isfinite(value)
    ) as reach
    {% else %}
    cast(null as bigint) as reach
    {% endif %}
from rows_read
{% endfor %}
order by 1

-- name: pairs
-- The number of distinct pairs of values of two columns, NULL being a value. No values.
with rows_read as (select * from {{ relation }})
{% for pair in pairs %}
{% if not loop.first %}
union all
{% endif %}
select
    {{ loop.index | lit }} as number,
    (select count(*) from (select distinct {{ pair.first }}, {{ pair.second }} from rows_read)) as together
{% endfor %}
order by 1

-- name: unmatched_keys
-- How many different values of a column do not occur in a key, pair by pair. No values are returned.
{% for pair in pairs %}
{% if not loop.first %}
union all
{% endif %}
select
    {{ loop.index | lit }} as number,
    count(distinct t.{{ pair.column }}) as unmatched
from {{ pair.table }} t
where t.{{ pair.column }} is not null
    and not exists (select 1 from {{ pair.to }} k where k.{{ pair.key }} = t.{{ pair.column }})
{% endfor %}
order by 1

-- name: varying
-- How many persons have rows that differ in one of these columns.
select count(*) from (
    select 1
    from {{ relation }}
    group by {{ person }}
    having {% for column in columns %}{% if not loop.first %} or {% endif %}count(distinct {{ column }}) > 1 or count({{ column }}) not in (0, count(*)){% endfor %}

)

-- name: catalog
-- Tables and views of a database, and registered frames: names only.
select database_name, schema_name, table_name, false as is_view
from duckdb_tables()
where database_name = {{ catalog }} and not internal
union all
select database_name, schema_name, view_name, true
from duckdb_views()
where database_name in ({{ catalog }}, 'temp') and not internal
order by 1, 2, 3

-- name: constraints
-- Keys and links that a database declares, with their columns.
select
    schema_name,
    table_name,
    constraint_type,
    constraint_column_names as column_names,
    referenced_table,
    referenced_column_names as referenced_columns
from duckdb_constraints()
where database_name = {{ catalog }}
    and constraint_type in ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
order by schema_name, table_name, constraint_type, constraint_index

-- name: crossing_links
-- In how many rows of a table two paths of links lead to different persons. No values.
select count(*) as crossing
from {{ table }} t
{% for join in joins %}
join {{ join.table }} {{ join.name }} on {{ join.name }}.{{ join.key }} = {{ join.below }}.{{ join.column }}
{% endfor %}
where {{ ends[0].name }}.{{ ends[0].column }} <> {{ ends[1].name }}.{{ ends[1].column }}

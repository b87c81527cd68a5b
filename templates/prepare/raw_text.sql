-- name: population_places
-- The positions of the population's values of one column in the domain of the table.
create or replace table {{ places | ident }} as
with members as (
    select distinct {{ value }} as value from {{ population | ident }}
),
known as (
    select * from {{ domain | ident }} where code > 0
)
select
    m.value,
    {% if attribute.ordered %}
    case when m.value is null then 0 when k.code is null then 1 when m.value = k.value then 2 * k.code else 2 * k.code + 1 end as place
    {% else %}
    case when m.value is null then 0 else coalesce(k.code, -2) end as place
    {% endif %}
    {% for level in levels %}
    , k.{{ level.a }}
    {% endfor %}
from members m
{% if attribute.ordered %}asof left join known k on m.value >= k.value{% else %}left join known k on k.value = m.value{% endif %}

-- name: population_tuples
-- The population's tuples as places in the domains of the table.
create or replace table {{ tuples | ident }} as
select
    row_number() over () as tuple,
    p.members
    {% for one in ranks %}
    , p{{ one.index | lit }}.place as p{{ one.index | lit }}
    {% for level in one.levels %}
    , p{{ one.index | lit }}.{{ level.a }} as p{{ one.index | lit }}_{{ level.number | lit }}
    {% endfor %}
    {% endfor %}
from {{ population | ident }} p
{% for one in ranks %}
join {{ one.places | ident }} p{{ one.index | lit }} on p{{ one.index | lit }}.value is not distinct from p.{{ one.value }}
{% endfor %}

-- name: forget
-- Empty a table that no later step reads, so that its memory is free.
create or replace table {{ spent | ident }} as
select * from {{ spent | ident }} where false

-- name: population
-- The population read once: its distinct quasi-identifiers, with how many members have them.
create or replace table {{ population | ident }} as
select
    {% for value, name in columns %}
    {{ value }} as {{ name }},
    {% endfor %}
    {% if person %}count(distinct {{ person | ident }}){% else %}count(*){% endif %} as members
from {{ relation }}
group by all

-- name: suspects
-- Published data that may identify a person: values that may have the form of an identifier,
-- columns named like one, and columns that hold values of identifier columns.
-- parameters: rows: what is read; columns: place, text, its distinct values where they are counted; any: a pattern that every form has, signs: a cheap one that each has as well; named: columns
-- with such names; few: values up to which a column is a category, whatever its name; plain: a value with the usual
-- spaces and hyphens
create or replace table {{ suspects | ident }} as
select place, cast(null as varchar) as kind, value, cast(sum(n) as bigint) as n
from (select place, {{ plain }} as value, n from (
    {% for column in columns %}
    select {{ column.place | lit }} as place, {{ column.text }} as value, {% if column.values %}n from {{ column.values | ident }}{% else %}1 as n from {{ rows }}{% endif %}

    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
) as published where regexp_matches(value, {{ signs | lit }})) as texts
where regexp_matches(value, {{ any | lit }})
group by place, value
{% for place, column in named %}
union all
select {{ place | lit }}, 'name', cast(null as varchar), count(distinct {{ column }}) from {{ rows }}
having count(distinct {{ column }}) > {{ few | lit }}
{% endfor %}
{% if hits is not none %}
union all
select place, 'identifier_value', cast(null as varchar), n from {{ hits | ident }}
{% endif %}

-- name: suspects.postgres
-- Published data that may identify a person: values that may have the form of an identifier,
-- columns named like one, and columns that hold values of identifier columns.
-- parameters: rows: what is read; columns: place, physical column, its text, its distinct values where they are counted; any: a pattern that every form has, signs: a cheap one that each has as well; named: columns
-- with such names; few: values up to which a column is a category, whatever its name; plain: a value with the usual
-- spaces and hyphens
create or replace table {{ suspects | ident }} as
with texts as (
    -- each different value once, before it is looked at: a pattern costs more than a group. Without
    -- `offset 0` the planner would look at every row before it groups.
    select place, value, n, regexp_matches(value, {{ any | lit }}) as suspected
    from (
        select place, {{ plain }} as value, cast(sum(n) as bigint) as n
        from (
            {% for column in columns %}
            select {{ column.place | lit }} as place, {{ column.text }} as value, n
            from {% if column.values %}{{ column.values | ident }}{% else %}(select {{ column.cell }}, count(*) as n from {{ rows }} group by {{ column.cell }} offset 0){% endif %}

            {% if not loop.last %}
            union all
            {% endif %}
            {% endfor %}
        ) as all_texts
        where regexp_matches(value, {{ signs | lit }})
        group by 1, 2
    ) as different
)
select place, cast(null as varchar) as kind, value, n
from texts
where suspected
{% for place, column in named %}
union all
select {{ place | lit }}, 'name', cast(null as varchar), count(distinct {{ column }}) from {{ rows }}
having count(distinct {{ column }}) > {{ few | lit }}
{% endfor %}
{% if hits is not none %}
union all
select place, 'identifier_value', cast(null as varchar), n from {{ hits | ident }}
{% endif %}

-- name: suspects_counted
-- How many suspected values there are.
select count(*) as n from {{ suspects | ident }}

-- name: identifiers_in_text
-- Text that would be published and identifies a person: for each such column what was found and how
-- often, in words and as the kinds of a policy. A form counts only if it is no coincidence: that depends
-- on the values that have it, or are like it, and on no others.
-- parameters: forms: pattern, a wider one, check on the letters
-- and digits (or the text itself), whether digits alone may have it, least share of the
-- values like it; few: least number of values of a form that only a check digit tells;
-- many: least number of valid ones among more that are not; whether few
-- is asked for; whole: an expression of the value without what is one number as a whole, whose parts
-- are none; parts: the same forms, as many at once as an engine keeps patterns in mind; kinds:
-- number, columns of their forms, words, places where the kind is acknowledged
with
found_0 as (
    select place, value, {{ whole }} as rest, n, regexp_matches(value, '[^0-9]') as mixed
    from {{ suspects | ident }}
    where kind is null
),
{% for part in parts %}
found_{{ loop.index | lit }} as (
    select
        *
        {% for form in part %}
        {% if form.check is none %}
        , case when mixed then regexp_matches({{ form.text }}, {{ form.pattern | lit }}) else false end as {{ form.f }}
        {% if form.like is not none %}
        , case when mixed then regexp_matches({{ form.text }}, {{ form.like | lit }}) else false end as {{ form.m }}
        {% endif %}
        {% elif form.digits %}
        , regexp_extract({{ form.text }}, {{ form.pattern | lit }}, 2) as {{ form.f }}
        {% else %}
        , case when mixed then regexp_extract({{ form.text }}, {{ form.pattern | lit }}, 2) else '' end as {{ form.f }}
        {% endif %}
        {% endfor %}
    from found_{{ loop.index0 | lit }}
),
{% endfor %}
plain as (
    select
        place, n
        {% for form in forms %}
        {% if form.compact %}
        , upper(regexp_replace({{ form.f }}, '[^0-9A-Za-z]', '', 'g')) as {{ form.f }}
        {% else %}
        , {{ form.f }}
        {% endif %}
        {% if form.like is not none %}
        , {{ form.m }}
        {% endif %}
        {% endfor %}
    from found_{{ parts | length | lit }}
),
counted as (
    select
        place
        {% for form in forms %}
        {% if form.check is none %}
        , sum(case when {{ form.f }} then n else 0 end) as {{ form.f }}
        {% if form.like is not none %}
        , sum(case when {{ form.m }} then n else 0 end) as {{ form.m }}
        {% endif %}
        {% else %}
        , sum(case when {{ form.f }} <> '' then n else 0 end) as {{ form.m }}
        , sum(case when {{ form.f }} <> '' and {{ form.check }} then n else 0 end) as {{ form.f }}
        {% endif %}
        {% endfor %}
    from plain
    group by place
),
likely as (
    select
        place
        {% for form in forms %}
        {% if form.like is not none %}
        , case when {{ form.f }} >= {{ form.least | lit }} * {{ form.m }} then {{ form.f }} else 0 end as {{ form.f }}
        {% elif form.check is none %}
        , {{ form.f }}
        {% elif form.alone %}
        , case when {{ form.f }} >= {{ form.least | lit }} * {{ form.m }} and {{ form.f }} >= {{ few | lit }}
            then {{ form.f }} else 0 end as {{ form.f }}
        {% else %}
        , case when {{ form.f }} * 2 >= {{ form.m }} or ({{ form.f }} * 4 >= {{ form.m }} and {{ form.f }} >= {{ many | lit }})
            then {{ form.f }} else 0 end as {{ form.f }}
        {% endif %}
        {% endfor %}
    from counted
),
kinds as (
    {% for kind in kinds if kind.forms %}
    select {{ kind.number | lit }} as kind
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
-- one branch for all kinds: Spark runs a common table expression as often as it is read
verdicts as (
    select
        l.place, k.kind,
        cast(case k.kind
            {% for kind in kinds if kind.forms %}
            when {{ kind.number | lit }} then greatest(0, {{ kind.forms | join }})
            {% endfor %}
        end as bigint) as n
    from likely l
    cross join kinds k
    union all
    select
        place,
        case kind
            {% for kind in kinds if not kind.forms %}
            when {{ kind.name | lit }} then {{ kind.number | lit }}
            {% endfor %}
        end as kind,
        n
    from {{ suspects | ident }}
    where kind is not null
),
shown as (
    select place, kind, cast(n as varchar) as n, length(cast(n as varchar)) as digits
    from verdicts
    where n > 0
        {% for kind in kinds if kind.forms and kind.acknowledged %}
        and not (kind = {{ kind.number | lit }} and place in ({{ kind.acknowledged | lits | join }}))
        {% endfor %}
),
groups as (
    select
        place, kind,
        case
            when digits <= 3 then n
            when digits <= 6 then concat(left(n, digits - 3), ',', right(n, 3))
            else concat(left(n, digits - 6), ',', left(right(n, 6), 3), ',', right(n, 3))
        end as n
    from shown
),
words as (
    select
        place
        {% for kind in kinds %}
        , max(case when kind = {{ kind.number | lit }} then concat(n, {{ kind.words | lit }}) end) as w{{ kind.number | lit }}
        , max(case when kind = {{ kind.number | lit }} then {{ kind.name | lit }} end) as k{{ kind.number | lit }}
        {% endfor %}
    from groups
    group by place
)
select
    place,
    concat_ws(', '{% for kind in kinds %}, w{{ kind.number | lit }}{% endfor %}) as found,
    concat_ws(', '{% for kind in kinds %}, k{{ kind.number | lit }}{% endfor %}) as kinds
from words
order by place

-- name: identifier_values
-- How many values of published columns hold a value of an identifier column, by column: that of their
-- own row, or any that is rare in the column, since a frequent word is an ordinary word.
-- The words of a text are rows; those that begin a value are joined with the next two.
-- parameters: columns: (place, physical column, whether it holds the identifier of its row);
-- texts: (place, text) of those that are no numbers;
-- ids: (relation, column of their words) pairs; least, share, share_anywhere: of the values
create or replace table {{ hits | ident }} as
with
own as (
    {% for column in columns %}
    select
        {{ column.place | lit }} as place,
        count({{ column.cell }}) as known,
        count(case when {{ column.own }} then 1 end) as n
    from {{ snapshot | ident }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
)
{% if ids %}
,
named as (
    select whole, split_part(whole, ' ', 1) as first, sum(n) as n
    from (
        {% for table, whole in ids %}
        {% if table == snapshot %}
        select {{ whole }} as whole, 1 as n from {{ table | ident }} where {{ whole }} is not null
        {% else %}
        -- as often as there are rows to one of the table above
        select {{ whole }} as whole, (select count(*) from {{ snapshot | ident }}) / (select count(*) from {{ table | ident }}) as n
        from {{ table | ident }} where {{ whole }} is not null
        {% endif %}
        {% if not loop.last %}
        union all
        {% endif %}
        {% endfor %}
    ) as all_named
    group by whole
),
texts as materialized (
    select row_number() over () as id, place, trim({{ words }}) as value, n
    from (
        select place, value, count(*) as n
        from (
            {% for place, text in texts %}
            select {{ place | lit }} as place, {{ text }} as value from {{ snapshot | ident }}
            {% if not loop.last %}
            union all
            {% endif %}
            {% endfor %}
        ) as all_texts
        where regexp_matches(value, {{ letters | lit }})
        group by place, value
    ) as different
),
starts as materialized (
    select id, word, spot
    from (
        select id, unnest(listed) as word, unnest(range(1, len(listed) + 1)) as spot
        from (select id, string_split(value, ' ') as listed from texts) as split
    ) as w
    where word in (select first from named)
),
placed as (
    select id, unnest(listed) as word, unnest(range(1, len(listed) + 1)) as spot
    from (
        select id, string_split(value, ' ') as listed from texts
        where id in (select id from starts)
    ) as split
),
pairs as materialized (
    select b.id, b.spot, concat(b.word, ' ', p.word) as run
    from starts b
    join placed p on p.id = b.id and p.spot = b.spot + 1
),
runs as (
    select id, word as run from starts
    union all
    select id, run from pairs
    union all
    select b.id, concat(b.run, ' ', p.word)
    from pairs b
    join placed p on p.id = b.id and p.spot = b.spot + 2
),
met as (
    select t.place, d.whole, d.n as carried, sum(t.n) as n
    from runs r
    join named d on d.whole = r.run
    join texts t on t.id = r.id
    group by t.place, d.whole, d.n
),
anywhere as (
    select place, cast(sum(n) as bigint) as n
    from met
    where n <= 3 * carried + 2
    group by place
)
{% endif %}
select place, n
from (
    select place, known, n from own where n >= {{ share | lit }} * known
    {% if ids %}
    union all
    select a.place, o.known, a.n
    from anywhere a
    join own o on o.place = a.place
    where a.n >= {{ share_anywhere | lit }} * o.known
    {% endif %}
) as found
where n >= {{ least | lit }}

-- name: snapshot
-- Read the source once: what is released, the sensitivity flags, and the identity of each row.
-- parameters: columns: (expression, physical name) pairs
create or replace table {{ snapshot | ident }} as
select
{% for expression, name in columns %}
    {{ expression }} as {{ name }}{% if not loop.last %},{% endif %}

{% endfor %}
from {{ relation }}

-- name: kept
-- The rows that may be published: rows with a NULL in a column whose NULLs are suppressed are removed,
-- and so are all rows of their persons, since a person is published completely or not at all.
-- parameters: columns: where NULL leaves a row out; persons_whole: the policy names persons
create or replace table {{ snapshot | ident }} as
select s.*
from {{ read | ident }} s
{% if persons_whole %}
where not exists (
    select 1
    from {{ read | ident }} other
    where other.person = s.person and ({% for column in columns %}other.{{ column }} is null{% if not loop.last %} or {% endif %}{% endfor %})
)
{% else %}
where {% for column in columns %}s.{{ column }} is not null{% if not loop.last %} and {% endif %}{% endfor %}

{% endif %}

-- name: values
-- The distinct values of one column, with their row counts.
create or replace table {{ values | ident }} as
select {{ column }} as value, count(*) as n
from {{ snapshot | ident }}
where {{ column }} is not null
group by 1

-- name: values_of
-- The distinct values of one column, with their row counts, from those of all columns.
create or replace table {{ values | ident }} as
select {{ attribute.q }} as value, n
from {{ distinct | ident }}
where g{{ attribute.index | lit }} = 0 and {{ attribute.q }} is not null

-- name: distinct
-- The distinct values of all quasi-identifiers, including NULL, with their row counts, read in one
-- pass.
create or replace table {{ distinct | ident }} as
select
    {% for a in attributes %}
    {{ a.q }}, cast(grouping({{ a.q }}) as integer) as g{{ a.index | lit }},
    {% endfor %}
    count(*) as n
from {{ snapshot | ident }}
group by grouping sets ({% for a in attributes %}({{ a.q }}){% if not loop.last %}, {% endif %}{% endfor %})

-- name: source_mask_one_to_one
-- Values with several tokens, tokens of several values, and NULLs that came or went, in all columns that
-- have tokens of one format under one key.
-- parameters: together: the columns, each with the text of its value
{% from "verify/_verdict" import verdict with context %}
with every as (
    {% for text, masked in together %}
    select {{ text }} as value, {{ masked }} as token from {{ original | ident }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
pairs as (select distinct value, token from every),
several as (
    select 'values' as grp, count(*) - count(distinct value) as n from pairs where value is not null
    union all
    select 'tokens' as grp, count(*) - count(distinct token) as n from pairs where token is not null
    union all
    select 'nulls' as grp, count(*) as n from pairs where (value is null) <> (token is null)
),
verdicts as (select grp, n, n = 0 as holds from several)
{{ verdict("n") }}

-- name: source_mask_foreign
-- Tokens that are a value of the column: anyone who knows that value would take the row for another's.
{% from "verify/_verdict" import verdict with context %}
with known as (
    select distinct cast({{ column.original }} as varchar) as value
    from {{ original | ident }}
    where {{ column.original }} is not null
),
made as (
    select distinct cast({{ column.masked }} as varchar) as token
    from {{ original | ident }}
    where {{ column.masked }} is not null
),
verdicts as (
    select 'tokens' as grp, count(*) as n, false as holds
    from made
    join known on known.value = made.token
    having count(*) > 0
)
{{ verdict("n") }}

-- name: source_mask_like
-- Tokens of another length than their value, or with other signs in a place.
-- parameters: text: of the value
{% from "verify/_verdict" import verdict with context %}
with verdicts as (
    select 'rows' as grp, count(*) as n, false as holds
    from {{ original | ident }}
    where regexp_replace(regexp_replace(regexp_replace(cast({{ column.masked }} as varchar), '[0-9]', '0', 'g'), '[A-Z]', 'A', 'g'), '[a-z]', 'a', 'g')
        is distinct from regexp_replace(regexp_replace(regexp_replace({{ text }}, '[0-9]', '0', 'g'), '[A-Z]', 'A', 'g'), '[a-z]', 'a', 'g')
    having count(*) > 0
)
{{ verdict("n") }}

-- name: source_mask_shift
-- Dates that were not shifted, shifted too far, by another span than the others of their person, or not by whole days (weeks).
{% from "verify/_verdict" import verdict with context %}
{#- DuckDB 2.0.1 counts these types in nanoseconds otherwise, for which years from 2262 are too late. -#}
{% macro instant(value, type) %}{% if type in ("TIMESTAMP_S", "TIMESTAMP_MS") %}cast({{ value }} as timestamp){% else %}{{ value }}{% endif %}{% endmacro %}
with moved as (
    {% for one in columns %}
    select
        {{ one.per }} as person,
        (({{ one.original }} is null) <> ({{ one.masked }} is null)) as came_or_went,
        epoch_us({{ instant(one.masked, one.sql_type) }}) - epoch_us({{ instant(one.original, one.sql_type) }}) as span
    from {{ original | ident }}
    where {{ one.original }} is null or isfinite(cast({{ one.original }} as {{ one.type }}))
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
persons as (
    select
        person,
        bool_or(came_or_went) as unmatched,
        min(span) as least,
        max(span) as most
    from moved
    group by person
),
verdicts as (
    select 'persons' as grp, count(*) as n, false as holds
    from persons
    where unmatched or least <> most or least = 0 or least % {{ span }} <> 0 or abs(least) > {{ furthest }}
    having count(*) > 0
)
{{ verdict("n") }}

-- name: source_mask_coded
-- Values that were changed although they are not beyond the code, or were not cut off there.
{% from "verify/_verdict" import verdict with context %}
with coded as (
    select {% if at is not none %}{{ at }}{% elif top %}max({{ column.masked }}){% else %}min({{ column.masked }}){% endif %} as code
    {% if at is none %}
    from {{ original | ident }}
    {% endif %}
),
verdicts as (
    select 'rows' as grp, count(*) as n, false as holds
    from {{ original | ident }} o
    cross join coded
    where (o.{{ column.original }} is null) <> (o.{{ column.masked }} is null)
        or case when o.{{ column.original }} {% if top %}>{% else %}<{% endif %} coded.code then o.{{ column.masked }} <> coded.code
            {% if others %}
            else o.{{ column.masked }} {% if top %}>{% else %}<{% endif %} coded.code
            {% else %}
            else o.{{ column.masked }} <> o.{{ column.original }}
            {% endif %}
        end
    having count(*) > 0
)
{{ verdict("n") }}

-- name: source_mask_rounded
-- Values that were rounded further than to the step, or in another direction; dates that were not cut off.
-- A multiple that is no value of the type is replaced by the one on the other side. What is beyond a
-- code was cut off there before.
{% from "verify/_verdict" import verdict with context %}
with pairs as (
    {% if zoned %}
    select timezone('UTC', {{ column.original }}) as original, timezone('UTC', {{ column.masked }}) as masked
    {% else %}
    select {{ column.original }} as original, {{ column.masked }} as masked
    {% endif %}
    from {{ original | ident }}
    {% for top, at in codes %}
    {% if loop.first %}where{% else %}and{% endif %} not coalesce({{ column.original }} {% if top %}>{% else %}<{% endif %} {{ at }} and {{ column.masked }} = {{ at }}, false)
    {% endfor %}
),
{% if not dates %}
wide as (
    select cast(original as {{ wide }}) as original, cast(masked as {{ wide }}) as masked
    from pairs
),
{% endif %}
verdicts as (
    select 'rows' as grp, count(*) as n, false as holds
    from {% if dates %}pairs{% else %}wide{% endif %}

    where (original is null) <> (masked is null) or case
        {% if dates %}
        when not isfinite(cast(original as {% if zoned %}timestamp{% else %}{{ type }}{% endif %})) then masked <> original
        when masked > original then true
        -- late values are moved back, so that none leaves the range of its type
        when masked > date '2000-01-01' then original - {{ interval }} >= masked
        else original >= masked + {{ interval }}
        {% elif reals %}
        when not isfinite(original) then masked <> original
        {% if method == "down" %}
        when masked > original + abs(original) * {{ blur }} then true
        {% endif %}
        else abs(masked - original) > {{ step }} {% if method == "nearest" %}/ 2 {% endif %}+ abs(original) * {{ blur }}
        {% else %}
        when masked = original then false
        when (masked > 0 and original < 0) or (masked < 0 and original > 0) then true
        when masked < original then original - masked >= {{ step }}
            {% if method == "nearest" %}
            or (original - masked > {{ step }} - (original - masked) and masked <= {{ most }} - {{ step }})
            {% endif %}
        else masked - original >= {{ step }}
            {% if method == "nearest" %}
            or (masked - original > {{ step }} - (masked - original) and masked >= {{ least }} + {{ step }})
            {% elif method == "down" %}
            or masked >= {{ least }} + {{ step }}
            {% endif %}
        {% endif %}
        end
    having count(*) > 0
)
{{ verdict("n") }}

-- name: source_mask_near
-- Values that were moved further than noise may move them, or out of the range of the column.
{% from "verify/_verdict" import verdict with context %}
with ends as (
    select min({{ column.original }}) as least, max({{ column.original }}) as most
    from {{ original | ident }}
    where isfinite(cast({{ column.original }} as double))
),
verdicts as (
    select 'rows' as grp, count(*) as n, false as holds
    from {{ original | ident }}
    cross join ends
    where ({{ column.original }} is null) <> ({{ column.masked }} is null) or case
        when not isfinite(cast({{ column.original }} as double)) then {% if between %}false{% else %}{{ column.masked }} <> {{ column.original }}{% endif %}
        {% if not between %}
        when {{ column.masked }} < least or {{ column.masked }} > most then true
        {% endif %}
        else {{ distance }} > {{ reach }} * (1 + 1e-9) + {{ slack }}
        end
    having count(*) > 0
)
{{ verdict("n") }}

-- name: source_mask_identifiers
-- Published texts that contain a value of an identifying column.
-- parameters: identifiers, most, ideographs: as for the texts with such values; shown: the words of the
-- published text
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_named" import named_texts with context %}
with
{% if identifiers %}
shown as (
    select {{ shown }} as parts, count(*) as n
    from {{ original | ident }}
    where {{ column.masked }} is not null
    group by {{ column.masked }}
),
texts as materialized (select row_number() over () as id, parts, n from shown),
{{ named_texts() }},
hits as (select t.n from texts t join named h on h.id = t.id),
{% else %}
hits as (select 1 as n from {{ original | ident }} where false),
{% endif %}
verdicts as (select 'rows' as grp, sum(n) as n, false as holds from hits having count(*) > 0)
{{ verdict("n") }}

-- name: source_mask_untouched
-- Texts that came, went, or were changed although they hold nothing that looks like an identifier, and no value of
-- a column that says who somebody is.
-- parameters: identifiers, most, ideographs: as for the texts with such values; shown: the words of the original;
-- plain: the original with the usual spaces and hyphens
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_named" import named_texts with context %}
with changed as (
    select cast({{ column.original }} as varchar) as original, cast({{ column.masked }} as varchar) as masked, count(*) as n
    from {{ original | ident }}
    where cast({{ column.masked }} as varchar) is distinct from cast({{ column.original }} as varchar)
    group by all
),
{% if identifiers %}
texts as materialized (
    select row_number() over () as id, original, {{ shown }} as parts
    from (select distinct original from changed where original is not null) as different
),
{{ named_texts() }},
{% endif %}
verdicts as (
    select 'rows' as grp, sum(n) as n, false as holds
    from changed
    where original is null or masked is null or (
        not regexp_matches({{ plain }}, {{ pattern | lit }})
        {% if identifiers %}
        and original not in (select t.original from texts t join named h on h.id = t.id)
        {% endif %}
    )
    having count(*) > 0
)
{{ verdict("n") }}

-- name: source_mask_zip3
-- ZIP codes published as other digits than their first three, or as 000 although
-- enough people live there.
{% from "verify/_verdict" import verdict with context %}
with codes as (
    select
        {{ column.masked }} as shown,
        ({{ column.original }} is null) as missing,
        {% if whole %}
        case
            when try_cast({{ column.original }} as hugeint) between 0 and 99999 then right('00000' || cast({{ column.original }} as varchar), 5)
            when try_cast({{ column.original }} as hugeint) between 100000 and 999999999 then right('000000000' || cast({{ column.original }} as varchar), 9)
        end as code
        {% else %}
        nullif(regexp_extract(cast({{ column.original }} as varchar), '^ *([0-9]{3}([0-9]{2}(-?[0-9]{4})?)?) *$', 1), '') as code
        {% endif %}
    from {{ original | ident }}
),
known as (
    select shown, missing, code, coalesce(left(code, 3){% if restricted %} not in ({% for area in restricted %}{{ area | lit }}{% if not loop.last %}, {% endif %}{% endfor %}){% else %} is not null{% endif %}, false) as enough
    from codes
),
verdicts as (
    select 'rows' as grp, count(*) as n, false as holds
    from known
    where missing <> (shown is null)
        or (not missing and shown is distinct from case when enough then left(code, 3) else '000' end)
    having count(*) > 0
)
{{ verdict("n") }}

-- name: mask_between
-- Values outside of the bounds within which noise is kept.
{% from "verify/_verdict" import verdict with context %}
with verdicts as (
    select 'rows' as grp, count(*) as n, false as holds
    from {{ data | ident }}
    where {{ column.name | ident }} < {{ low }} or {{ column.name | ident }} > {{ high }}
    having count(*) > 0
)
{{ verdict("n") }}

-- name: mask_beyond
-- Values beyond the code of a column.
{% from "verify/_verdict" import verdict with context %}
with verdicts as (
    select 'rows' as grp, count(*) as n, false as holds
    from {{ data | ident }}
    where {{ column.name | ident }} {% if top %}>{% else %}<{% endif %} {{ at }}
    having count(*) > 0
)
{{ verdict("n") }}

-- name: mask_constant
-- Values other than the constant.
{% from "verify/_verdict" import verdict with context %}
with verdicts as (
    select 'rows' as grp, count(*) as n, false as holds
    from {{ data | ident }}
    where {{ column.name | ident }} is distinct from {{ value }}
    having count(*) > 0
)
{{ verdict("n") }}

-- name: mask_form
-- Tokens that do not have their form.
{% from "verify/_verdict" import verdict with context %}
with verdicts as (
    select 'rows' as grp, count(*) as n, false as holds
    from {{ data | ident }}
    where {{ column.name | ident }} is not null and not regexp_full_match(cast({{ column.name | ident }} as varchar), {{ form | lit }})
    having count(*) > 0
)
{{ verdict("n") }}

-- name: mask_group
-- How many rows (persons) have the top or bottom code; too few could be re-identified.
{% from "verify/_verdict" import verdict with context %}
with coded as (
    select {% if top %}max{% else %}min{% endif %}({{ column.name | ident }}) as code
    from {{ data | ident }}
),
verdicts as (
    select 'rows' as grp, count({% if person %}distinct d.{{ person | ident }}{% else %}*{% endif %}) as units,
        count({% if person %}distinct d.{{ person | ident }}{% else %}*{% endif %}) >= {{ at_least | lit }} as holds
    from {{ data | ident }} d
    join coded on coded.code = d.{{ column.name | ident }}
    having count(*) > 0
)
{{ verdict("units") }}

-- name: mask_patterns
-- Texts in which something is left that looks like an identifier.
-- parameters: shown: the published text, with the usual spaces and hyphens
{% from "verify/_verdict" import verdict with context %}
with verdicts as (
    select 'rows' as grp, count(*) as n, false as holds
    from {{ data | ident }}
    where regexp_matches({{ shown }}, {{ pattern | lit }})
    having count(*) > 0
)
{{ verdict("n") }}

-- name: mask_rounded
-- Values that are no multiple of the step, or no first instant of the unit, to which a column is rounded.
-- Numbers beyond the limit are further apart than multiples are.
{% from "verify/_verdict" import verdict with context %}
with verdicts as (
    select 'rows' as grp, count(*) as n, false as holds
    from {{ data | ident }}
    where {% if dates %}
    isfinite(cast({{ column.name | ident }} as {{ type }})) and {% if zoned %}timezone('UTC', {{ column.name | ident }}){% else %}{{ column.name | ident }}{% endif %} <> date_trunc({{ unit | lit }}, {% if zoned %}timezone('UTC', {{ column.name | ident }}){% else %}{{ column.name | ident }}{% endif %})
    {% elif reals %}
    case when isfinite({{ column.name | ident }}) and abs({{ column.name | ident }}) < {{ limit }}
        then {{ column.name | ident }} <> cast(floor({{ column.name | ident }} / {{ step }} + 0.5) * {{ step }} as {{ type }})
        else false end
    {% else %}
    {{ column.name | ident }} % {{ step }} <> 0
    {% endif %}
    having count(*) > 0
)
{{ verdict("n") }}

-- name: mask_zip3
-- Values that are not three digits, or those of an area in which few live.
{% from "verify/_verdict" import verdict with context %}
with verdicts as (
    select 'rows' as grp, count(*) as n, false as holds
    from {{ data | ident }}
    where {{ column.name | ident }} is not null and (
        not regexp_full_match(cast({{ column.name | ident }} as varchar), '[0-9]{3}')
        {% if restricted %}
        or cast({{ column.name | ident }} as varchar) in ({% for area in restricted %}{{ area | lit }}{% if not loop.last %}, {% endif %}{% endfor %})
        {% endif %}
    )
    having count(*) > 0
)
{{ verdict("n") }}

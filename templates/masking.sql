-- name: _like
-- A keyed permutation of the texts of one form, which keeps length and signs in their places.
-- The letters and digits are cut into two halves, and in turn each character of one is moved on in
-- its alphabet by a digest of the other half: a Feistel network like that of FF1 (NIST SP 800-38G),
-- with HMAC-SHA256 in place of AES. It reads `known` (value, tweak) and makes `permuted` (value,
-- token, tweak); different tweaks are different permutations.
{% macro moved(half, form) %}
coalesce(list_aggregate(list_transform(
            range(1, length({{ half }}) + 1),
            lambda j: chr(cast(
                case substr({{ form }}, cast(j as integer), 1) when '0' then 48 when 'A' then 65 else 97 end
                + (
                    ascii(substr({{ half }}, cast(j as integer), 1))
                    - case substr({{ form }}, cast(j as integer), 1) when '0' then 48 when 'A' then 65 else 97 end
                    + cast(concat('0x', substr(digest, cast((j - 1) % 21 * 3 + 1 as integer), 3)) as integer)
                ) % case substr({{ form }}, cast(j as integer), 1) when '0' then 10 else 26 end
            as integer))
        ), 'string_agg', ''), '')
{%- endmacro %}
{% macro permuted() %}
plain as (
    select
        value, tweak,
        regexp_replace(value, '[^0-9A-Za-z]', '', 'g') as signs,
        regexp_replace(regexp_replace(regexp_replace(value, '[0-9]', '0', 'g'), '[A-Z]', 'A', 'g'), '[a-z]', 'a', 'g') as form
    from known
),
r0 as (
    select
        value, tweak, form,
        left(signs, length(signs) // 2) as a,
        substr(signs, length(signs) // 2 + 1) as b,
        left(regexp_replace(form, '[^0Aa]', '', 'g'), length(signs) // 2) as form_a,
        substr(regexp_replace(form, '[^0Aa]', '', 'g'), length(signs) // 2 + 1) as form_b
    from plain
),
{% for number, name, before, second in rounds %}
d{{ number | lit }} as (
    select *, {% if second %}{{ digest_of_a }}{% else %}{{ digest_of_b }}{% endif %} as digest
    from (select *, {{ number | lit }} as round from {{ before }})
),
{{ name }} as (
    select
        value, tweak, form, form_a, form_b,
        {% if second %}
        a,
        {{ moved("b" | ident, "form_b" | ident) }} as b
        {% else %}
        {{ moved("a" | ident, "form_a" | ident) }} as a,
        b
        {% endif %}
    from d{{ number | lit }}
),
{% endfor %}
joined as (select value, tweak, concat(a, b) as signs from {{ last }}),
permuted as (
select
    value, tweak,
    coalesce(list_aggregate(list_transform(
        range(1, length(value) + 1),
        lambda j: case when regexp_matches(substr(value, cast(j as integer), 1), '[0-9A-Za-z]')
            then substr(signs, length(regexp_replace(left(value, cast(j as integer)), '[^0-9A-Za-z]', '', 'g')), 1)
            else substr(value, cast(j as integer), 1) end
    ), 'string_agg', ''), '') as token
from joined
)
{% endmacro %}

-- name: masked
-- The rows with their masked columns, and the originals of these for the verification.
-- parameters: published: the rows of `raw` in which ends of columns are looked for;
-- columns: (expression, physical name) pairs over rows called r; likes: (table, alias,
-- text) of tokens that are looked up; found: the same of texts with values of identifying
-- columns; copies: rows may be exact duplicates, which are
-- distinguished by a number, so that each has draws of its own; others: the columns
-- besides the identity
create or replace table {{ masked | ident }} as
select
    {% for expression, name in columns %}
    {{ expression }} as {{ name }}{% if not loop.last %},{% endif %}

    {% endfor %}
{% if copies %}
from (
    select
        {% for name in others %}
        {{ name }},
        {% endfor %}
        md5(concat(identity, ':', row_number() over (partition by identity))) as identity
    from {{ raw | ident }}
) r
{% else %}
from {{ raw | ident }} r
{% endif %}
{% for table, alias, text in found %}
left join {{ table | ident }} {{ alias }} on {{ alias }}.text = {{ text }}
{% endfor %}
{% for table, alias, text in likes %}
left join {{ table | ident }} {{ alias }} on {{ alias }}.value = {{ text }}
{% endfor %}

-- name: foreign_letters
-- How many different values have letters besides a to z, which no token of their form could hide.
-- parameters: text: the value
select n
from (
    select count(distinct {{ text }}) as n
    from {{ raw | ident }}
    where regexp_matches({{ text }}, '[^ -~]')
)
where n > 0

-- name: like
-- Tokens of the same length with letters and digits in the same places, one to one.
-- A token that is a value of one of the columns is not settled yet.
-- parameters: texts: the values of the columns under one key; rounds: (number, name, name of the round before, whether the second
-- half moves); last: name of the last round; digests: of tweak, round, form and a half
{% from "masking/_like" import permuted with context %}
create or replace table {{ tokens | ident }} as
with known as (
    select distinct value, 0 as tweak
    from (select unnest([{{ texts }}]) as value from {{ raw | ident }})
    where value is not null
),
{{ permuted() }}
select p.value, p.token, p.tweak, k.value is null as settled
from permuted p
left join known k on k.value = p.token

-- name: settle_like
-- Another token for every value whose token is a value of the column, or is taken by then.
-- parameters: as for the first tokens
{% from "masking/_like" import permuted with context %}
create or replace table {{ tokens | ident }} as
with known as (
    select value, tweak + 1 as tweak from {{ tokens | ident }} where not settled
),
{{ permuted() }}
select value, token, tweak, settled from {{ tokens | ident }} where settled
union all
select p.value, p.token, p.tweak, k.value is null and t.token is null as settled
from permuted p
left join {{ tokens | ident }} k on k.value = p.token
left join {{ tokens | ident }} t on t.token = p.token and t.settled

-- name: unsettled_like
-- How many values have no token yet that is no value of the column; none after the last try.
-- parameters: tries: how often another token is tried
select count(*) from {{ tokens | ident }} where not settled and tweak < {{ tries | lit }}

-- name: identifier_values
-- Every value of the identifying columns, as words, for which texts are searched.
-- Short values are omitted, since they occur in any text.
-- parameters: columns: (number, table, text of the column); most: words of the longest value; apart: what is between
-- words; short: a text with fewer than two ideographs
create or replace table {{ values | ident }} as
select distinct number, words, len(string_split(words, ' ')) as length
from (
    {% for number, table, column in columns %}
    select
        {{ number | lit }} as number,
        trim(regexp_replace({{ column }}, {{ apart | lit }}, ' ', 'g')) as words
    from {{ table | ident }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
) as listed
where case
        when regexp_matches(words, {{ short | lit }})
        then length(words) >= 4 and (length(words) >= 5 or not regexp_full_match(words, '[0-9]*'))
        else true
    end
    and len(string_split(words, ' ')) <= {{ most | lit }}

-- name: found_values
-- The texts in which values of such columns stand, and the same without them.
-- The words of a text are rows: those with which a value begins are joined with the words that
-- follow, and these with the values, so that a text of many words costs as much as many of few.
-- parameters: text: the column; usual: the same with the usual signs, ideographs apart; columns: numbers, names of
-- the patterns of values that are no part of others in the text, and of all; same: words of a text as those of the values;
-- apart: what is between words; clean: the text with what the patterns find replaced
create or replace table {{ found | ident }} as
with texts as materialized (
    select row_number() over () as id, text, {{ usual }} as usual
    from (select distinct {{ text }} as text from {{ raw | ident }} where {{ text }} is not null) as different
),
listed as (
    select id, string_split(trim(regexp_replace(usual, {{ apart | lit }}, ' ', 'g')), ' ') as listed
    from texts
),
placed as materialized (
    select id, unnest(listed) as words, unnest(range(1, len(listed) + 1)) as place
    from listed
),
firsts as (select distinct split_part(words, ' ', 1) as first, length from {{ values | ident }}),
starts as (
    select p.id, p.place, f.length, unnest(range(p.place, p.place + f.length)) as spot
    from placed p
    join firsts f on f.first = {{ same_first }}
),
runs as (
    select b.id, b.length, string_agg(p.words, ' ' order by b.spot) as words
    from starts b
    join placed p on p.id = b.id and p.place = b.spot
    group by b.id, b.place, b.length
),
hits as materialized (
    -- (words as they stand in the text: letters without case differ in more than their case)
    select distinct r.id, v.number, r.words
    from runs r
    join {{ values | ident }} v on v.length = r.length and v.words = {{ same }}
),
outer_hits as (
    select id, words, string_split(words, ' ') as listed
    from (select distinct id, words from hits where strpos(words, ' ') > 0) as long
),
begun_within as (select id, words, listed, unnest(range(1, len(listed) + 1)) as first from outer_hits),
within as (
    select id, words, listed, first, unnest(range(first, len(listed) + 1)) as last from begun_within
),
inner_hits as (
    select distinct id, array_to_string(listed[first:last], ' ') as words
    from within
    where last - first + 1 < len(listed)
),
verdicts as (
    select h.id, h.number, h.words, i.id is null as is_outer
    from hits h
    left join inner_hits i on i.id = h.id and i.words = h.words
),
patterns as (
    select
        id
        {% for column in columns %}
        , coalesce(
            string_agg(replace(words, ' ', {{ apart | lit }}), '|' order by length(words) desc, words)
                filter (where number = {{ column.number | lit }} and is_outer),
            'x^'
        ) as {{ column.outer }}
        , coalesce(
            string_agg(replace(words, ' ', {{ apart | lit }}), '|' order by length(words) desc, words)
                filter (where number = {{ column.number | lit }}),
            'x^'
        ) as {{ column.every }}
        {% endfor %}
    from verdicts
    group by id
),
places as (
    select p.*, t.text, t.usual
    from patterns p
    join texts t on t.id = p.id
)
select p.text, {{ clean }} as clean
from places p

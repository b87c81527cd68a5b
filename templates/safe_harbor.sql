-- name: values
-- Published columns that hold free text, days of the calendar, or years that tell ages over 89.
-- Only the places of such columns and counts are returned.
-- parameters: looks: (place, what is looked for, physical column); the bounds of free text and of
-- years; dates: a pattern of days in text
{% macro spaced(value) -%}
regexp_replace(trim(cast({{ value }} as varchar)), '[ \t\r\n]+', ' ', 'g')
{%- endmacro %}
{% macro more_words(value, than) -%}
length({{ spaced(value) }}) - length(replace({{ spaced(value) }}, ' ', '')) >= {{ than | lit }}
{%- endmacro %}
with looked as (
    {% for place, what, value in looks %}
    {% if what == "notes" %}
    select {{ place | lit }} as place, case when 2 * count(case when long then 1 end) > count(*) then count(*) else 0 end as n
    from (
        select length(cast({{ value }} as varchar)) > {{ characters | lit }} or {{ more_words(value, words) }} as long
        from {{ snapshot | ident }}
        where {{ value }} is not null
        group by {{ value }}
    ) as texts
    {% elif what == "many" %}
    select {{ place | lit }} as place, case when count(distinct {{ value }}) > {{ many | lit }} and {{ often | lit }} * count(distinct {{ value }}) >= count({{ value }}) then count(distinct {{ value }}) else 0 end as n
    from {{ snapshot | ident }}
    {% elif what == "long" %}
    select {{ place | lit }} as place, count(*) as n
    from {{ snapshot | ident }}
    where length(cast({{ value }} as varchar)) > {{ most_characters | lit }} or {{ more_words(value, most_words) }}
    {% elif what == "days" %}
    select {{ place | lit }} as place, count(*) as n
    from {{ snapshot | ident }}
    where regexp_matches({{ value }}, {{ dates | lit }})
    {% elif what == "numbered_days" %}
    select {{ place | lit }} as place, case when 2 * count(case when day then 1 end) >= count(*) then count(case when day then 1 end) else 0 end as n
    from (
        select
            (n between {{ days[0] | lit }} and {{ days[1] | lit }} and n % 100 between 1 and 31 and n // 100 % 100 between 1 and 12)
            or (n between 180001 and 220012 and n % 100 between 1 and 12)
            or (n between 11800 and 122200 and n % 10000 between 1800 and 2200 and n // 10000 between 1 and 12)
            or (n between 100101 and 991231 and n // 100 % 100 between 1 and 12 and (n % 100 between 1 and 31 or n // 10000 between 1 and 31))
            or (n between 1011800 and 31122200 and n % 10000 between 1800 and 2200 and (
                (n // 10000 % 100 between 1 and 12 and n // 1000000 between 1 and 31)
                or (n // 10000 % 100 between 1 and 31 and n // 1000000 between 1 and 12)
            )) as day
        from (select {{ value }} as n from {{ snapshot | ident }}) as values_of
        where n is not null
    ) as numbers
    {% elif what == "early" %}
    select {{ place | lit }} as place, count(*) as n
    from {{ snapshot | ident }}
    where {{ value }} is not null and not coalesce(isfinite({{ value }}) and year({{ value }}) >= {{ first | lit }}, false)
    {% elif what == "early_years" %}
    select {{ place | lit }} as place, count(*) as n
    from {{ snapshot | ident }}
    where {{ value }} < {{ first | lit }}
    {% else %}
    select {{ place | lit }} as place, count(*) as n
    from {{ snapshot | ident }}
    where {{ value }} > {{ last | lit }}
    {% endif %}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
)
select place, cast(n as bigint) as n from looked where n > 0 order by place

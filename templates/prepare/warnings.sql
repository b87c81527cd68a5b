-- name: written_as
-- What the values of text columns look like: 1 if all are numbers, 2 if all are dates, else 0. How
-- many values of exact numbers are the same as another one if they are computed with as doubles. And how
-- many values a text has that may be names: 0 if few, or most are codes.
-- parameters: texts, exact: (table of values, number) pairs; names: of all figures
-- few: number of values of a text up to which 0 is returned; rosters: (table, number, whether
-- its name says names of persons); category: values up to which such a one is no list;
-- unfamiliar: rows per value from which any other is a category; codes: a pattern
with looked_at as (
    {% for table, number in texts %}
    select
        {{ number }} as number,
        case
            when count(*) <= {{ few | lit }} then 0
            when min(case when regexp_matches(value, {{ numbers | lit }}) then 1 else 0 end) = 1 then 1
            when min(case when regexp_matches(value, {{ dates | lit }}) then 1 else 0 end) = 1 then 2
            else 0
        end as figure
    from {{ table | ident }}
    {% if exact or rosters or not loop.last %}
    union all
    {% endif %}
    {% endfor %}
    {% for table, number in exact %}
    select {{ number }} as number, count(*) - count(distinct cast(value as double)) as figure from {{ table | ident }}
    {% if rosters or not loop.last %}
    union all
    {% endif %}
    {% endfor %}
    {% for table, number, named in rosters %}
    select
        {{ number }} as number,
        case
            {% if named %}
            when count(*) <= {{ category | lit }} then 0
            {% else %}
            when count(*) <= {{ few | lit }} or count(*) * {{ unfamiliar | lit }} <= sum(n) then 0
            when 2 * sum(case
                when regexp_matches(value, {{ codes | lit }}) or regexp_matches(value, {{ numbers | lit }})
                    or regexp_matches(value, {{ dates | lit }}) then 1 else 0
            end) > count(*) then 0
            {% endif %}
            else count(*)
        end as figure
    from {{ table | ident }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
)
select
    {% for name in names %}
    max(case when number = {{ loop.index | lit }} then figure end) as {{ name | ident }}{% if not loop.last %},{% endif %}

    {% endfor %}
from looked_at

-- name: remarks
-- How often a condition of the policy is NULL, and how often values of columns that look like keys
-- repeat.
-- parameters: rows: what is read
-- conditions: (expression, name) pairs
-- keys: columns with a digest, each with the names of its counts
select
    {% for _, name in conditions %}
    conditions.{{ name }}{% if keys or not loop.last %},{% endif %}

    {% endfor %}
    {% for key in keys %}
    k{{ loop.index0 | lit }}.different as {{ key.different }},
    k{{ loop.index0 | lit }}.known as {{ key.known }},
    k{{ loop.index0 | lit }}.most as {{ key.most }}{% if not loop.last %},{% endif %}

    {% endfor %}
from
    {% if conditions %}
    (
        select
            {% for expression, name in conditions %}
            {{ expression }} as {{ name }}{% if not loop.last %},{% endif %}

            {% endfor %}
        from {{ rows }}
    ) as conditions
    {% endif %}
    {% for key in keys %}
    {% if conditions or not loop.first %}
    cross join
    {% endif %}
    (
        select
            count(*) as different,
            cast(coalesce(sum(n), 0) as bigint) as known,
            coalesce(max(n), 0) as most
        from (
            select count(*) as n
            from {{ rows }}
            where {{ key.digest }} is not null
            group by {{ key.digest }}
        ) as repeats
    ) as k{{ loop.index0 | lit }}
    {% endfor %}

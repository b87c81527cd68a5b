-- name: meant
-- What columns hold that may not be meant: counts of rows, and how many of the different values are
-- another one but for case, outer blanks or Unicode form, or belong to one row (person) only.
-- parameters: counts: (expression, name) pairs; looked_at: columns, each with its cell, the units of
-- which a value has how many, and the names of its figures
-- folded: a value in one spelling
select
    {% for _, name in counts %}
    counts.{{ name | ident }}{% if looked_at or not loop.last %},{% endif %}

    {% endfor %}
    {% for one in looked_at %}
    v{{ loop.index | lit }}.different as {{ one.different | ident }},
    v{{ loop.index | lit }}.folded as {{ one.folded | ident }},
    v{{ loop.index | lit }}.known as {{ one.known | ident }},
    v{{ loop.index | lit }}.single as {{ one.single | ident }}{% if not loop.last %},{% endif %}

    {% endfor %}
from
    {% if counts %}
    (
        select
            {% for expression, name in counts %}
            count(*) filter (where {{ expression }}) as {{ name | ident }}{% if not loop.last %},{% endif %}

            {% endfor %}
        from {{ snapshot | ident }}
    ) as counts
    {% endif %}
    {% for one in looked_at %}
    {% if counts or not loop.first %}
    cross join
    {% endif %}
    (
        select
            count(*) as different,
            {% if one.text %}
            count(distinct {{ folded }}) as folded,
            {% else %}
            count(*) as folded,
            {% endif %}
            cast(coalesce(sum(n), 0) as bigint) as known,
            count(*) filter (where n = 1) as single
        from (
            select {{ one.cell }} as cell, {{ one.units }} as n
            from {{ snapshot | ident }}
            where {{ one.cell }} is not null
            group by 1
        ) as cells
    ) as v{{ loop.index | lit }}
    {% endfor %}

-- name: copies
-- How many rows have how many copies.
-- parameters: columns: all that a row is told apart by; several, factors: (number, name) pairs
-- different, known: names of the counts of contents and of rows
select
    count(*) as {{ different | ident }},
    cast(coalesce(sum(n), 0) as bigint) as {{ known | ident }},
    {% for number, name in several %}
    count(*) filter (where n = {{ number | lit }}) as {{ name | ident }},
    {% endfor %}
    {% for number, name in factors %}
    count(*) filter (where n % {{ number | lit }} = 0) as {{ name | ident }}{% if not loop.last %},{% endif %}

    {% endfor %}
from (
    select count(*) as n
    from {{ snapshot | ident }}
    group by hash({{ columns | join }})
) as contents

-- name: predictor_rows
-- Rows in which published columns are compared with quasi-identifiers: all, or a part that does not
-- depend on their values.
-- parameters: columns: theirs; one_in: of how many rows one is taken
create or replace table {{ beside | ident }} as
select {{ columns | join }}
from {{ snapshot | ident }}
where hash(identity) % {{ one_in | lit }} = 0

-- name: predictors
-- How far published columns tell quasi-identifiers: of a hundred rows, those whose value goes with
-- one value of the quasi-identifier only, or 0 if that may be by chance.
-- parameters: pairs: of columns, each with the name of its figure; in_part: whether some values may tell
-- few: rows of a hundred that are too few; agreed: how often two rows with one value
-- agree in the other, from chance (0) to always (1); sure: rows with one value that
-- agree by no chance
select
    {% for pair in pairs %}
    p{{ loop.index | lit }}.share as {{ pair.name | ident }}{% if not loop.last %},{% endif %}

    {% endfor %}
from
    {% for pair in pairs %}
    {% if not loop.first %}
    cross join
    {% endif %}
    (
        select
            coalesce(max(case
                when 100 * several < {{ few | lit }} * n or alike >= 0.95 then 0
                when agreeing / nullif(several, 0) - alike >= {{ agreed | lit }} * (1 - alike)
                then cast(floor(100 * one / n) as integer)
                {% if pair.in_part %}
                when 100 * (sure - by_chance) >= {{ few | lit }} * n
                then cast(floor(100 * sure / n) as integer)
                {% endif %}
                else 0
            end), 0) as share
        from (
            select
                max(w.n) as n,
                max(w.alike) as alike,
                sum(case when total > 1 then total else 0 end) as several,
                sum(case when total > 1 then agreeing / (total - 1) else 0 end) as agreeing,
                sum(case when total > 1 and different = 1 then total else 0 end) as one,
                sum(case when total >= {{ sure | lit }} and different = 1 then total else 0 end) as sure,
                {#- Postgres fails on a power that is too small for a double #}

                sum(case
                    when total >= {{ sure | lit }}
                    then total * exp(greatest(-700, (total - 1) * ln(w.share)))
                    else 0
                end) as by_chance
            from (
                select
                    cast(sum(n) as double) as total,
                    count(*) as different,
                    cast(sum(n * (n - 1)) as double) as agreeing
                from (
                    select {{ pair.told_by }} as cell, count(*) as n
                    from {{ beside | ident }}
                    where {{ pair.told_by }} is not null
                    group by {{ pair.told_by }}, {{ pair.quasi }}
                ) as cells
                group by cell
            ) as totals
            cross join (
                select
                    cast(sum(n) as double) as n,
                    cast(max(n) as double) / sum(n) as share,
                    cast(sum(n * (n - 1)) as double) / nullif(sum(n) * (sum(n) - 1), 0) as alike
                from (
                    select count(*) as n
                    from {{ beside | ident }}
                    where {{ pair.told_by }} is not null
                    group by {{ pair.quasi }}
                ) as counted
            ) as w
        ) as t
    ) as p{{ loop.index | lit }}
    {% endfor %}

-- name: groups
-- Columns that number groups of persons: how many there are, and how many of those that are large
-- enough for a class have equal quasi-identifiers in all rows, which no other group has.
-- parameters: groups: columns with a digest, each with the names of its figures
-- quasi: columns of the quasi-identifiers; units: what is counted; least: size of a class
select
    {% for one in groups %}
    g{{ loop.index | lit }}.different as {{ one.different | ident }},
    g{{ loop.index | lit }}.known as {{ one.known | ident }},
    g{{ loop.index | lit }}.most as {{ one.most | ident }},
    g{{ loop.index | lit }}.large as {{ one.large | ident }},
    g{{ loop.index | lit }}.alike as {{ one.alike | ident }}{% if not loop.last %},{% endif %}

    {% endfor %}
from
    {% for one in groups %}
    {% if not loop.first %}
    cross join
    {% endif %}
    (
        select
            count(*) as different,
            cast(coalesce(sum(n), 0) as bigint) as known,
            cast(coalesce(max(n), 0) as bigint) as most,
            count(*) filter (where n >= {{ least | lit }}) as large,
            count(*) filter (where n >= {{ least | lit }} and tuples = 1 and sharing = 1) as alike
        from (
            select grp, cast(sum(n) as bigint) as n, count(*) as tuples, max(sharing) as sharing
            from (
                select {{ one.digest }} as grp, {{ units }} as n, count(*) over (partition by tuple) as sharing
                from (select *, hash({{ quasi | join }}) as tuple from {{ snapshot | ident }}) as digests
                where {{ one.digest }} is not null
                group by {{ one.digest }}, tuple
            ) as apart
            group by grp
        ) as sizes
    ) as g{{ loop.index | lit }}
    {% endfor %}

-- name: unique_rows
-- Rows (persons) whose values of the kept columns nobody else has.
-- parameters: columns: the kept ones; units: what is counted; alone, known: names of the figures
select
    count(*) filter (where n = 1) as {{ alone | ident }},
    cast(coalesce(sum(n), 0) as bigint) as {{ known | ident }}
from (
    select {{ units }} as n
    from {{ snapshot | ident }}
    group by {{ columns | join }}
) as held

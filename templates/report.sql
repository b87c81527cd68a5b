-- name: person_alone
-- Classes of persons: their number, the persons of the smallest, the persons who are alone in
-- theirs, all persons.
select count(*), coalesce(min(n), 0), count(*) filter (where n = 1), cast(coalesce(sum(n), 0) as bigint)
from (select count(distinct person) as n from {{ classes | ident }} group by class)

-- name: person_classes
-- Classes of persons: two persons are in one class if their rows have the same set of
-- quasi-identifier tuples. Rows without a person are left out.
create or replace table {{ classes | ident }} as
with rows_read as (
    select
        {{ person }} as person
        {% for value, name in keys %}
        , {{ value }} as {{ name }}
        {% endfor %}
    from {{ relation }}
    where {{ person }} is not null
),
known as (
    select person, dense_rank() over (order by {% for _, name in keys %}{% if not loop.first %}, {% endif %}{{ name }}{% endfor %}) as tuple, count(*) as n
    from rows_read
    group by person{% for _, name in keys %}, {{ name }}{% endfor %}

),
persons as (select person, list(tuple order by tuple) as tuples, cast(sum(n) as bigint) as n from known group by person),
numbered as (select person, n, dense_rank() over (order by tuples) as class, len(tuples) as tuples from persons)
select class, person, tuples from numbered, unnest(range(n)) as rows_of(number)

-- name: binned
-- Rows and units of every bin; bin 0 has the values outside of all bins, bin -1 the NULLs.
select
    coalesce(b.bin, case when c.value is null then -1 else 0 end) as bin,
    min(b.label) as label,
    sum(c.n) as n,
    sum(c.units) as units
from {{ counted | ident }} c
left join {{ bins | ident }} b on {% if ordered %}c.place >= b.low and c.place < b.high{% else %}c.value = b.label{% endif %}

group by 1
order by 1

-- name: distance
-- How far the distribution of a category has moved, value by value, before values are combined
-- into bins: half the sum of the differences of the shares. NULL is a value; the part of a cell
-- that none of its values accounts for counts as NULL.
with placed as (
    {% if members is none %}
    select value, cast(n as double) as n from {{ after | ident }}
    {% else %}
    select cast(d.value as varchar) as value, c.n * m.weight / cast(m.size as double) as n
    from (select k{{ i | lit }} as cell, count(*) as n from {{ rows | ident }} group by k{{ i | lit }}) c
    join {{ members | ident }} m on m.cell = c.cell
    join {{ domain | ident }} d on d.code = m.code
    {% endif %}
),
shares as (
    select value, n / (select sum(n) from {{ counted | ident }}) as p, 0.0 as q from {{ counted | ident }}
    union all
    select value, 0.0, n / {{ total | lit }} from placed
    union all
    select null, 0.0, 1 - coalesce(sum(n), 0) / {{ total | lit }} from placed
),
moved as (select value, sum(cast(p as double)) - sum(cast(q as double)) as d from shares group by value)
select coalesce(sum(abs(d)), 0) / 2, cast(null as double), (select count(*) from {{ counted | ident }}) from moved

-- name: distance_ordered
-- How far the distribution of an ordered column has moved, value by value, before values are combined
-- into bins: half the sum of the differences of the shares, and the largest difference of the shares below
-- any value (Kolmogorov's distance). A cell is spread evenly over the whole numbers of its interval, or
-- over its length where a bound is no whole number; NULL is a value, and comes first. Densities are
-- summed as integers, so that none is left where no interval is.
with released as (
    {% if members is none %}
    select place as x, n / {{ total | lit }} as q, 0.0 as integral, 0.0 as dense
    from {{ after | ident }}
    where place is not null
    {% else %}
    select d.place as x, c.n * m.weight / cast(m.size as double) / {{ total | lit }} as q, 0.0 as integral, 0.0 as dense
    from (select k{{ i | lit }} as cell, count(*) as n from {{ rows | ident }} group by k{{ i | lit }}) c
    join {{ members | ident }} m on m.cell = c.cell
    join {{ domain | ident }} d on d.code = m.code
    {% endif %}
),
{% if spans is not none %}
spanned as (
    select
        s.lo,
        s.hi,
        c.n / {{ total | lit }} as q,
        case when s.integral then s.hi - s.lo + 1 else s.hi - s.lo end as points,
        case when s.nullable then 1 else 0 end as nulls,
        s.integral
    from (
        -- from here on, doubles are whole because they have no room for more
        select cell, lo, hi, nullable, integral and (lo = hi or greatest(-lo, hi) < 9e15) as integral
        from {{ spans | ident }}
    ) s
    join (select k{{ i | lit }} as cell, count(*) as n from {{ rows | ident }} group by k{{ i | lit }}) c
    on s.cell = c.cell
    where s.lo = s.hi or isfinite(s.hi - s.lo)
),
-- densities per length of the widest interval, so that none is too large; one that is shorter by far counts
-- as a point
stretch as (select coalesce(max(hi - lo) filter (where not integral and lo < hi), 1) as unit from spanned),
intervals as (
    select
        case when narrow then lo else hi end as hi,
        lo,
        integral,
        case when narrow then q / (1 + nulls) else q / (points + nulls * least(points, 1)) * per end as density
    from (
        select
            *,
            not integral and lo < hi and points < unit * 1e-12 as narrow,
            case when integral or lo = hi then 1 else unit end as per
        from spanned
        cross join stretch
    ) s
),
{% endif %}
changes as (
    select place as x, n / (select sum(n) from {{ counted | ident }}) as p, 0.0 as q, 0.0 as integral, 0.0 as dense
    from {{ counted | ident }}
    where place is not null
    union all
    select x, 0.0, q, 0.0, 0.0 from released
    {% if spans is not none %}
    union all
    select lo, 0.0, density, 0.0, 0.0 from intervals where lo = hi
    union all
    select lo, 0.0, 0.0, case when integral then density else 0.0 end, case when integral then 0.0 else density end
    from intervals
    where lo < hi
    union all
    select
        case when integral then hi + 1 else hi end,
        0.0,
        0.0,
        case when integral then -density else 0.0 end,
        case when integral then 0.0 else -density end
    from intervals
    where lo < hi
    {% endif %}
),
points as (
    select
        x,
        sum(cast(p as double)) as p,
        sum(cast(q as double)) as q,
        sum(cast(round(integral * 1e24) as hugeint)) as integral,
        sum(cast(round(dense * 1e24) as hugeint)) as dense
    from changes
    group by x
),
swept as (
    select
        x,
        p,
        q,
        cast(sum(integral) over w as double) / 1e24 as integral,
        cast(sum(dense) over w as double) / 1e24 as dense,
        lead(x) over (order by x) as following
    from points
    window w as (order by x rows unbounded preceding)
),
measured as (
    select
        x,
        p - q - case when x = floor(x) then integral else 0 end as here,
        case when integral > 0 then greatest(ceil(following) - 1 - floor(x), 0) * integral else 0 end
        + case when dense > 0 then (following - x) * dense{% if spans is not none %} / (select unit from stretch){% endif %} else 0 end as between_points,
        q + case when x = floor(x) then integral else 0 end as after_here
    from swept
),
nulls as (
    select
        coalesce((select sum(n) from {{ counted | ident }} where place is null), 0)
        / (select sum(n) from {{ counted | ident }})
        - (1 - coalesce((select sum(after_here + coalesce(between_points, 0)) from measured), 0)) as d
),
summed as (
    select
        m.here,
        coalesce(m.between_points, 0) as between_points,
        n.d + coalesce(sum(m.here - coalesce(m.between_points, 0)) over (order by m.x rows between unbounded preceding and 1 preceding), 0) as before,
        n.d
    from measured m
    cross join nulls n
)
select
    (abs((select d from nulls)) + coalesce(sum(abs(here) + between_points), 0)) / 2,
    greatest(abs((select d from nulls)), coalesce(max(abs(before + here)), 0), coalesce(max(abs(before + here - between_points)), 0)),
    (select count(*) from {{ counted | ident }})
from summed

-- name: expected
-- The rows that a recipient expects in every bin of a generalized column: each cell spread evenly
-- over its values (NULL is one more value), a bucket by its values; bin 0 has all that is in no
-- bin, including NULL.
with cells as (select k{{ i | lit }} as cell, count(*) as n from {{ rows | ident }} group by k{{ i | lit }}),
by_members as (
    select b.bin, sum(c.n * m.weight / cast(m.size as double)) as n
    from cells c
    join {{ members | ident }} m on m.cell = c.cell
    join {{ domain | ident }} d on d.code = m.code
    join {{ bins | ident }} b on {% if ordered %}d.place >= b.low and d.place < b.high{% else %}cast(d.value as varchar) = b.label{% endif %}

    group by b.bin
)
{% if ordered %}
, cut as (
    select
        b.bin,
        c.n,
        s.lo,
        s.hi,
        s.integral,
        case when s.nullable then 1 else 0 end as nulls,
        greatest(s.lo, b.low) as low,
        least(s.hi, b.high) as high,
        s.hi < b.high as closed
    from cells c
    join {{ spans | ident }} s on s.cell = c.cell
    join {{ bins | ident }} b on s.lo < b.high and s.hi >= b.low
),
by_spans as (
    select
        bin,
        sum(
            n * case
                when hi = lo then 1 / (1.0 + nulls)
                when integral then (case when closed then high else ceil(high) - 1 end - ceil(low) + 1) / (hi - lo + 1 + nulls)
                else (high - low) / (hi - lo + nulls * least(hi - lo, 1))
            end
        ) as n
    from cut
    group by bin
)
{% endif %}
select bin, sum(n)
from (
    select * from by_members
    {% if ordered %}
    union all
    select * from by_spans
    {% endif %}
)
group by bin
order by bin

-- name: groups
-- The most frequent values with enough units, each in its own bin; other values have none.
create or replace table {{ bins | ident }} as
with value_counts as (
    select value, n, units, row_number() over (order by n desc, value) as bin
    from {{ counted | ident }}
    where value is not null and units >= {{ floor | lit }}
)
select cast(bin as integer) as bin, value as label, cast(null as double) as low, cast(null as double) as high
from value_counts
where bin <= {{ most | lit }}

-- name: intervals
-- Bins of an ordered column, from given bounds; the first and last are open.
create or replace table {{ bins | ident }} as
select cast(bin as integer) as bin, cast(label as varchar) as label, cast(low as double) as low, cast(high as double) as high
from (values {% for bin in intervals %}{% if not loop.first %}, {% endif %}({{ bin.number | lit }}, {{ bin.label | lit }}, {{ bin.low | lit }}, {{ bin.high | lit }}){% endfor %}) as listed(bin, label, low, high)

-- name: range
-- Where most of an ordered column lies: its 2nd and 98th percentile, or the places that fewer than
-- `least` rows are below or above; and whether fewer than `least` rows are no whole numbers.
-- parameters: least
with running as (
    select place, n, sum(n) over (order by place rows unbounded preceding) as upto, sum(n) over () as total
    from {{ counted | ident }}
    where place is not null and isfinite(place)
)
select
    min(place) filter (where upto >= greatest(0.02 * total, {{ least | lit }})),
    min(place) filter (where upto >= total - greatest(0.02 * total, {{ (least - 1) | lit }})),
    coalesce(sum(n) filter (where place <> floor(place)), 0) < {{ least | lit }},
    count(distinct place)
from running

-- name: values
-- How often every value of one column occurs in a relation, in rows and in units; with `once`, in units only.
create or replace table {{ counted | ident }} as
select
    cast({{ value }} as varchar) as value,
    {% if kind == "date" %}
    {#- a date that no timestamp reaches has no place, and is in no bin #}
    epoch_us(try_cast({{ value }} as timestamp)) / 86400000000.0 as place,
    {% elif kind == "numeric" %}
    cast({{ value }} as double) as place,
    {% else %}
    cast(null as double) as place,
    {% endif %}
    {% if person and once %}
    count(distinct {{ person }}) as n,
    {% else %}
    count(*) as n,
    {% endif %}
    {% if person %}
    count(distinct {{ person }}) as units
    {% else %}
    count(*) as units
    {% endif %}
from {{ data | ident }}
group by {{ value }}

-- name: reconstructed
-- The release as a table with the columns of its source, for the user's own queries: every generalized
-- cell becomes one of the values that it stands for, evenly spread over its rows, NULL being one value more.
-- Of n rows of a cell, the r-th in a random order gets the value that is (r - 1/2) / n of the way through its
-- values. Values that are published apart are dealt to the rows (persons) of their group.
create or replace table {{ target | ident }} as
with numbered as (
    select *, row_number() over (order by b{% for a in attributes %}, k{{ a.index | lit }}{% endfor %}{% for e in carried %}, {{ e }}{% endfor %}) as number
    from {{ rows | ident }}
),
placed as (
    select
        *
        {% for a in attributes %}
        , row_number() over (partition by k{{ a.index | lit }} order by md5(concat(number, ':', {{ a.index | lit }})), number) as r{{ a.index | lit }}
        , count(*) over (partition by k{{ a.index | lit }}) as m{{ a.index | lit }}
        {% endfor %}
    from numbered
){% for a in attributes %},
listed{{ a.index | lit }} as (
    -- what is missing of the size are NULLs
    select m.cell, list_resize(list(d.value order by m.code), min(m.size)) as listed
    from {{ a.members | ident }} m
    join {{ a.domain | ident }} d on d.code = m.code
    cross join generate_series(1, greatest(m.weight, 1)) as copies(copy)
    group by m.cell
){% endfor %}
{% for table in apart %},
positions{{ loop.index | lit }} as (
    select grp, unit, row_number() over (partition by grp order by md5(concat(unit, ':apart:', {{ loop.index | lit }})), unit) as position
    from (select distinct {{ own_group }} as grp, {{ unit }} as unit from numbered)
),
dealt{{ loop.index | lit }} as (
    select s.unit, v.value
    from positions{{ loop.index | lit }} s
    join (
        select {{ group | ident }} as grp, {{ names[loop.index0] | ident }} as value, row_number() over (partition by {{ group | ident }} order by {{ names[loop.index0] | ident }}) as position
        from {{ table | ident }}
    ) v on v.grp = s.grp and v.position = s.position
){% endfor %}

select
    {% for column in columns %}
    {% if column.attribute is not none %}
    {% if column.attribute.ordered %}
    coalesce(
        l{{ column.attribute.index | lit }}.listed[cast(floor(len(l{{ column.attribute.index | lit }}.listed) * (r{{ column.attribute.index | lit }} - 0.5) / m{{ column.attribute.index | lit }}) as bigint) + 1],
        {% if column.kind == "date" %}
        cast(make_timestamp(cast(86400000000 * (
        {% else %}
        cast(
        {% endif %}
            case
                -- behind the last value of a nullable cell there is NULL
                when s{{ column.attribute.index | lit }}.nullable and s{{ column.attribute.index | lit }}.points * (r{{ column.attribute.index | lit }} - 0.5) / m{{ column.attribute.index | lit }} >= s{{ column.attribute.index | lit }}.points_of_values then null
                when s{{ column.attribute.index | lit }}.integral then s{{ column.attribute.index | lit }}.lo + floor(s{{ column.attribute.index | lit }}.points * (r{{ column.attribute.index | lit }} - 0.5) / m{{ column.attribute.index | lit }})
                else s{{ column.attribute.index | lit }}.lo + s{{ column.attribute.index | lit }}.points * (r{{ column.attribute.index | lit }} - 0.5) / m{{ column.attribute.index | lit }}
            end
        {% if column.kind == "date" %}
        ) as bigint)) as {{ column.type }})
        {% else %}
        as {{ column.type }})
        {% endif %}
    )
    {% else %}
    l{{ column.attribute.index | lit }}.listed[cast(floor(len(l{{ column.attribute.index | lit }}.listed) * (r{{ column.attribute.index | lit }} - 0.5) / m{{ column.attribute.index | lit }}) as bigint) + 1]
    {% endif %}
    {% elif column.apart is not none %}
    x{{ column.apart | lit }}.value
    {% elif column.carried is not none %}
    {{ column.carried }}
    {% else %}
    cast(null as {{ column.type }})
    {% endif %}
    as {{ column.name | ident }}{% if not loop.last %},{% endif %}

    {% endfor %}
from placed
{% for a in attributes %}
left join listed{{ a.index | lit }} l{{ a.index | lit }} on l{{ a.index | lit }}.cell = k{{ a.index | lit }}
{% if a.ordered %}
left join (
    select *, points_of_values + case when nullable then least(points_of_values, 1) else 0 end as points
    from (select *, case when integral then hi - lo + 1 else hi - lo end as points_of_values from {{ a.spans | ident }})
) s{{ a.index | lit }} on s{{ a.index | lit }}.cell = k{{ a.index | lit }}
{% endif %}
{% endfor %}
{% for table in apart %}
left join dealt{{ loop.index | lit }} x{{ loop.index | lit }} on x{{ loop.index | lit }}.unit = {{ unit }}
{% endfor %}

-- name: answers
-- A query's figures on the source and on the release, compared group by group: the number of
-- groups, and the relative error, which is 1 for a missing group. No figure of a single group is
-- returned. Groups of fewer than `least` units are left out.
-- parameters: units, the column that counts them; figure; keys; least
with pairs as (
    select
        b.figure as true_figure,
        a.figure as answer,
        b.present as in_source,
        a.present as in_release,
        coalesce(b.{{ units }}, a.{{ units }}) as units
    from (select *, cast({{ figure }} as double) as figure, true as present from {{ before | ident }}) b
    full join (select *, cast({{ figure }} as double) as figure, true as present from {{ after | ident }}) a
        on true{% for key in keys %} and a.{{ key }} is not distinct from b.{{ key }}{% endfor %}

),
errors as (
    select
        in_source,
        in_release,
        abs(coalesce(answer, 0) - coalesce(true_figure, 0)) as difference,
        abs(true_figure) as size,
        case
            when in_source is null then null
            when in_release is null then 1
            when answer is not distinct from true_figure then 0
            when coalesce(true_figure, 0) = 0 or answer is null then 1
            else abs(answer - true_figure) / abs(true_figure)
        end as error
    from pairs
    where units >= {{ least | lit }}
)
select
    count(*) filter (where in_source) as groups,
    count(*) filter (where in_source and in_release is null) as missing,
    count(*) filter (where in_source is null) as invented,
    avg(error) as mean_error,
    median(error) as median_error,
    coalesce(sum(difference) / nullif(sum(size), 0), 0) as total_error
from errors

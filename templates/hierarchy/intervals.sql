-- name: bounds
-- Intervals of grid points as bounds in the column's type.
-- parameters: lower, upper: SQL that turns first_at and past_at into values; real: floating point
create or replace table {{ bounds | ident }} as
select
    value,
    level,
    first as place,
    {{ lower }} as lo,
    {{ upper }} as hi,
    cast(null as varchar) as label
from (
    select
        i.value,
        i.level,
        i.first,
        g.origin + i.first * g.step as first_at,
    {% if real %}
        case when i.past = g.points then g.last else g.origin + i.past * g.step end as past_at
    {% else %}
        g.origin + i.past * g.step as past_at
    {% endif %}
    from {{ intervals | ident }} as i
    cross join {{ grid | ident }} as g
) as placed

-- name: listed
-- The hierarchy of a taxonomy: the rows of the values that the source has.
-- parameters: typed: the listed text in the column's type
create or replace table {{ hierarchy | ident }} as
select
    v.value,
    l.leaf,
    l.level,
    l.node,
    l.label,
    l.leaves,
    cast(null as {{ sql_type }}) as lo,
    cast(null as {{ sql_type }}) as hi
from {{ values | ident }} as v
inner join (
    select *, {{ typed }} as typed
    from {{ listed | ident }}
) as l on v.value = l.typed

-- name: count_values
-- How many distinct values the hierarchy has to cover.
select count(*) as distinct_values
from {{ values | ident }}

-- name: read_table
-- The rows of a taxonomy table, each as a JSON object of texts in the order of the columns.
select to_json(line) as line
from (
    select columns(*)::varchar
    from {{ taxonomy | ident }}
) as line

-- name: read_table.postgres
-- The rows of a taxonomy table, each as a JSON object of texts in the order of the columns.
select cast(json_object_agg(cell.name, cell.text) as varchar) as line
from (select row_number() over () as number, row_to_json(line) as cells from {{ taxonomy | ident }} as line) as numbered
cross join lateral json_each_text(cells) as cell(name, text)
group by number

-- name: grid_reals
-- A grid over the domain of a floating-point column, so that intervals end on grid points.
-- parameters: lowest, highest: ends of the domain; shape: halves, cells or units;
-- min_width: least width of a leaf, or NULL for one leaf per distinct value on average;
-- most: the most leaves made without a min_width
create or replace table {{ grid | ident }} as
with ends as (
    select
        cast(min({{ lowest }}) as double) as lowest,
        cast(max({{ highest }}) as double) as highest,
        count(*) as distinct_values
    from {{ values | ident }}
),

widths as (
    select
        *,
        highest - lowest as span,
        coalesce({{ min_width }}, (highest - lowest) / least(distinct_values, {{ most }})) as leaf
    from ends
    where lowest is not null
),

{% if shape == "halves" %}
shapes as (
    select
        lowest as origin,
        highest as last,
        span,
        cast(
            pow(2, coalesce(greatest(0, least(20, floor(log2(nullif(span, 0) / leaf)))), 0))
            as bigint
        ) as points
    from widths
)

select origin, span / points as step, points, last
from shapes
{% elif shape == "cells" %}
shapes as (
    select
        lowest as origin,
        highest as last,
        leaf,
        cast(least(greatest(1, coalesce(floor(span / nullif(leaf, 0)), 1)), 4e18) as bigint)
            as points
    from widths
)

select origin, leaf as step, points, last
from shapes
{% else %}
shapes as (
    select
        case when lowest >= 1 then cast(1 as double) else floor(lowest) end as origin,
        highest
    from widths
)

select
    origin,
    cast(1 as double) as step,
    cast(floor(highest) - origin + 1 as bigint) as points,
    floor(highest) + 1 as last
from shapes
{% endif %}

-- name: grid_points
-- The points between the ends of the domain: where they begin, how many there are.
-- parameters: lowest, highest: positions of the ends; origin: where counting begins
create or replace table {{ grid | ident }} as
with ends as (
    select min({{ lowest }}) as lowest, max({{ highest }}) as highest
    from {{ values | ident }}
)
select
    cast({{ origin }} as hugeint) as origin,
    cast(1 as hugeint) as step,
    cast(highest - ({{ origin }}) + 1 as bigint) as points
from ends
where lowest is not null

-- name: positions
-- Where each value lies on the grid, counted from 0.
-- parameters: position: position of `value` before the origin is taken off; real: floating point
create or replace table {{ positions | ident }} as
{% if real %}
with guessed as (
    select
        v.value,
        v.n,
        {{ position }} as exact_at,
        g.*,
        coalesce(
            greatest(0, least(g.points - 1, floor(({{ position }} - g.origin) / nullif(g.step, 0)))),
            0
        ) as guess
    from {{ values | ident }} as v
    cross join {{ grid | ident }} as g
)

select
    value,
    n,
    -- a quotient can round across a grid point; the bounds themselves decide
    cast(
        case
            when guess > 0 and origin + guess * step > exact_at then guess - 1
            when guess + 1 < points and origin + (guess + 1) * step <= exact_at then guess + 1
            else guess
        end as bigint
    ) as position
from guessed
{% else %}
select v.value, v.n, cast({{ position }} - g.origin as bigint) as position
from {{ values | ident }} as v
cross join {{ grid | ident }} as g
{% endif %}

-- name: guard_range
-- A range of values that is too wide to count its points in 64 bits, or values too large to count from at all.
-- parameters: scale: points per unit of the column; widest: the most points;
-- from_one: points are counted from 1, or from a lower minimum;
-- large: condition on a value too large
with checks as (
    select
        count(*) filter (where {{ large }}) > 0 as large,
        (
            max(cast(value as double))
            - {% if from_one %}least(min(cast(value as double)), 1){% else %}min(cast(value as double)){% endif %}

        ) * {{ scale }} > {{ widest }} as wide
    from {{ values | ident }}
)
select large and not wide as large
from checks
where large or wide

-- name: finish
-- The hierarchy of an ordered column: one row per value and level.
-- Leaves are the points of the domain, or the distinct values where it has no points to count.
-- parameters: points: count points; at_value, at_lo, at_hi, at_lowest: positions of these columns;
-- widest: where there may be more points than 64 bits count, the most of them: then leaves are
-- the distinct values; scale: points per unit of the column;
-- lo_text, hi_text: how bounds are written
create or replace table {{ hierarchy | ident }} as
with extent as (
    select min(lo) as lowest, max(level) as top
    {% if widest is not none %}
        , (max(cast(hi as double)) - min(cast(lo as double))) * {{ scale }} > {{ widest }} as wide
    {% endif %}
    from {{ bounds | ident }}
),

placed as (
    select
        b.*,
        e.top,
    {% if points and widest is not none %}
        case when e.wide then dense_rank() over (order by b.value)
            else cast({{ at_value }} - {{ at_lowest }} + 1 as bigint) end as leaf,
        case when not e.wide then cast({{ at_lo }} - {{ at_lowest }} + 1 as bigint) end as node,
        case when not e.wide then cast({{ at_hi }} - {{ at_lo }} + 1 as bigint) end as leaves
    {% elif points %}
        cast({{ at_value }} - {{ at_lowest }} + 1 as bigint) as leaf,
        cast({{ at_lo }} - {{ at_lowest }} + 1 as bigint) as node,
        cast({{ at_hi }} - {{ at_lo }} + 1 as bigint) as leaves
    {% else %}
        dense_rank() over (order by b.value) as leaf
    {% endif %}
    from {{ bounds | ident }} as b
    cross join extent as e
)

select
    value,
    leaf,
    level,
{% if points and widest is not none %}
    coalesce(node, min(leaf) over (partition by level, place)) as node,
{% elif points %}
    node,
{% else %}
    min(leaf) over (partition by level, place) as node,
{% endif %}
    case
        when level = top then '*'
        when label is not null then label
        when {{ lo_text }} = {{ hi_text }} then {{ lo_text }}
        else '[' || {{ lo_text }} || ', ' || {{ hi_text }} || ']'
    end as label,
{% if points and widest is not none %}
    coalesce(leaves, count(*) over (partition by level, place)) as leaves,
{% elif points %}
    leaves,
{% else %}
    count(*) over (partition by level, place) as leaves,
{% endif %}
    lo,
    hi
from placed

-- name: halve
-- Conventional hierarchy: halve the domain while the halves are wide enough; if they are unequal,
-- the left one is larger. Every value descends on its own, so the work grows with the values and
-- not with the domain.
-- parameters: narrowest: least mean width of a leaf in points; exact: points are single values
-- source: Yaseen et al. 2018, method 1
create or replace table {{ intervals | ident }} as
with recursive halves (value, position, depth, first, past, width) as (
    select
        p.value, p.position, 0, cast(0 as bigint), g.points, cast(g.points as double)
    from {{ positions | ident }} as p
    cross join {{ grid | ident }} as g
    union all
    select
        value,
        position,
        depth + 1,
        case when position < middle then first else middle end,
        case when position < middle then middle else past end,
        width / 2
    from (
        select *, first + ((past - first + 1) >> 1) as middle
        from halves
    ) as wider
    where width / 2 >= {{ narrowest }}
    {% if exact %}
        and width / 2 > 1
    {% endif %}
)

select value, cast(max(depth) over () - depth + 1 as integer) as level, first, past
from halves

-- name: guard_cells
-- More leaf intervals than a hierarchy should have.
-- parameters: width: width of a leaf in points; most: the most leaves
select cast(floor(points / {{ width }}) as bigint) as leaves
from {{ grid | ident }}
where floor(points / {{ width }}) > {{ most }}

-- name: widths_found
-- Divisor hierarchy: the widths of its levels, from the divisors of the largest value.
-- A prime has no divisor to use, so the number after it is divided instead.
-- parameters: unit: points per unit; narrowest: least width in units;
-- chain: keep only divisors that divide each other; exact: a point is a single value
-- source: Yaseen et al. 2018, Algorithm 1
create or replace table {{ widths | ident }} as
with recursive extent as (
    select cast(ceil(points / {{ unit }}) as bigint) as total
    from {{ grid | ident }}
),

candidates as (
    select unnest([total, total + 1]) as total, unnest([0, 1]) as added
    from extent
),

factors as (
    select c.total, c.added, f.divisor
    from candidates as c
    cross join lateral generate_series(1, cast(floor(sqrt(c.total)) as bigint)) as f (divisor)
    where c.total % f.divisor = 0
),

divided as (
    select total, added, divisor
    from factors
    union
    select total, added, cast(total / divisor as bigint)
    from factors
),

chosen as (
    select total, added, count(*) = 2 and total > 2 as prime
    from divided
    group by total, added
),

divisors as (
    select d.total, d.divisor
    from divided as d
    inner join chosen as given on given.added = 0
    where d.added = case when given.prime then 1 else 0 end
),

{% if chain %}
primes as (
    select d.divisor as prime
    from divisors as d
    left join divisors as smaller
        on smaller.divisor > 1 and smaller.divisor < d.divisor and d.divisor % smaller.divisor = 0
    where d.divisor > 1
    group by d.divisor
    having count(smaller.divisor) = 0
),

kept (divisor, total) as (
    select min(divisor), total
    from divisors
    where divisor >= {{ narrowest }} or divisor = total
    group by total
    union all
    -- multiply by the largest prime that is left: narrow levels first grow fast, then double
    -- (Postgres has no aggregates over what a recursion has reached)
    select k.divisor * p.prime, k.total
    from kept as k
    cross join lateral (
        select max(prime) as prime
        from primes
        where cast(k.total / k.divisor as bigint) % prime = 0
    ) as p
    where p.prime is not null
)
{% else %}
kept as (
    select divisor, total
    from divisors
    where divisor >= {{ narrowest }} or divisor = total
)
{% endif %}

select divisor * {{ unit }} as width
from kept
{% if exact %}
where divisor * {{ unit }} > 1 or total = 1
{% endif %}

-- name: widths_given
-- Divisor hierarchy: the widths of its levels as the policy gives them.
-- parameters: given: widths in units; unit: points per unit
create or replace table {{ widths | ident }} as
select cast(given * {{ unit }} as bigint) as width
from (
    select unnest([{{ given | lits | join }}]) as given
) as list

-- name: divide
-- Divisor hierarchy: the interval of each value at every width, and the root above them.
-- source: Yaseen et al. 2018, method 2
create or replace table {{ intervals | ident }} as
with levels as (
    select w.width, row_number() over (order by w.width) as level
    from {{ widths | ident }} as w
    cross join {{ grid | ident }} as g
    where w.width < g.points
),

rooted as (
    select width, level
    from levels
    union all
    -- the narrowest width that holds the whole domain, else the domain itself
    select
        coalesce(
            (select min(w.width) from {{ widths | ident }} as w where w.width >= g.points), g.points
        ),
        (select count(*) + 1 from levels)
    from {{ grid | ident }} as g
)

select
    p.value,
    cast(r.level as integer) as level,
    p.position - p.position % r.width as first,
    p.position - p.position % r.width + r.width as past
from {{ positions | ident }} as p
cross join rooted as r

-- name: pair_nodes
-- Cardinality hierarchy: pair neighbouring nodes, level by level, until one is left. If their
-- number is odd, one node at an odd position stays alone: the one for which the counts of the new
-- level differ least (largest minus smallest), or the leftmost of several.
-- parameters: width: width of a leaf in points
-- source: Yaseen et al. 2018, Algorithm 2
create or replace table {{ nodes | ident }} as
with recursive cells as (
    select
        points,
        {{ width }} as width,
        cast(greatest(1, (points - points % {{ width }}) / {{ width }}) as bigint) as leaves
    from {{ grid | ident }}
),

counted as (
    select
        least(p.position - p.position % c.width, (c.leaves - 1) * c.width) as first,
        cast(sum(p.n) as bigint) as n
    from {{ positions | ident }} as p
    cross join cells as c
    group by 1
),

leaf_nodes as (
    select
        f.number + 1 as ordinal,
        f.number * c.width as first,
        case when f.number + 1 = c.leaves then c.points else (f.number + 1) * c.width end as past,
        c.leaves
    from cells as c
    cross join lateral generate_series(0, c.leaves - 1) as f (number)
),

paired (level, ordinal, first, past, n, total, alone) as (
    select
        0,
        l.ordinal,
        l.first,
        l.past,
        coalesce(k.n, 0),
        l.leaves,
        cast(null as bigint)
    from leaf_nodes as l
    left join counted as k on l.first = k.first
    union all
    select
        level + 1,
        parent,
        min(first),
        max(past),
        cast(sum(n) as bigint),
        max(total + 1) >> 1,
        max(alone)
    from (
        select
            level,
            first,
            past,
            n,
            total,
            alone,
            case when ordinal <= alone then (ordinal + 1) >> 1 else (ordinal >> 1) + 1 end
                as parent
        from (
            select
                level,
                ordinal,
                first,
                past,
                n,
                total,
                case
                    when total % 2 = 0 then total + 1
                    else first_value(ordinal) over (
                        order by case when ordinal % 2 = 1 then spread end nulls last, ordinal
                    )
                end as alone
            from (
                select
                    *,
                    greatest(
                        n,
                        max(case when ordinal % 2 = 0 then pair end) over before,
                        max(case when ordinal % 2 = 1 then pair end) over after
                    ) - least(
                        n,
                        min(case when ordinal % 2 = 0 then pair end) over before,
                        min(case when ordinal % 2 = 1 then pair end) over after
                    ) as spread
                from (
                    select
                        *,
                        n + lag(n) over (order by ordinal) as pair
                    from paired
                    where total > 1
                ) as neighbours
                window
                    before as (order by ordinal rows between unbounded preceding and 1 preceding),
                    after as (order by ordinal desc rows between unbounded preceding and 1 preceding)
            ) as spreads
        ) as choices
    ) as placed
    group by level, parent
)

select level, ordinal, first, past, alone
from paired

-- name: climb
-- Cardinality hierarchy: the node of each value at every level.
-- parameters: exact: a leaf interval of one point is a value, and no level
create or replace table {{ intervals | ident }} as
with recursive extent as (
    select count(*) as leaves, min(past - first) as width
    from {{ nodes | ident }}
    where level = 0
),

steps as (
    select level, max(alone) as alone
    from {{ nodes | ident }}
    where level > 0
    group by level
),

climb (value, level, ordinal) as (
    select
        p.value,
        0,
        cast(least(l.leaves, (p.position - p.position % l.width) / l.width + 1) as bigint)
    from {{ positions | ident }} as p
    cross join extent as l
    union all
    select
        c.value,
        c.level + 1,
        case when c.ordinal <= s.alone then (c.ordinal + 1) >> 1 else (c.ordinal >> 1) + 1 end
    from climb as c
    inner join steps as s on c.level + 1 = s.level
),

base as (
    select
    {% if exact %}
        case when width = 1 and leaves > 1 then 0 else 1 end as added
    {% else %}
        1 as added
    {% endif %}
    from extent
)

select c.value, cast(c.level + b.added as integer) as level, n.first, n.past
from climb as c
inner join {{ nodes | ident }} as n on c.level = n.level and c.ordinal = n.ordinal
cross join base as b
where c.level + b.added > 0

-- name: cut_points
-- Intervals between given cut points, and the root above them.
-- Each cut begins an interval; the last one ends with the data unless it is top-coded.
-- parameters: marks: cut points in the column's type; before: the value before `past`;
-- bottom, top: labels of the open ends, or NULL
create or replace table {{ bounds | ident }} as
with marks as (
    select begins, lead(begins) over (order by begins) as past, row_number() over (order by begins) as place
    from (
        select unnest([{{ marks | join }}]) as begins
    ) as list
),

ends as (
    select min(value) as lowest, max(value) as highest, (select min(begins) from marks) as first_mark
    from {{ values | ident }}
),

placed as (
    select
        v.value,
        m.place,
        m.begins as lo,
        case when m.past is null then greatest(m.begins, e.highest) else {{ before }} end as hi,
        case when m.past is null then {{ top }} end as label
    from {{ values | ident }} as v
    inner join marks as m on v.value >= m.begins and (m.past is null or v.value < m.past)
    cross join ends as e
    union all
    select v.value, 0, e.lowest, {{ before_first }}, {{ bottom }}
    from {{ values | ident }} as v
    cross join ends as e
    where v.value < e.first_mark
)

select value, 1 as level, cast(place as bigint) as place, lo, hi, cast(label as varchar) as label
from placed
union all
select value, 2, 0, min(lo) over (), max(hi) over (), cast(null as varchar)
from placed

-- name: calendar
-- Calendar levels: the day, month, quarter, year or decade of each value, and the root.
-- parameters: periods: name and length of each level; plain: the value as a timestamp in UTC;
-- begins_at, ends_at: bounds in the column's type, from `begins` and `past`
create or replace table {{ bounds | ident }} as
with periods as (
{% for period in periods %}
    select
        value,
        {{ loop.index | lit }} as level,
        cast(date_trunc({{ period.name | lit }}, {{ plain }}) as timestamp) as begins,
        cast(date_trunc({{ period.name | lit }}, {{ plain }}) as timestamp)
            + interval {{ period.length | lit }} as past
    from {{ values | ident }}
    {% if not loop.last %}
    union all
    {% endif %}
{% endfor %}
),

typed as (
    select value, level, begins, {{ begins_at }} as lo, {{ ends_at }} as hi
    from periods
)

select value, level, epoch_us(begins) as place, lo, hi, cast(null as varchar) as label
from typed
union all
select
    value, level + 1, 0, min(lo) over (), max(hi) over (), cast(null as varchar)
from typed
where level = (select max(level) from typed)

-- name: guard_values
-- Values that the builder cannot place: how many there are, and in how many rows.
-- parameters: condition: SQL on `value` that holds for a value without a place
select count(*) as distinct_values, cast(sum(n) as bigint) as row_count
from {{ values | ident }}
where {{ condition }}
having count(*) > 0

-- name: export_rows
-- A hierarchy as it is exported: each value as text, and its labels from level 1 up.
select cast(value as varchar) as value, list(label order by level) as labels
from {{ hierarchy | ident }}
group by value, leaf
order by leaf

-- name: show_nodes
-- The nodes of a hierarchy with their counts, their distortion, and the node above each.
select
    h.level,
    h.node,
    min(h.label) as label,
    min(h.leaves) as leaves,
    count(*) as distinct_values,
    cast(sum(v.n) as bigint) as row_count,
    min(d.distortion) as distortion,
    min(d.share) as share,
    min(above.node) as parent,
    count(distinct above.node) as parents
from {{ hierarchy | ident }} as h
inner join {{ values | ident }} as v on h.value = v.value
inner join {{ distortion | ident }} as d on h.level = d.level and h.node = d.node
left join {{ hierarchy | ident }} as above on h.value = above.value and above.level = h.level + 1
group by h.level, h.node
order by h.level desc, h.node

-- name: wide_table
-- A hierarchy as a wide table: the value, its label on every level, and bounds of ordered kinds.
-- parameters: levels: per level its number and the names of its columns; bounds: keep lo and hi
create or replace table {{ target | ident }} as
select
    value
{% for one in levels %}
    , max(case when level = {{ one.level | lit }} then label end) as {{ one.label | ident }}
{% endfor %}
{% if bounds %}
{% for one in levels %}
    , max(case when level = {{ one.level | lit }} then lo end) as {{ one.lo | ident }}
    , max(case when level = {{ one.level | lit }} then hi end) as {{ one.hi | ident }}
{% endfor %}
{% endif %}
from {{ hierarchy | ident }}
group by value, leaf
order by leaf

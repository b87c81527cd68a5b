-- name: still_crowded
-- The number of cells that share a bucket with another cell of their person.
select cast(sum(n - 1) as bigint)
from (select count(*) as n from {{ owned | ident }} group by bucket, person having count(*) > 1)
having count(*) > 0

-- name: owners
-- The assigned cells of one column with their persons, numbered for random choices.
create or replace table {{ owned | ident }} as
select p.*, r.person, row_number() over (order by {{ position_draw }}, p.row_id) as position
from {{ placed | ident }} p
join {{ coded | ident }} r on r.row_id = p.row_id

-- name: first_swap_round
-- The start, before any round of swaps.
create or replace table {{ swap_round | ident }} as
select cast(0 as bigint) as n

-- name: swap
-- Cells that share a bucket with another cell of their person are swapped with cells of other
-- buckets, chosen at random among those that leave both buckets with enough different values and
-- different persons. Cells of equal values leave the values of their buckets as they are. Every
-- bucket takes part in at most one swap per round.
create or replace table {{ owned | ident }} as
with crowding as (
    select row_id, draw, value, bucket, person
    from {{ owned | ident }}
    qualify row_number() over (partition by bucket, person order by draw, row_id) > 1
),
total as (select count(*) as n from {{ owned | ident }}),
tried as (
    select
        c.row_id, c.bucket, c.value, c.person,
        o.row_id as other_row, o.bucket as other_bucket, o.value as other_value, o.person as other_person,
        md5_number_lower(concat(hex(c.draw), ':swap ', t.n, ' ', i.j)) as priority
    from crowding c
    cross join {{ swap_round | ident }} t
    cross join range({{ tries | lit }}) i(j)
    cross join total
    join {{ owned | ident }} o
        on o.position = 1 + md5_number_lower(concat(hex(c.draw), ':seat ', t.n, ' ', i.j)) % total.n
    where o.bucket <> c.bucket and o.person <> c.person
        {% if layers %}
        -- buckets that are judged by their distribution keep it
        and o.value = c.value
        {% endif %}
),
value_counts as (
    select bucket, count(*) filter (where value > 0) as n from {{ owned | ident }} group by bucket
),
fitting as (
    select t.*
    from tried t
    -- the bucket that would give a value for a NULL
    join value_counts k on k.bucket = case when t.value > 0 then t.bucket else t.other_bucket end
    where ((t.value > 0) = (t.other_value > 0) or k.n > {{ least | lit }})
        and not exists (
            select 1 from {{ owned | ident }} x
            where x.bucket = t.other_bucket and x.row_id <> t.other_row
                and (x.person = t.person or (x.value = t.value and t.value > 0 and t.value <> t.other_value))
        )
        and not exists (
            select 1 from {{ owned | ident }} x
            where x.bucket = t.bucket and x.row_id <> t.row_id
                and (x.person = t.other_person or (x.value = t.other_value and t.other_value > 0 and t.value <> t.other_value))
        )
),
sides as (
    select bucket as place, priority, row_id, other_row from fitting
    union all
    select other_bucket, priority, row_id, other_row from fitting
),
first_sides as (
    select place, row_id, other_row
    from sides
    qualify row_number() over (partition by place order by priority, row_id, other_row) = 1
),
agreed as (
    select row_id, other_row from first_sides group by row_id, other_row having count(*) = 2
),
moved as (
    select a.row_id, o.bucket
    from agreed a join {{ owned | ident }} o on o.row_id = a.other_row
    union all
    select a.other_row, o.bucket
    from agreed a join {{ owned | ident }} o on o.row_id = a.row_id
)
select p.row_id, p.draw, p.value, coalesce(m.bucket, p.bucket) as bucket, p.person, p.position
from {{ owned | ident }} p
left join moved m on m.row_id = p.row_id

-- name: next_swap_round
-- The next round of swaps.
create or replace table {{ swap_round | ident }} as
select n + 1 as n from {{ swap_round | ident }}

-- name: more_swaps
-- How many cells still share a bucket with another cell of their person, while rounds are left.
select coalesce(sum(n - 1), 0)
from (select count(*) as n from {{ owned | ident }} group by bucket, person having count(*) > 1)
where (select n from {{ swap_round | ident }}) < {{ rounds | lit }}

-- name: swapped_cells
-- The assigned cells after the swaps.
create or replace table {{ placed | ident }} as
select row_id, draw, value, bucket from {{ owned | ident }}

-- name: crowding
-- Persons with more sensitive cells in a column than the column can have buckets.
with of_persons as (
    select person, count(*) as n
    from {{ coded | ident }}
    {% if column.present %}
    where {{ column.present }}
    {% endif %}
    group by person
)
select count(*) filter (where n > floor(total / {{ least | lit }})), cast(max(n) as bigint), cast(max(total) as bigint)
from (select n, sum(n) over () as total from of_persons)
having count(*) filter (where n > floor(total / {{ least | lit }})) > 0

-- name: split_leaves
-- Split every open leaf at its lower median, if both sides are non-empty and eligible.
-- source: LGB Algorithm 2
create or replace table {{ leaves | ident }} as
with sizes as (
    select
        *,
        sum(n) over (partition by leaf) as n_leaf
    from {{ leaves | ident }}
),
{% if tight %}
-- cuts at every boundary between values, and in the middle, which may be between equal values
cuts as (
    select leaf, n_leaf, start + n - leaf as cut from sizes where open and start + n - leaf < n_leaf
    union
    select leaf, n_leaf, cast(floor(n_leaf / 2) as bigint) from sizes where open and n_leaf > 1
),
frequencies as (
    select
        c.leaf, c.n_leaf, c.cut,
        max(least(s.n, greatest(c.leaf + c.cut - s.start, 0))) as most_left,
        max(least(s.n, greatest(s.start + s.n - c.leaf - c.cut, 0))) as most_right
    from cuts c
    join sizes s on s.leaf = c.leaf
    group by c.leaf, c.n_leaf, c.cut
),
chosen as (
    select leaf, cut
    from (
        select leaf, cut, row_number() over (partition by leaf order by abs(2 * cut - n_leaf), cut) as choice
        from frequencies
        where most_left * {{ least | lit }} <= cut and most_right * {{ least | lit }} <= n_leaf - cut
    )
    where choice = 1
),
{% else %}
sided as (
    select
        *,
        -- the lower median is the first value up to which there is at least half of the leaf
        case when 2 * (start - leaf) < n_leaf then 0 else 1 end as side
    from sizes
    where open
),
{% if layers %}
filled as (
    select k.leaf, k.side, f.value, coalesce(s.n, 0) as n, f.q, f.q_known, f.q_size, f.m
    from (select distinct leaf, side from sided) k
    cross join {{ reference | ident }} f
    left join sided s on s.leaf = k.leaf and s.side = k.side and s.value = f.value
    where f.value >= {{ ranked | lit }}
),
layer_0 as (select * from filled),
{% for layer in layers %}
layer_{{ loop.index | lit }} as (
    select *{% for name, expression in layer %}, {{ expression }} as {{ name | ident }}{% endfor %}

    from layer_{{ loop.index0 | lit }}
),
{% endfor %}
valid_sides as (
    select leaf, side from layer_{{ layers | length | lit }} group by leaf, side having {{ holds }}
),
{% endif %}
sides as (
    select leaf, side, min(start) - min(leaf) as cut
    from sided
    {% if layers %}
    where (leaf, side) in (select (leaf, side) from valid_sides)
    {% endif %}
    group by leaf, side
    having max(n) * {{ least | lit }} <= sum(n)
),
chosen as (
    select leaf, max(cut) as cut from sides group by leaf having count(*) = 2
),
{% endif %}
parted as (
    select
        s.start, s.value, s.n, s.leaf, c.cut,
        least(s.n, greatest(s.leaf + c.cut - s.start, 0)) as n_left
    from sizes s
    left join chosen c on c.leaf = s.leaf
)
select start, value, n, leaf, false as open from parted where cut is null
union all
select start, value, cast(n_left as bigint), leaf, true from parted where cut is not null and n_left > 0
union all
select cast(start + n_left as bigint), value, cast(n - n_left as bigint), cast(leaf + cut as bigint), true
from parted where cut is not null and n_left < n

-- name: leaves
-- All sensitive values of one column in one leaf, in their order.
create or replace table {{ leaves | ident }} as
select
    cast(sum(q) over (order by value rows between unbounded preceding and current row) - q as bigint) as start,
    value,
    q as n,
    cast(0 as bigint) as leaf,
    true as open
from {{ reference | ident }}
where value >= {{ ranked | lit }}

-- name: open_leaves
-- How many leaves may still be split.
select count(*) from {{ leaves | ident }} where open

-- name: sensitive_values
-- The sensitive cells of one column, numbered by value, with how often each value occurs among them.
create or replace table {{ reference | ident }} as
with counts as (
    select {{ column.cell }} as original, count(*) as q
    from {{ coded | ident }}
    {% if column.present %}
    where {{ column.present }}
    {% endif %}
    group by 1
),
ordered as (
    select original, q, {{ column.is_null }} as missing
    from counts
)
select
    cast(case when missing then 0 else row_number() over (partition by missing order by original) end as integer) as value,
    original,
    cast(q as bigint) as q,
    cast(coalesce(sum(q) filter (where not missing) over (), 0) as bigint) as q_known,
    cast(sum(q) over () as bigint) as q_size,
    cast(count(*) filter (where not missing) over () as integer) as m
from ordered

-- name: ineligible
-- The sensitive cells of a column cannot be dealt into buckets of different values:
-- one value is too frequent (Xiao and Tao 2007, m-eligible), or there are too few of them.
select
    cast(max(q) filter (where value > 0) as bigint) as most,
    max(q_known) as known,
    max(q_size) as cells,
    max(m) as different
from {{ reference | ident }}
having coalesce(max(q) filter (where value > 0), 0) * {{ least | lit }} > max(q_known)
    or max(q_known) < {{ least | lit }}

-- name: leaf_buckets
-- How many buckets every leaf gets: as many as its size allows, or fewer if the distribution in a
-- bucket would break a rule.
-- source: Xiao and Tao 2007; closed form: bucket = rank mod buckets
create or replace table {{ quotas | ident }} as
with sizes as (
    select leaf, cast(sum(n) as bigint) as n
    from {{ leaves | ident }}
    group by leaf
),
{% if layers %}
-- a bucket's content depends on where its number lies between the starts of the values (modulo B)
tried as (
    select distinct leaf, n, cast(floor(n / t.size) as bigint) as buckets
    from sizes
    join range(1, {{ sizes_tried | lit }}) t(size)
        on t.size >= {{ least | lit }} and t.size <= n
    union
    select leaf, n, 1 from sizes
),
kinds as (
    select distinct t.leaf, t.buckets, (l.start - l.leaf) % t.buckets as bucket
    from tried t join {{ leaves | ident }} l on l.leaf = t.leaf
    union
    select leaf, buckets, n % buckets from tried
    union
    select leaf, buckets, 0 from tried
),
filled as (
    select
        k.leaf, k.buckets, k.bucket, f.value, f.q, f.q_known, f.q_size, f.m,
        -- how many of the value's ranks are congruent to the bucket's number modulo B
        cast(coalesce(sum(
            floor((l.start - l.leaf + l.n - 1 - k.bucket + k.buckets) / k.buckets)
            - floor((l.start - l.leaf - 1 - k.bucket + k.buckets) / k.buckets)), 0) as bigint) as n
    from kinds k
    cross join (select * from {{ reference | ident }} where value >= {{ ranked | lit }}) f
    left join {{ leaves | ident }} l on l.leaf = k.leaf and l.value = f.value
    group by k.leaf, k.buckets, k.bucket, f.value, f.q, f.q_known, f.q_size, f.m
),
layer_0 as (select * from filled),
{% for layer in bucket_layers %}
layer_{{ loop.index | lit }} as (
    select *{% for name, expression in layer %}, {{ expression }} as {{ name | ident }}{% endfor %}

    from layer_{{ loop.index0 | lit }}
),
{% endfor %}
verdicts as (
    select leaf, buckets, bucket, {{ holds }} as holds
    from layer_{{ bucket_layers | length | lit }}
    group by leaf, buckets, bucket
),
fine as (
    select leaf, max(buckets) as buckets
    from (select leaf, buckets from verdicts group by leaf, buckets having bool_and(holds))
    group by leaf
),
{% else %}
fine as (
    select leaf, cast(floor(n / {{ least | lit }}) as bigint) as buckets from sizes
),
{% endif %}
quota as (
    select s.leaf, s.n, coalesce(f.buckets, 1) as buckets
    from sizes s left join fine f on f.leaf = s.leaf
)
select
    leaf, n, buckets,
    cast(sum(buckets) over (order by leaf rows between unbounded preceding and current row) - buckets as bigint) as first
from quota

-- name: deal
-- Assign the sensitive cells of one column to buckets, in the order of their values.
-- source: ties between equal values and the place of NULLs are drawn with the secret
create or replace table {{ placed | ident }} as
with cells as (
    select r.row_id, {{ tie }} as draw, f.value
    from {{ coded | ident }} r
    join {{ reference | ident }} f on f.original is not distinct from {{ column.row_cell }}
    {% if column.row_present %}
    where {{ column.row_present }}
    {% endif %}
),
ranked as (
    select row_id, draw, value, row_number() over (order by value, draw, row_id) - 1 as rank
    from cells
    where value >= {{ ranked | lit }}
),
total as (
    select sum(buckets) as buckets from {{ quotas | ident }}
)
select
    r.row_id, r.draw, r.value,
    cast(q.first + (r.rank - q.leaf) % q.buckets as bigint) as bucket
from ranked r
join {{ leaves | ident }} l on l.value = r.value and r.rank >= l.start and r.rank < l.start + l.n
join {{ quotas | ident }} q on q.leaf = l.leaf
union all
select
    row_id, draw, value,
    cast((row_number() over (order by draw, row_id) - 1) % (select buckets from total) as bigint)
from cells
where value < {{ ranked | lit }}

-- name: permute
-- Permute the values inside every bucket of one column, and number the buckets in secret-keyed order.
-- source: LGB Fig. 2
create or replace table {{ dealt | ident }} as
with places as (
    select
        row_id, bucket, value, draw,
        row_number() over (partition by bucket order by {{ row_draw }}, row_id) as position,
        row_number() over (partition by bucket order by {{ value_draw }}, row_id) as card
    from {{ placed | ident }}
),
numbers as (
    select bucket, row_number() over (order by {{ bucket_draw }}, bucket) as number
    from (select bucket, min(draw) as draw from {{ placed | ident }} group by bucket)
)
select s.row_id, n.number as bucket, {{ value }} as value, {{ label }} as label
from places s
join places c on c.bucket = s.bucket and c.card = s.position
join numbers n on n.bucket = s.bucket
join {{ reference | ident }} f on f.value = c.value
{% if column.coded %}
join {{ domain | ident }} d on d.code = f.original
{% endif %}

-- name: pattern_counts
-- How many rows share each pattern of sensitive cells (LGB Definition 8, the QI partition).
select pattern, {{ count }} as n
from {{ coded | ident }}
group by pattern
order by pattern

-- name: masked
-- Every row with its final pattern: the code of a sensitive cell moves from the quasi-identifiers
-- to a column of its own.
create or replace table {{ coded | ident }} as
select
    r.row_id,
    r.draw,
    r.row_ref,
    p.target as pattern
    {% for a in attributes %}
    {% if a.flagged %}
    , case when (p.target // {{ a.bit }}) % 2 = 1 then -1 else r.{{ a.c }} end as {{ a.c }}
    , case when (p.target // {{ a.bit }}) % 2 = 1 then r.{{ a.c }} end as {{ a.r }}
    {% else %}
    , r.{{ a.c }}
    {% endif %}
    {% endfor %}
    {% for column in carried %}
    , r.{{ column }}
    {% endfor %}
from {{ coded | ident }} r
join {{ patterns | ident }} p on p.pattern = r.pattern
where p.target is not null

-- name: stranded
-- More rows than may be suppressed have a flag pattern that is too rare to be published.
select count(*) as stranded
from {{ coded | ident }} r
join {{ patterns | ident }} p on p.pattern = r.pattern
where p.target is null
having count(*) > {{ allowed | lit }}

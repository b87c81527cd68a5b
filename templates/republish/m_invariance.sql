-- name: counterfeits
-- Counterfeits in the columns of the snapshot, for the checks.
create or replace table {{ counterfeits | ident }} as
select
    r.row_ref
    {% for a in attributes %}
    , {{ a.d }}.value as {{ a.q }}
    {% endfor %}
    , r.{{ sensitive }}
from {{ coded | ident }} r
{% for a in attributes %}
join {{ a.domain | ident }} {{ a.d }} on {{ a.d }}.code = r.{{ a.c }}
{% endfor %}
where r.row_id < 0

-- name: without_bucket
-- The units of new persons who are not needed to balance a bucket.
create or replace table {{ units | ident }} as
select u.* from {{ units | ident }} u where u.row_id not in (select id from {{ placed | ident }})

-- name: groups
-- The rows in their final classes.
create or replace table {{ groups | ident }} as
select id, class_id, value, draw from {{ final_classes | ident }}

-- name: forge
-- Counterfeits as encoded rows: each has the codes of one row of its class, so that no cell
-- changes.
insert into {{ coded | ident }}
with lent as (
    select g.class_id, min(g.id) as row_id
    from {{ groups | ident }} g
    where g.id > 0
    group by g.class_id
)
select
    g.id as row_id,
    g.draw,
    g.id as row_ref
    {% for a in attributes %}
    , r.{{ a.c }}
    {% endfor %}
    , v.original
    {% if person %}
    , null
    {% endif %}
from {{ groups | ident }} g
join lent l on l.class_id = g.class_id
join {{ coded | ident }} r on r.row_id = l.row_id
join {{ known_values | ident }} v on v.value = g.value
where g.id < 0

-- name: forge.postgres
-- Counterfeits as encoded rows: each has the codes of one row of its class, so that no cell
-- changes.
-- (A row of Postgres is referred to by its position: those of counterfeits are beyond the end of any table.)
insert into {{ coded | ident }}
with lent as (
    select g.class_id, min(g.id) as row_id
    from {{ groups | ident }} g
    where g.id > 0
    group by g.class_id
)
select
    g.id as row_id,
    g.draw,
    cast(concat('(', 4294967294 - (-g.id) // 65535, ',', 1 + (-g.id) % 65535, ')') as tid) as row_ref
    {% for a in attributes %}
    , r.{{ a.c }}
    {% endfor %}
    , v.original
    {% if person %}
    , null
    {% endif %}
from {{ groups | ident }} g
join lent l on l.class_id = g.class_id
join {{ coded | ident }} r on r.row_id = l.row_id
join {{ known_values | ident }} v on v.value = g.value
where g.id < 0

-- name: classes
-- The extents of classes and what all their rows lose together.
create or replace table {{ classes | ident }} as
select *, width * coalesce(cast({{ extents.loss() }} as bigint), 0) as lost
from (
    select
        class_id, min(bucket) as bucket, min(width) as width
        {% for a in attributes %}, min({{ a.c }}) as {{ a.c }}{% endfor %}

        {% for column in extents.columns %}, {{ column.over("") }} as {{ column.sql }}{% endfor %}

    from {{ final_classes | ident }}
    group by class_id
) c

-- name: standing
-- Every row with the number of its sensitive value and, for a person who stays, the signature of
-- the earlier release. A person whose value is no longer in that signature counts as new.
create or replace table {{ standing | ident }} as
with value_counts as (
    select row_id, draw, row_ref, cast(md5_number_lower({{ text }}) >> 1 as bigint) as value
    from {{ coded | ident }}
)
select r.row_id, r.draw, r.value, d.person, v.signature, h.since
from value_counts r
join {{ digests | ident }} d on d.row_ref = r.row_ref
left join {{ history | ident }} h on h.person = d.person
left join {{ history_values | ident }} v on v.signature = h.signature and v.value = r.value

-- name: signature_since
-- The release since which each person has had the current signature.
create or replace table {{ signature_since | ident }} as
select person, since from {{ standing | ident }} where signature is not null

-- name: known_values
-- The values a counterfeit may have: those of the table, and those of earlier releases that its type
-- can still hold.
create or replace table {{ known_values | ident }} as
with listed as (
    select distinct {{ sensitive }} as original from {{ coded | ident }} where {{ sensitive }} is not null
    union
    select try_cast(text as {{ type }}) from {{ history_texts | ident }} where try_cast(text as {{ type }}) is not null
)
select cast(md5_number_lower({{ known_text }}) >> 1 as bigint) as value, min(original) as original
from listed
group by 1

-- name: regional
-- The new persons of every region in their buckets, drawn with the secret; leftover persons of a
-- region are in region 0.
insert into {{ placed | ident }}
with places as (
    select bucket, region, value, taken, sum(taken) over (partition by region, value order by bucket rows between unbounded preceding and current row) - taken as first
    from {{ regional | ident }}
),
quota as (
    select region, value, sum(taken) as taken from places where region > 0 group by region, value
),
found as (
    select s.row_id, s.draw, s.value, m.class_id as region, row_number() over (partition by m.class_id, s.value order by {{ region_draw }}, s.row_id) - 1 as rank
    from {{ members | ident }} m
    join {{ units | ident }} u on u.unit = m.unit
    join {{ standing | ident }} s on s.row_id = u.row_id
),
regioned as (
    select f.row_id, f.draw, f.value, case when f.rank < coalesce(q.taken, 0) then f.region else 0 end as region
    from found f
    left join quota q on q.region = f.region and q.value = f.value
),
arriving as (
    select *, row_number() over (partition by region, value order by {{ arrival_draw }}, row_id) - 1 as rank
    from regioned
)
select a.row_id, p.bucket, a.value, a.draw, true
from arriving a
join places p on p.region = a.region and p.value = a.value and a.rank >= p.first and a.rank < p.first + p.taken

-- name: placed
-- Every row of a bucket that is balanced, and every counterfeit. The buckets of new persons are drawn with the secret.
create or replace table {{ placed | ident }} as
with places as (
    select bucket, value, taken, sum(taken) over (partition by value order by bucket rows between unbounded preceding and current row) - taken as first
    from {{ quotas | ident }}
),
arriving as (
    select row_id, draw, value, row_number() over (partition by value order by {{ arrival_draw }}, row_id) - 1 as rank
    from {{ standing | ident }}
    where signature is null
),
forged as (
    select bucket, value, unnest(generate_series(0, forged - 1)) as copy from {{ quotas | ident }} where forged > 0
),
origin as (
    select min(draw) as draw from {{ coded | ident }}
)
select s.row_id as id, q.bucket, s.value, s.draw, false as free
from {{ standing | ident }} s
join (select distinct signature, bucket from {{ quotas | ident }} where signature > 0) q on q.signature = s.signature
union all
select a.row_id, p.bucket, a.value, a.draw, true
from arriving a
join places p on p.value = a.value and a.rank >= p.first and a.rank < p.first + p.taken
union all
select
    -row_number() over (order by f.bucket, f.value, f.copy),
    f.bucket,
    f.value,
    md5_number(concat(hex(o.draw), ':counterfeit ', f.bucket, ':', f.value, ':', f.copy)),
    true
from forged f
cross join origin o

-- name: nodes
-- Each bucket as one node, with the place of every row in the domains. A counterfeit has the place
-- of some row of its bucket, and is not counted in any extent.
create or replace table {{ nodes | ident }} as
with sizes as (
    select bucket, count(*) // count(distinct value) as copies, count(*) filter (where id > 0) as real
    from {{ placed | ident }}
    group by bucket
),
positions as (
    select p.*, s.copies, s.real, row_number() over (partition by p.bucket, p.id > 0 order by {{ position_draw }}, p.id) as position
    from {{ placed | ident }} p
    join sizes s on s.bucket = p.bucket
),
placed_codes as (
    select s.id, s.bucket, s.copies, s.value, s.draw, coalesce(l.id, s.id) as row_id
    from positions s
    left join positions l on s.id < 0 and l.id > 0 and l.bucket = s.bucket and l.position = (s.position - 1) % s.real + 1
)
select
    p.id,
    0 as level,
    p.bucket as node,
    cast(p.copies as bigint) as copies,
    p.value,
    p.draw
    {% for a in attributes %}
    , case when r.{{ a.c }} = 0 then -1 else coalesce({{ a.d }}.share, 0) end as {{ a.p }}
    {% endfor %}
from placed_codes p
join {{ coded | ident }} r on r.row_id = p.row_id
{% for a in attributes %}
join {{ a.domain | ident }} {{ a.d }} on {{ a.d }}.code = r.{{ a.c }}
{% endfor %}

-- name: final_classes
-- The final nodes as classes, numbered so that near ones have near numbers, with the extent of every
-- row. A counterfeit has none: it takes the codes of its class.
create or replace table {{ final_classes | ident }} as
with signed as (
    select bucket, min(bucket) over (partition by signature) as signed
    from (select bucket, list(distinct value order by value) as signature from {{ placed | ident }} group by bucket) b
)
{% for domain in extents.domains %}
, {{ domain.d }} as (
    select code{% for value, name in domain.lookups %}, {{ value }} as {{ name }}{% endfor %}

    from {{ domain.table | ident }}
)
{% endfor %}
select
    n.id, g.signed as bucket,
    cast(dense_rank() over (order by g.signed, p.bucket, (n.node - (cast(p.bucket as bigint) << n.level)) << (62 - n.level)) as bigint) as class_id,
    n.value, n.draw, cast(count(*) over (partition by n.level, n.node) as bigint) as width, p.free
    {% for column in extents.columns %}
    , {{ column.unit }} as {{ column.sql }}
    {% endfor %}
    {% for a in attributes %}
    , u.{{ a.c }}
    {% endfor %}
from {{ nodes | ident }} n
join {{ placed | ident }} p on p.id = n.id
join signed g on g.bucket = p.bucket
left join {{ coded | ident }} u on u.row_id = n.id
{% for domain in extents.domains %}
left join {{ domain.d }} on {{ domain.d }}.code = u.{{ domain.c }}
{% endfor %}

-- name: rest
-- Every row with its own extent, and that of the other rows of its class.
create or replace table {{ rest | ident }} as
select *, coalesce(cast({{ extents.loss("g") }} as bigint), 0) as each
from (
    select
        p.class_id, p.id, min(p.value) as value, min(p.width) as width, bool_or(p.free) as free
        {% for column in extents.columns %}, min(p.{{ column.sql }}) as {{ column.sql }}, {{ column.over("o.") }} as g{{ column.sql }}{% endfor %}

    from {{ final_classes | ident }} p
    join {{ final_classes | ident }} o on o.class_id = p.class_id and o.id <> p.id
    group by p.class_id, p.id
) r

-- name: near
-- Pairs of near classes: those that follow each other in their bucket, or in some order of all classes.
create or replace table {{ near | ident }} as
with ordered as (
    select
        class_id,
        row_number() over (order by bucket, class_id) as place_0,
        {% for order in orders %}
        row_number() over (order by {{ order }}, class_id) as place_{{ loop.index | lit }},
        row_number() over (order by bucket, {{ order }}, class_id) as place_{{ (loop.index + orders | length) | lit }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from {{ classes | ident }}
),
steps as (
    select *, unnest(generate_series(1, {{ beside | lit }})) as step from ordered
),
beside as (
    {% for number in range(orders | length * 2 + 1) %}
    select x.class_id as a, y.class_id as b
    from steps x
    join ordered y on y.place_{{ number | lit }} = x.place_{{ number | lit }} + x.step
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
)
select distinct least(a, b) as a, greatest(a, b) as b from beside

-- name: offers
-- The best swap of every pair of near classes, if it saves something: row r of class a against row q
-- of class b. Both have the same value, so that all signatures stay; between buckets only free rows are swapped. Offers of
-- pairs that the last swaps did not touch are kept.
create or replace table {{ offers | ident }} as
with changed as (
    select a as class_id from {{ swaps | ident }} union select b from {{ swaps | ident }}
),
pairs as (
    select p.a, p.b, x.lost + y.lost as lost, x.bucket = y.bucket as same
    from {{ near | ident }} p
    join {{ classes | ident }} x on x.class_id = p.a
    join {{ classes | ident }} y on y.class_id = p.b
    where x.lost + y.lost > 0
    and (p.a in (select class_id from changed) or p.b in (select class_id from changed))
),
paired as (
    select
        p.a, p.b, r.id as r, q.id as q, p.lost, r.width, q.width as width_b
        {% for column in extents.columns %}, {{ column.joined("r.g", "q.") }} as a{{ column.sql }}, {{ column.joined("q.g", "r.") }} as b{{ column.sql }}{% endfor %}

    from pairs p
    join {{ rest | ident }} r on r.class_id = p.a
    join {{ rest | ident }} q on q.class_id = p.b and q.value = r.value and (p.same or (q.free and r.free))
    -- a class loses at least what its other rows lose
    where r.width * r.each + q.width * q.each < p.lost
),
weights as (
    select
        a, b, r, q,
        lost - width * coalesce(cast({{ extents.loss("a") }} as bigint), 0) - width_b * coalesce(cast({{ extents.loss("b") }} as bigint), 0) as gain
    from paired
),
ranked as (
    select *, row_number() over (partition by a, b order by gain desc, r, q) as choice
    from weights
    where gain > 0
)
select a, b, r, q, gain from ranked where choice = 1
union all
select a, b, r, q, gain
from {{ offers | ident }}
where a not in (select class_id from changed) and b not in (select class_id from changed)

-- name: standing_counts
-- How many persons stay with each value of each signature, how many are new with each value (-1), and
-- which values are known (-2).
with staying as (
    select signature, value, count(*) as n from {{ standing | ident }} where signature is not null group by all
)
select v.signature, v.value, coalesce(s.n, 0) as n
from {{ history_values | ident }} v
left join staying s on s.signature = v.signature and s.value = v.value
where v.signature in (select signature from staying)
union all
select -1, value, count(*) from {{ standing | ident }} where signature is null group by value
union all
select -2, value, 0 from {{ known_values | ident }}
order by 1, 2

-- name: region_counts
-- How many new persons have each value in each region; and the
-- signatures of the buckets (as regions below 0).
select m.class_id as region, s.value, count(*) as n
from {{ members | ident }} m
join {{ units | ident }} u on u.unit = m.unit
join {{ standing | ident }} s on s.row_id = u.row_id
group by m.class_id, s.value
union all
select -bucket, value, 0 from {{ quotas | ident }}
order by 1, 2

-- name: halve
-- Cuts every node in the middle of its widest attribute, separately for each value, so that both
-- halves have equally many rows of every value.
-- source: Xiao and Tao 2007 §5 (partition)
create or replace table {{ nodes | ident }} as
with widths as (
    select node{% for a in attributes %}, max({{ a.p }}) - min({{ a.p }}) as {{ a.w }}{% endfor %}

    from {{ nodes | ident }}
    where copies > 1 and id > 0
    group by node
),
chosen as (
    select
        node,
        case greatest({% for a in attributes %}{{ a.w }}{% if not loop.last %}, {% endif %}{% endfor %})
            {% for a in attributes %}
            when {{ a.w }} then {{ loop.index | lit }}
            {% endfor %}
        end as attribute
    from widths
),
ranked as (
    select
        n.*,
        row_number() over (
            partition by n.node, n.value
            order by case c.attribute {% for a in attributes %}when {{ loop.index | lit }} then n.{{ a.p }} {% endfor %}end, n.draw, n.id
        ) as rank
    from {{ nodes | ident }} n
    join chosen c on c.node = n.node
    where n.copies > 1
)
select
    id,
    level + 1 as level,
    case when rank <= copies // 2 then 2 * node else 2 * node + 1 end as node,
    case when rank <= copies // 2 then copies // 2 else copies - copies // 2 end as copies,
    value,
    draw
    {% for a in attributes %}
    , {{ a.p }}
    {% endfor %}
from ranked
union all
select id, level, node, copies, value, draw{% for a in attributes %}, {{ a.p }}{% endfor %}

from {{ nodes | ident }}
where copies = 1

-- name: open_nodes
-- Nodes that still have several rows of a value.
select count(*) from {{ nodes | ident }} where copies > 1

-- name: swapped
-- The rows in their classes after the swaps of a round.
create or replace table {{ final_classes | ident }} as
with moved as (
    select r as id, b as class_id from {{ swaps | ident }}
    union all
    select q, a from {{ swaps | ident }}
)
select
    s.id, coalesce(c.bucket, s.bucket) as bucket, coalesce(m.class_id, s.class_id) as class_id,
    s.value, s.draw, coalesce(c.width, s.width) as width, s.free
    {% for column in extents.columns %}
    , s.{{ column.sql }}
    {% endfor %}
    {% for a in attributes %}
    , s.{{ a.c }}
    {% endfor %}
from {{ final_classes | ident }} s
left join moved m on m.id = s.id
left join {{ classes | ident }} c on c.class_id = m.class_id

-- name: unfit
-- Rows that cannot take part: without a sensitive value, or a second row of a person.
select {{ empty }} as empty, {{ repeated }} as repeated
from {{ coded | ident }}
having {{ empty }} > 0 or {{ repeated }} > 0

-- name: too_few_values
-- Fewer values than a signature needs.
select count(*) as n from {{ known_values | ident }} having count(*) < {{ m | lit }}

-- name: weak
-- Persons who stay but whose earlier signature has fewer than m values.
select count(*) as persons, min(v.n) as fewest
from {{ standing | ident }} s
join (select signature, count(*) as n from {{ history_values | ident }} group by signature) v on v.signature = s.signature
where v.n < {{ m | lit }}
having count(*) > 0

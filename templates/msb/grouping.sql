-- name: _shapes
-- What the residual phase needs to know of types of groups, from one table of their members. Every
-- column is a dimension; dimension 0 has a single value that every record has, and so counts the
-- records.
{% macro shapes_of() %}
with dimensions_of_types as (
    select
        m.type,
        m.c,
        unnest([0{% for d in dimensions %}, {{ loop.index | lit }}{% endfor %}]) as dimension,
        unnest([1{% for d in dimensions %}, b.{{ d.v }}{% endfor %}]) as v,
        unnest([0{% for d in dimensions %}, b.{{ d.need }}{% endfor %}]) as need
    from {{ type_members | ident }} m
    join {{ buckets | ident }} b on b.bucket = m.bucket
),
counts as (
    select type, dimension, v, need, cast(sum(c) as bigint) as c
    from dimensions_of_types
    where v > 0
    group by type, dimension, v, need
),
filled as (
    select *, cast(sum(c) over (partition by type, dimension) as bigint) as filled
    from counts
)
select
    type,
    max(filled) filter (where dimension = 0) as size
    {% for d in dimensions %}
    , coalesce(max(filled) filter (where dimension = {{ loop.index | lit }}), 0) as {{ d.filled }}
    , coalesce(list(v) filter (where dimension = {{ loop.index | lit }} and (c + 1) * need > filled + 1), []) as {{ d.blocked }}
    , coalesce(bit_or(cast(1 as bigint) << (v % 62)) filter (where dimension = {{ loop.index | lit }} and (c + 1) * need > filled + 1), 0) as {{ d.mask }}
    {% endfor %}
from filled
group by type
{% endmacro %}

-- name: values
-- The values of one sensitive column, with the security level that the policy gives each and the l of
-- that level (Xiao and Li 2020, Definitions 1-3). A NULL that does not count has code 0 and asks for
-- nothing.
create or replace table {{ values | ident }} as
with counts as (
    select {{ dimension.s }} as value, count(*) as n
    from {{ coded | ident }}
    group by {{ dimension.s }}
),
leveled as (
    select
        *,
        {% if levels %}
        {% for rank, needed, listed in levels %}cast({{ listed }} as integer){% if not loop.last %} + {% endif %}{% endfor %} as listed,
        {% else %}
        0 as listed,
        {% endif %}
        {% if dimension.null_as_value %}
        false as blank
        {% else %}
        value is null as blank
        {% endif %}
    from counts
)
select
    cast(case when blank then 0 else row_number() over (partition by blank order by value nulls last) end as integer) as code,
    value,
    n,
    listed,
    cast(case
        when blank then 0
        {% for rank, needed, listed in levels %}
        when {{ listed }} then {{ rank }}
        {% endfor %}
        {% if default is not none %}
        else {{ default.rank | lit }}
        {% endif %}
    end as integer) as rank,
    cast(least(case
        when blank then 0
        {% for rank, needed, listed in levels %}
        when {{ listed }} then {{ needed }}
        {% endfor %}
        {% if default is not none %}
        else {{ default.needed | lit }}
        {% endif %}
    end, 1000000) as integer) as need
from leveled

-- name: buckets
-- The multi-dimensional buckets: one per vector of sensitive values (Xiao and Li 2020, Definition 13),
-- numbered in an order that the run's secret draws.
-- parameters: least: fewest records of a group
create or replace table {{ buckets | ident }} as
with vectors as (
    select
        {% for d in dimensions %}
        {{ d.s }},
        {% endfor %}
        count(*) as n,
        min(draw) as draw
    from {{ coded | ident }}
    group by {% for d in dimensions %}{{ d.s }}{% if not loop.last %}, {% endif %}{% endfor %}

)
select
    row_number() over (order by {{ bucket_draw }}) as bucket,
    x.n,
    {% for d in dimensions %}
    {{ d.alias }}.code as {{ d.v }},
    {{ d.alias }}.need as {{ d.need }},
    {% endfor %}
    greatest(0{% for d in dimensions %}, {{ d.alias }}.rank{% endfor %}) as level,
    greatest({{ least | lit }}{% for d in dimensions %}, {{ d.alias }}.need{% endfor %}) as target,
    {% for d in dimensions %}{{ d.alias }}.code > 0{% if not loop.last %} and {% endif %}{% endfor %} as complete
from vectors x
{% for d in dimensions %}
join {{ d.values | ident }} {{ d.alias }} on {{ d.alias }}.value is not distinct from x.{{ d.s }}
{% endfor %}

-- name: left
-- The remaining records: at first all of them.
create or replace table {{ left | ident }} as
select bucket, n from {{ buckets | ident }}

-- name: no_types
-- No group is formed yet.
create or replace table {{ types | ident }} as
select cast(null as bigint) as type, cast(null as bigint) as groups
where false

-- name: types
-- The groups of a pass by type: groups of equal buckets are one type, as many times as they were formed.
create or replace table {{ arrived | ident }} as
with signatures as (
    select block, grp, string_agg(concat(bucket, ' ', c), ',' order by bucket) as signature
    from {{ formed | ident }}
    group by block, grp
),
kinds as (
    select signature, count(*) as n, min(struct_pack(block := block, grp := grp)) as first_group
    from signatures
    group by signature
)
select
    m.last_type + dense_rank() over (order by k.first_group.block, k.first_group.grp) as type,
    k.n * s.q as groups,
    f.bucket,
    f.c
from kinds k
join {{ formed | ident }} f on f.block = k.first_group.block and f.grp = k.first_group.grp
cross join {{ scale | ident }} s
cross join (select coalesce(max(type), 0) as last_type from {{ types | ident }}) m

-- name: no_members
-- No type of group has members yet.
create or replace table {{ members | ident }} as
select cast(null as bigint) as type, cast(null as bigint) as bucket, cast(null as bigint) as c
where false

-- name: remaining
-- The input of one pass of the grouping: the records that are left, by scale and block, with the
-- dimension capacity of each of their values (Xiao and Li 2020, Definition 13).
create or replace table {{ remaining | ident }} as
with scaled as (
    select l.bucket, least(l.n // s.q, s.most) as n, s.blocks
    from {{ left | ident }} l
    join {{ buckets | ident }} b on b.bucket = l.bucket
    cross join {{ scale | ident }} s
    where b.complete and l.n >= s.q
),
placed as (
    select bucket, n, blocks, cast(sum(n) over (order by bucket rows unbounded preceding) as bigint) - n as first_place
    from scaled
),
dealt as (
    -- record i of a bucket goes to the block of its place; as bucket numbers are drawn, blocks are samples
    select (p.first_place + i.i) % p.blocks as block, p.bucket, count(*) as n
    from placed p, unnest(range(p.n)) as i(i)
    group by block, p.bucket
)
select
    d.block,
    d.bucket,
    cast(d.n as integer) as n,
    {% for x in dimensions %}
    b.{{ x.v }},
    b.{{ x.need }},
    cast(sum(d.n) over (partition by d.block, b.{{ x.v }}) as integer) as {{ x.cap }},
    {% endfor %}
    b.level,
    b.target
from dealt d
join {{ buckets | ident }} b on b.bucket = d.bucket

-- name: group
-- The grouping phase, one record an iteration, over bucket counts: the best unshielded bucket gives a
-- record to the open group of its block; a bucket is shielded while one more of any of its values would
-- be more than a full group can hold, (c(v)+1) l_v > L (Xiao and Li 2020, Algorithms 1-3).
-- parameters: priority: what the chosen bucket has most of; batched: several blocks, and where a group
-- cannot be filled go on with another first record (else grouping ends there, as in the paper)
create or replace table {{ formed | ident }} as
-- a row is a bucket with n records left and what is open in its block. A bucket that gives a record goes
-- on under a new key, so its earlier row stays in the result and shows which group took the record
with recursive {{ state }} using key (block, bucket, n) as (
    select
        block,
        bucket,
        n,
        level,
        target,
        {% for d in dimensions %}
        {{ d.v }},
        {{ d.need }},
        {{ d.cap }},
        0 as {{ d.use }},
        {% endfor %}
        {% if batched %}
        0 as took,
        0 as began,
        {% endif %}
        0 as grp,
        0 as size,
        0 as full_size
    from {{ remaining | ident }}
    union all
    select
        block,
        bucket,
        {% if batched %}
        case when taken is null then n + took when bucket = taken.bucket then n - 1 else n end,
        {% else %}
        case when bucket = taken.bucket then n - 1 else n end,
        {% endif %}
        level,
        target,
        {% for d in dimensions %}
        {{ d.v }},
        {{ d.need }},
        {{ d.cap }} + case {% if batched %}when taken is null then {{ d.use }} {% endif %}when {{ d.v }} = taken.{{ d.v }} then -1 else 0 end,
        case when closed then 0 when {{ d.v }} = taken.{{ d.v }} then {{ d.use }} + 1 else {{ d.use }} end,
        {% endfor %}
        {% if batched %}
        case when closed then 0 when bucket = taken.bucket then took + 1 else took end,
        -- 1: the open group's first record is of this bucket; 2: no group with it as the first was filled
        case
            when began = 2 then 2
            when taken is null then 2 * began
            when closed then 0
            when size = 0 and bucket = taken.bucket then 1
            else began
        end,
        {% endif %}
        grp + cast(closed as integer),
        case when closed then 0 else size + 1 end,
        taken.full_size
    from (
        select s.*, best.taken, {% if batched %}best.taken is null or {% endif %}s.size + 1 = best.taken.full_size as closed
        from {{ state }} s
        {% if batched %}
        join (
            select
                block,
                case when max(score) > 0 then arg_max(bucket_row, score) end as taken,
                max(size) as size
            from (
        {% else %}
        cross join (
            select taken
            from (
                select arg_max(bucket_row, score) as taken
                from (
        {% endif %}
                select
                    {% if batched %}
                    block,
                    size,
                    {% endif %}
                    struct_pack(
                        bucket := bucket,
                        full_size := case when size = 0 then target else full_size end
                        {% for d in dimensions %}
                        , {{ d.v }} := {{ d.v }}
                        {% endfor %}
                    ) as bucket_row,
                    case
                        when n > 0 and case
                            when size = 0 then {% if batched %}began = 0{% else %}true{% endif %}

                            else {% for d in dimensions %}({{ d.use }} + 1) * {{ d.need }} <= full_size{% if not loop.last %} and {% endif %}{% endfor %}

                        end then {{ priority }} * 4294967296 - bucket
                        {% if batched %}
                        else 0
                        {% endif %}
                    end as score
                from {{ state }}
        {% if batched %}
            )
            group by block
        ) best on best.block = s.block
        where (best.taken is not null or best.size > 0) and (s.n > 0 or s.took > 0)
        {% else %}
                )
            )
            where taken is not null
        ) best
        where s.n > 0
        {% endif %}
    )
),
taken as (
    select block, grp, bucket, n, size, target, max(grp) over (partition by block) as last_group
    from {{ state }}
),
groups as (
    -- what was open at the end, if anything, is no group
    select block, grp, bucket, cast(count(*) as integer) as c, max(target) filter (where size = 0) as full_size
    from taken
    where n > 0 and grp < last_group
    group by block, grp, bucket
)
select block, grp, bucket, c
from groups
qualify sum(c) over (partition by block, grp) = max(full_size) over (partition by block, grp)

-- name: add_types
-- The types of a pass join the others.
insert into {{ types | ident }}
select distinct type, groups from {{ arrived | ident }}

-- name: add_members
-- The members of the types of a pass join the others.
insert into {{ members | ident }}
select type, bucket, c from {{ arrived | ident }}

-- name: left_after_pass
-- The records that remain after a pass.
create or replace table {{ left | ident }} as
with used as (
    select bucket, cast(sum(groups * c) as bigint) as n
    from {{ arrived | ident }}
    group by bucket
)
select l.bucket, l.n - coalesce(u.n, 0) as n
from {{ left | ident }} l
left join used u on u.bucket = l.bucket
where l.n > coalesce(u.n, 0)

-- name: exact_scale
-- Scale 1: every record stands for itself, and all of them are one block.
create or replace table {{ scale | ident }} as
select cast(1 as bigint) as q, cast({{ everything | lit }} as bigint) as most, cast(1 as bigint) as blocks

-- name: first_scale
-- The scale before the first pass: four times the one it will have.
create or replace table {{ scale | ident }} as
select 4 * greatest(1, cast(sum(n) as bigint) // {{ records | lit }}) as q, cast(null as bigint) as most, cast(1 as bigint) as blocks
from {{ left | ident }}

-- name: next_scale
-- The next pass: a quarter of the last scale, in blocks that are grouped side by side. A block has
-- room for several of the largest groups, and fewer records the more there are in all, which
-- bounds the work. A bucket brings at most as many records as the division by the last scale can
-- leave over, so that records which that pass failed to group are not all tried again.
create or replace table {{ scale | ident }} as
with chosen as (
    select
        greatest(1, q // 4) as q,
        case when most is null or q = 1 then {{ everything | lit }} else q // greatest(1, q // 4) end as most
    from {{ scale | ident }}
),
amount as (
    select
        coalesce(cast(sum(least(l.n // c.q, c.most)) as bigint), 0) as records,
        coalesce(max(b.target), 1) as largest
    from {{ left | ident }} l
    join {{ buckets | ident }} b on b.bucket = l.bucket
    cross join chosen c
    where b.complete
)
select
    c.q,
    c.most,
    greatest(1, a.records // greatest({{ targets_per_block | lit }} * a.largest, least({{ block_records | lit }}, {{ work | lit }} // greatest(1, a.records)))) as blocks
from chosen c
cross join amount a

-- name: passes
-- Whether another pass is worthwhile: while one record stands for several, and after that while
-- blocks take more records than they leave.
select cast(case
    when s.q > 1 then 1
    when s.blocks > 1 and t.taken > 0 and t.taken >= t.unused then 1
    else 0
end as integer)
from {{ scale | ident }} s
cross join (
    select
        (select coalesce(sum(c), 0) from {{ formed | ident }}) as taken,
        (
            select coalesce(sum(l.n), 0)
            from {{ left | ident }} l
            join {{ buckets | ident }} b on b.bucket = l.bucket
            where b.complete
        ) as unused
) t

-- name: guard_work
-- The exact choice of one record at a time would take too many comparisons.
select cast(sum(n) as bigint) as records, count(*) as vectors
from {{ buckets | ident }}
having sum(n) * count(*) > {{ exact_work | lit }}

-- name: first_round
-- The residual phase has not begun.
create or replace table {{ round_state | ident }} as
select cast(0 as bigint) as round, cast(0 as bigint) as idle, cast(1 as bigint) as parts

-- name: no_offers
-- The state before the first round: no record was offered to a group, and no round failed to assign any.
create or replace table {{ offers | ident }} as
select cast(0 as bigint) as bucket, cast(0 as bigint) as type, cast(0 as bigint) as groups

-- name: offers
-- One round of the residual phase: every bucket offers its records to the smallest groups that may
-- take one, and every group takes at most one (Xiao and Li 2020, §4). Among types of equal size
-- each bucket starts at a different one, so that few offers compete; of competing offers, the
-- record that needs the largest group goes first.
create or replace table {{ offers | ident }} as
with residual as (
    select
        l.bucket,
        l.n,
        b.target,
        {% for d in dimensions %}
        b.{{ d.v }},
        b.{{ d.need }},
        cast(1 as bigint) << (b.{{ d.v }} % 62) as {{ d.bit }},
        {% endfor %}
        row_number() over (order by l.bucket) - 1 as place
    from {{ left | ident }} l
    join {{ buckets | ident }} b on b.bucket = l.bucket
),
placed as (
    select s.*, t.groups, row_number() over (order by t.type) - 1 as place
    from {{ types | ident }} t
    join {{ shapes | ident }} s on s.type = t.type
),
extent as (
    select count(*) as types, greatest(1, count(*) // greatest(1, (select count(*) from residual))) as stride
    from placed
),
possible as (
    select
        r.bucket,
        r.n,
        r.target,
        s.type,
        s.groups,
        s.size,
        (s.place + e.types - (r.place * e.stride) % e.types) % e.types as distance
    from residual r
    cross join {{ round_state | ident }} t
    cross join extent e
    join placed s on s.place % t.parts = (r.place + t.round) % t.parts
    where {% for d in dimensions %}(r.{{ d.v }} = 0 or (r.{{ d.need }} <= s.{{ d.filled }} + 1 and ((s.{{ d.mask }} & r.{{ d.bit }}) = 0 or not list_contains(s.{{ d.blocked }}, r.{{ d.v }})))){% if not loop.last %} and {% endif %}{% endfor %}

),
asked as (
    select *, cast(sum(groups) over (partition by bucket order by size, distance rows unbounded preceding) as bigint) - groups as before
    from possible
),
offered as (
    select bucket, target, type, groups, least(n - before, groups) as offered
    from asked
    where before < n
),
answered as (
    select
        bucket,
        type,
        groups,
        offered,
        cast(sum(offered) over (partition by type order by target desc, bucket rows unbounded preceding) as bigint) - offered as before
    from offered
)
select bucket, type, least(offered, groups - before) as groups
from answered
where before < groups

-- name: shapes
-- What the residual phase needs to know of each type of group: its size, and the values of which
-- one more record would break its diversity, (c(v)+1) l_v > |G|+1 (Xiao and Li 2020, §4).
{% from "msb/_shapes" import shapes_of with context %}
create or replace table {{ shapes | ident }} as
{{ shapes_of() }}

-- name: next_round
-- The next round of the residual phase, and into how many parts the pairs of bucket and type are cut.
create or replace table {{ round_state | ident }} as
select
    round + 1 as round,
    case when exists (select 1 from {{ offers | ident }}) then 0 else idle + 1 end as idle,
    greatest(1, (select count(*) from {{ left | ident }}) * (select count(*) from {{ types | ident }}) // {{ pairs | lit }}) as parts
from {{ round_state | ident }}

-- name: grown
-- The groups that took a record are types of their own.
create or replace table {{ arrived | ident }} as
with grown as (
    select
        (select max(type) from {{ members | ident }}) + row_number() over (order by type, bucket) as type,
        type as origin,
        bucket as joined,
        groups
    from {{ offers | ident }}
)
select g.type, g.groups, g.origin, m.bucket, m.c + case when m.bucket = g.joined then 1 else 0 end as c
from grown g
join {{ members | ident }} m on m.type = g.origin
union all
select g.type, g.groups, g.origin, g.joined, 1
from grown g
where not exists (select 1 from {{ members | ident }} m where m.type = g.origin and m.bucket = g.joined)

-- name: add_shapes
-- The shapes of the groups that took a record.
{% from "msb/_shapes" import shapes_of with context %}
insert into {{ shapes | ident }}
{{ shapes_of() }}

-- name: regroup
-- Types after a round: what is left of the old ones, and those that took a record.
create or replace table {{ types | ident }} as
with grown as (select distinct type, origin, groups from {{ arrived | ident }}),
gone as (select origin as type, cast(sum(groups) as bigint) as groups from grown group by origin)
select t.type, t.groups - coalesce(g.groups, 0) as groups
from {{ types | ident }} t
left join gone g on g.type = t.type
where t.groups > coalesce(g.groups, 0)
union all
select type, groups from grown

-- name: settle
-- Residual records after a round.
create or replace table {{ left | ident }} as
with used as (
    select bucket, cast(sum(groups) as bigint) as n
    from {{ offers | ident }}
    group by bucket
)
select l.bucket, l.n - coalesce(u.n, 0) as n
from {{ left | ident }} l
left join used u on u.bucket = l.bucket
where l.n > coalesce(u.n, 0)

-- name: rounds
-- Whether another round may place a record: not once all parts of the pairs in turn placed none.
select cast(case
    when exists (select 1 from {{ offers | ident }}) then exists (select 1 from {{ left | ident }})
    else idle + 1 < least(parts, {{ patience | lit }})
end as integer)
from {{ round_state | ident }}

-- name: place
-- Every published record with the number of its group. Which record of a bucket goes to which
-- group, and the number of each group, are drawn at random.
create or replace table {{ coded | ident }} as
with ranked as (
    select r.draw, b.bucket, row_number() over (partition by b.bucket order by r.draw) - 1 as place
    from {{ coded | ident }} r
    {% for d in dimensions %}
    join {{ d.values | ident }} {{ d.alias }} on {{ d.alias }}.value is not distinct from r.{{ d.s }}
    {% endfor %}
    join {{ buckets | ident }} b on {% for d in dimensions %}b.{{ d.v }} = {{ d.alias }}.code{% if not loop.last %} and {% endif %}{% endfor %}

),
numbered as (
    select type, groups, cast(sum(groups) over (order by type rows unbounded preceding) as bigint) - groups as first_group
    from {{ types | ident }}
),
type_records as (
    select
        m.bucket,
        n.groups,
        n.first_group,
        n.groups * m.c as records,
        cast(sum(n.groups * m.c) over (partition by m.bucket order by m.type rows unbounded preceding) as bigint) - n.groups * m.c as first_place
    from {{ members | ident }} m
    join numbered n on n.type = m.type
),
slots as (
    select bucket, first_place + i as place, first_group + i % groups as grp
    from (select bucket, first_place, first_group, groups, unnest(range(cast(records as bigint))) as i from type_records)
),
grouped as (
    select r.draw, s.grp
    from ranked r
    join slots s on s.bucket = r.bucket and s.place = r.place
),
named as (
    select grp, row_number() over (order by {{ group_draw }}) as group_number
    from (select grp, min(draw) as draw from grouped group by grp)
)
select r.*, n.group_number
from {{ coded | ident }} r
join grouped g on g.draw = r.draw
join named n on n.grp = g.grp

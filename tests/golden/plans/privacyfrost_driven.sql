-- merit of levels
create or replace table anon_scratch.main.search_depths as
with priorities(attribute, height, priority) as (
    values
    (0, 3, cast(1 as decimal(25, 12))),
    (1, 3, cast(2.5 as decimal(25, 12)))
),
masks(attribute, level, m0) as (
    values
    (0, 0, 15),
    (0, 1, 14),
    (0, 2, 12),
    (0, 3, 0),
    (1, 0, 240),
    (1, 1, 192),
    (1, 2, 128),
    (1, 3, 0)
),
codes as (
    select attribute, code, sum(n) as n
    from (
        select
            unnest([0, 1]) as attribute,
            unnest([c1, c2]) as code,
            n
        from anon_scratch.main.lattice_tuples
    ) c
    group by attribute, code
),
recoded as (
    select 0 as attribute, code, level, node from anon_scratch.main.recoding_1
    union all
    select 1 as attribute, code, level, node from anon_scratch.main.recoding_2
),
nodes as (
    select r.attribute, r.level, r.node, cast(sum(c.n) as bigint) as n
    from recoded r
    join codes c on c.attribute = r.attribute and c.code = r.code
    group by r.attribute, r.level, r.node
),
counted as (
    select
        n.attribute,
        n.level,
        count(*) as e,
        min(n.n) as smallest,
        max(case when n.level = 0 then count(*) end) over (partition by n.attribute) as before
    from nodes n
    group by n.attribute, n.level
)
select
    c.attribute,
    p.height - c.level as depth,
    c.e as distinct_values,
    c.smallest,
    cast(case when before > 1 and e > 0 then cast(priority as double) * (ln(e) / ln(before)) else 0 end as decimal(38, 12)) as merit
    , cast(m.m0 as bigint) as m0
from counted c
join priorities p on p.attribute = c.attribute
join masks m on m.attribute = c.attribute and m.level = c.level;

-- tuples worth looking at
create or replace table anon_scratch.main.search_base as
with finest as (
    select bit_or(m0) as m0
    from anon_scratch.main.search_depths
    where smallest >= 2
)
select
    t.w0 & coalesce(f.m0, 0) as w0,
    cast(sum(t.n) as bigint) as n
from anon_scratch.main.lattice_tuples t
cross join finest f
group by t.w0 & coalesce(f.m0, 0);

-- disease by tuple
create or replace table anon_scratch.main.base_cells_1 as
with finest as (
    select bit_or(m0) as m0
    from anon_scratch.main.search_depths
    where smallest >= 2
)
select
    t.w0 & coalesce(f.m0, 0) as w0,
    c.value,
    cast(sum(c.n) as bigint) as n
from anon_scratch.main.cells_1 c
join anon_scratch.main.lattice_tuples t on t.unit = c.unit
cross join finest f
group by t.w0 & coalesce(f.m0, 0), c.value;

-- pre-computation
create or replace table anon_scratch.main.search_start as
with settings(attribute, floor) as (
    values
    (0, 0),
    (1, 0)
),
alone as (
    select
        s.attribute,
        s.floor,
        greatest(s.floor, coalesce(max(case when v.smallest >= 2 then v.depth end), 0)) as depth
    from settings s
    join anon_scratch.main.search_depths v on v.attribute = s.attribute
    group by s.attribute, s.floor
),
steps as (
    select cast(unnest(range(max(depth - floor) + 1)) as integer) as node
    from alone
),
tables as (
    select
        n.node,
        max(v.merit) as score,
        0 as weight,
        min(v.smallest) as single
        , max(case when v.attribute = 0 then v.depth end) as d1
        , max(case when v.attribute = 1 then v.depth end) as d2
        , bit_or(v.m0) as m0
    from steps n
    cross join alone a
    join anon_scratch.main.search_depths v on v.attribute = a.attribute and v.depth = greatest(a.floor, a.depth - n.node)
    group by n.node
),
tested as materialized (
    select node, m0
    from tables
    where single >= 2
),
sizes as (
    select t.node, b.w0 & t.m0 as g0, cast(sum(b.n) as bigint) as n
    from anon_scratch.main.search_base b
    cross join tested t
    group by t.node, b.w0 & t.m0
),
least as materialized (
    select node, min(n) as smallest
    from sizes
    group by node
),
tested_1 as materialized (
    select t.*
    from tested t
    join least l on l.node = t.node
    where l.smallest >= 2
),
counted_1_1 as (
    select t.node, b.w0 & t.m0 as g0, b.value, cast(sum(b.n) as bigint) as n
    from anon_scratch.main.base_cells_1 b
    cross join tested_1 t
    group by t.node, b.w0 & t.m0, b.value
),
totals_1_1 as (
    select node, g0, cast(sum(n) as bigint) as group_size
    from counted_1_1
    group by node, g0
),
layer_1_1_0 as (
    select g.node, g.g0, coalesce(c.n, 0) as n, g.group_size, r.*
    from totals_1_1 g
    cross join anon_scratch.main.reference_1 r
    left join counted_1_1 c on c.node = g.node and c.g0 = g.g0 and c.value = r.value
),
layer_1_1_1 as (
    select *, cast(sum(n * q_size - q * group_size) over (partition by node, g0 order by value rows unbounded preceding) as bigint) as "running_surplus"
    from layer_1_1_0
),
judged_1_1 as (
    select node, g0, (cast(coalesce(sum(abs(running_surplus)), 0) as decimal(38, 0)) * 2 <= ((cast(coalesce(sum(n), 0) as decimal(38, 0)) * coalesce(max(q_size), 0)) * (greatest((coalesce(max(m), 0) + case when max(q_size) > max(q_known) then 1 else 0 end), 2) - 1)) * 1) as holds
    from layer_1_1_1
    group by node, g0
),
broken_1 as materialized (
    select distinct node
    from judged_1_1
    where not holds
),
verdicts as (
    select
        node,
        smallest,
        case
            when smallest < 2 then 0
            when node in (select node from broken_1) then 1
        end as broken
    from least
)
select
    'pre-computation' as phase,
    t.node as place
    , cast(t.d1 as integer) as d1
    , cast(t.d2 as integer) as d2
    , t.m0
    , cast(t.score as decimal(38, 12)) as score
    , cast(t.weight as bigint) as weight
    , v.node is not null and v.broken is null as holds
    , v.node is not null as seen
    , coalesce(v.smallest, t.single) as smallest
    , case when v.node is null then 0 else v.broken end as broken
    , v.node is not null and v.broken is null and t.node = min(t.node) filter (where v.node is not null and v.broken is null) over () as chosen
from tables t
left join verdicts v on v.node = t.node;

-- coarsest table
select smallest, broken
from anon_scratch.main.search_start
where not exists (select 1 from anon_scratch.main.search_start where holds)
order by place desc
limit 1;

-- search
create or replace table anon_scratch.main.search_trail as
with recursive search(kind, round, node, phase, place, b1, d1, b2, d2, m0, score, weight, spare, better, holds, seen, broken, taken) using key (kind, round, node) as (
    select 1, 0, place, phase, place, d1, d1, d2, d2, m0, score, weight, false, true, holds, seen, broken, chosen
    from anon_scratch.main.search_start
    union all
    select 0, 0, 0, 'top-down', 0, d1, d1, d2, d2, m0, score, weight, false, true, true, true, null, true
    from anon_scratch.main.search_start
    where chosen
    union all (
        with state as (
            select * from search where kind = 0 and phase <> 'end'
        ),
        here as (
            select
                unnest([0, 1]) as attribute,
                unnest([d1, d2]) as depth,
                unnest([0, 0]) as floor,
                unnest([3, 3]) as height,
                unnest([1, 0]) as rank,
                phase = 'bottom-up' as up
            from state
        ),
        moves as (
            select
                attribute as node,
                case when up then -1 else 1 end as step,
                case when up then -rank else rank end as place
            from here
            where case when up then depth > floor else depth < height end
        ),
        tables as (
            select
                m.node,
                m.place,
                max(v.merit) as score,
                0 as weight,
                min(v.smallest) as single
                , max(case when v.attribute = 0 then v.depth end) as d1
                , max(case when v.attribute = 1 then v.depth end) as d2
                , bit_or(v.m0) as m0
            from moves m
            cross join here h
            join anon_scratch.main.search_depths v
                on v.attribute = h.attribute
                and v.depth = h.depth + case when h.attribute = m.node then m.step else 0 end
            group by m.node, m.place
        ),
        before as (
            select better and holds as held, better and not holds as failed, m0
            from recurring.search
            where kind = 1
        ),
        implied as (
            select
                t.node,
                bool_or(b.failed and b.m0 & t.m0 = b.m0) as fails,
                bool_or(b.held and b.m0 & t.m0 = t.m0) as held
            from tables t
            cross join before b
            group by t.node
        ),
        known as (
            select
                t.*,
                t.score > s.score or (t.score = s.score and t.weight > s.weight) as better,
                t.single < 2 or i.fails as fails,
                i.held
            from tables t
            -- there are tables before: those of the pre-computation
            join implied i on i.node = t.node
            cross join state s
        ),
        tested as (
            select node, m0
            from known
            where better and not fails and not held
        ),
        sizes as (
    select t.node, b.w0 & t.m0 as g0, cast(sum(b.n) as bigint) as n
    from anon_scratch.main.search_base b
    cross join tested t
    group by t.node, b.w0 & t.m0
),
least as materialized (
    select node, min(n) as smallest
    from sizes
    group by node
),
tested_1 as materialized (
    select t.*
    from tested t
    join least l on l.node = t.node
    where l.smallest >= 2
),
counted_1_1 as (
    select t.node, b.w0 & t.m0 as g0, b.value, cast(sum(b.n) as bigint) as n
    from anon_scratch.main.base_cells_1 b
    cross join tested_1 t
    group by t.node, b.w0 & t.m0, b.value
),
totals_1_1 as (
    select node, g0, cast(sum(n) as bigint) as group_size
    from counted_1_1
    group by node, g0
),
layer_1_1_0 as (
    select g.node, g.g0, coalesce(c.n, 0) as n, g.group_size, r.*
    from totals_1_1 g
    cross join anon_scratch.main.reference_1 r
    left join counted_1_1 c on c.node = g.node and c.g0 = g.g0 and c.value = r.value
),
layer_1_1_1 as (
    select *, cast(sum(n * q_size - q * group_size) over (partition by node, g0 order by value rows unbounded preceding) as bigint) as "running_surplus"
    from layer_1_1_0
),
judged_1_1 as (
    select node, g0, (cast(coalesce(sum(abs(running_surplus)), 0) as decimal(38, 0)) * 2 <= ((cast(coalesce(sum(n), 0) as decimal(38, 0)) * coalesce(max(q_size), 0)) * (greatest((coalesce(max(m), 0) + case when max(q_size) > max(q_known) then 1 else 0 end), 2) - 1)) * 1) as holds
    from layer_1_1_1
    group by node, g0
),
broken_1 as materialized (
    select distinct node
    from judged_1_1
    where not holds
),
verdicts as (
    select
        node,
        smallest,
        case
            when smallest < 2 then 0
            when node in (select node from broken_1) then 1
        end as broken
    from least
),
        judged as (
            select
                t.*,
                t.better and (t.held or (v.node is not null and v.broken is null)) as holds,
                v.node is not null as seen,
                v.broken
            from known t
            left join verdicts v on v.node = t.node
        ),
        ordered as (
            select
                j.*,
                row_number() over (
                    order by j.better desc, s.phase <> 'second top-down' and not j.holds, j.score desc, j.weight desc, j.place
                ) as choice
            from judged j
            cross join state s
        ),
        chosen as (
            select * from ordered where choice = 1 and better
        ),
        move as (
            select
                s.*,
                case
                    when c.node is null and s.phase = 'bottom-up' and s.spare then 'top-down'
                    when c.node is null then 'end'
                    when not c.holds then 'bottom-up'
                    when s.phase = 'top-down' then 'top-down'
                    else 'second top-down'
                end as next_phase,
                c.node is not null and c.holds as adopted,
                c.node is not null as moved,
                -- a finer table that holds was passed over: taken if the way back up ends nowhere
                case when s.phase = 'bottom-up' then s.spare else coalesce(o.any_holds, false) end as next_spare,
                c.score as chosen_score,
                c.weight as chosen_weight
                , c.d1 as chosen_1
                , c.d2 as chosen_2
            from state s
            left join chosen c on true
            left join (select bool_or(holds) as any_holds from judged) o on true
        )
        select
            1, s.round + 1, j.node, s.phase, j.place
            , s.b1, j.d1
            , s.b2, j.d2
            , j.m0
            , j.score, j.weight, false, j.better, j.holds, j.seen, j.broken, j.choice = 1 and j.better
        from ordered j
        cross join state s
        union all
        select
            0, round + 1, 0, next_phase, 0
            , case when adopted then chosen_1 else b1 end
            , case when moved then chosen_1 else b1 end
            , case when adopted then chosen_2 else b2 end
            , case when moved then chosen_2 else b2 end
            , 0
            , case when adopted then chosen_score else score end
            , case when adopted then chosen_weight else weight end
            , next_spare, true, true, true, null, true
        from move
    )
)
select kind, round, node, phase, place, b1, d1, b2, d2, m0, score, weight, spare, better, holds, seen, broken, taken from search;

-- best table
create or replace table anon_scratch.main.search_state as
with last as (
    select * from anon_scratch.main.search_trail where kind = 0 and phase = 'end'
)
select
    unnest([0, 1]) as attribute,
    unnest([b1, b2]) as depth
from last;

-- classes
create or replace table anon_scratch.main.divided_classes as
with best as (
    select bit_or(v.m0) as m0
    from anon_scratch.main.search_state s
    join anon_scratch.main.search_depths v on v.attribute = s.attribute and v.depth = s.depth
),
placed as (
    select t.unit, t.n, t.w0, t.w0 & b.m0 as g0
    from anon_scratch.main.lattice_tuples t
    cross join best b
),
named as (
    select g0, min(unit) as class_id
    from placed
    group by g0
)
select p.unit, c.class_id, p.n, p.w0
from placed p
join named c on c.g0 = p.g0;

-- open classes
create or replace table anon_scratch.main.open_classes as
select *, 0 as step
from anon_scratch.main.divided_classes;

-- divide classes
create or replace table anon_scratch.main.open_classes as
with classes as (
    select
        class_id
        , xor(bit_or(w0), bit_and(w0)) as m0
    from anon_scratch.main.open_classes
    group by class_id
    having sum(n) >= 4
),
parting as (
    select
        class_id,
        unnest([0, 1]) as attribute,
        unnest([2.5, 1]) as priority
        , unnest([case when m0 & 128 <> 0 then 128 when m0 & 64 <> 0 then 64 when m0 & 48 <> 0 then 48 else 0 end, case when m0 & 12 <> 0 then 12 when m0 & 2 <> 0 then 2 when m0 & 1 <> 0 then 1 else 0 end]) as m0
    from classes
),
moves as (
    select * from parting where m0 <> 0
),
children as (
    select o.class_id, m.attribute, (o.w0 & m.m0) as child, cast(sum(o.n) as bigint) as n, min(o.unit) as part
    from anon_scratch.main.open_classes o
    join moves m on m.class_id = o.class_id
    group by 1, 2, 3
),
parts as (
    select class_id, attribute, count(*) as parts
    from children
    group by class_id, attribute
    having min(n) >= 2
),
sized as (
    select m.*, cast(m.priority as decimal(25, 12)) * cast(s.parts - 1 as decimal(13, 0)) as gain
    from moves m
    join parts s on s.class_id = m.class_id and s.attribute = m.attribute
),
best_1 as (
    select class_id, max({'gain': gain, 'place': -attribute}) as best from "sized" group by class_id
),
chosen_1 as (
    select a.*
    from "sized" a
    join best_1 b on b.class_id = a.class_id and -b.best.place = a.attribute
),

counted_1_1 as (
    select o.class_id, m.attribute, (o.w0 & m.m0) as child, c.value, cast(sum(c.n) as bigint) as n
    from anon_scratch.main.open_classes o
    join "chosen_1" m on m.class_id = o.class_id
    join anon_scratch.main.cells_1 c on c.unit = o.unit
    group by 1, 2, 3, 4
),
totals_1_1 as (
    select class_id, attribute, child, cast(sum(n) as bigint) as group_size
    from counted_1_1
    group by class_id, attribute, child
),
layer_1_1_0 as (
    select g.class_id, g.attribute, g.child, coalesce(c.n, 0) as n, g.group_size, r.*
    from totals_1_1 g
    cross join anon_scratch.main.reference_1 r
    left join counted_1_1 c on c.class_id = g.class_id and c.attribute = g.attribute and c.child = g.child and c.value = r.value
),
layer_1_1_1 as (
    select *, cast(sum(n * q_size - q * group_size) over (partition by class_id, attribute, child order by value rows unbounded preceding) as bigint) as "running_surplus"
    from layer_1_1_0
),
judged_1_1 as (
    select class_id, attribute, child, (cast(coalesce(sum(abs(running_surplus)), 0) as decimal(38, 0)) * 2 <= ((cast(coalesce(sum(n), 0) as decimal(38, 0)) * coalesce(max(q_size), 0)) * (greatest((coalesce(max(m), 0) + case when max(q_size) > max(q_known) then 1 else 0 end), 2) - 1)) * 1) as holds
    from layer_1_1_1
    group by class_id, attribute, child
),
held_1_1 as (
    select m.*
    from "chosen_1" m
    anti join judged_1_1 j
        on not j.holds and j.class_id = m.class_id and j.attribute = m.attribute
),

refused as (
    select c.class_id, c.attribute
    from chosen_1 c
    anti join held_1_1 h on h.class_id = c.class_id
),
others as (
    select s.*
    from sized s
    join refused r on r.class_id = s.class_id and r.attribute <> s.attribute
),
counted_2_1 as (
    select o.class_id, m.attribute, (o.w0 & m.m0) as child, c.value, cast(sum(c.n) as bigint) as n
    from anon_scratch.main.open_classes o
    join "others" m on m.class_id = o.class_id
    join anon_scratch.main.cells_1 c on c.unit = o.unit
    group by 1, 2, 3, 4
),
totals_2_1 as (
    select class_id, attribute, child, cast(sum(n) as bigint) as group_size
    from counted_2_1
    group by class_id, attribute, child
),
layer_2_1_0 as (
    select g.class_id, g.attribute, g.child, coalesce(c.n, 0) as n, g.group_size, r.*
    from totals_2_1 g
    cross join anon_scratch.main.reference_1 r
    left join counted_2_1 c on c.class_id = g.class_id and c.attribute = g.attribute and c.child = g.child and c.value = r.value
),
layer_2_1_1 as (
    select *, cast(sum(n * q_size - q * group_size) over (partition by class_id, attribute, child order by value rows unbounded preceding) as bigint) as "running_surplus"
    from layer_2_1_0
),
judged_2_1 as (
    select class_id, attribute, child, (cast(coalesce(sum(abs(running_surplus)), 0) as decimal(38, 0)) * 2 <= ((cast(coalesce(sum(n), 0) as decimal(38, 0)) * coalesce(max(q_size), 0)) * (greatest((coalesce(max(m), 0) + case when max(q_size) > max(q_known) then 1 else 0 end), 2) - 1)) * 1) as holds
    from layer_2_1_1
    group by class_id, attribute, child
),
held_2_1 as (
    select m.*
    from "others" m
    anti join judged_2_1 j
        on not j.holds and j.class_id = m.class_id and j.attribute = m.attribute
),

best_2 as (
    select class_id, max({'gain': gain, 'place': -attribute}) as best from held_2_1 group by class_id
),
chosen_2 as (
    select a.*
    from held_2_1 a
    join best_2 b on b.class_id = a.class_id and -b.best.place = a.attribute
),

chosen as (
    select * from held_1_1
    union all
    select * from chosen_2
),
taken as (
    select m.class_id, m.m0, c.child, c.part
    from chosen m
    join children c on c.class_id = m.class_id and c.attribute = m.attribute
),
parted as (
    select o.unit, m.part as class_id, o.step + 1 as step, o.n, o.w0
    from anon_scratch.main.open_classes o
    join taken m on m.class_id = o.class_id and m.child = (o.w0 & m.m0)
)

select * from parted;

-- name parts
create or replace table anon_scratch.main.divided_classes as
select
    d.unit, coalesce(o.class_id, d.class_id) as class_id, d.n
    , d.w0
from anon_scratch.main.divided_classes d
left join anon_scratch.main.open_classes o on o.unit = d.unit;

-- undivided
select count(*) from anon_scratch.main.open_classes;

-- classes of units
create or replace table anon_scratch.main.members as
select unit, class_id from anon_scratch.main.divided_classes;

-- levels of classes
create or replace table anon_scratch.main.class_levels as
with classes as (
    select
        class_id
        , xor(bit_or(w0), bit_and(w0)) as m0
    from anon_scratch.main.divided_classes
    group by class_id
)
select
    class_id
    , coalesce(case when m0 & 12 <> 0 then 2 when m0 & 2 <> 0 then 1 when m0 & 1 <> 0 then 0 end + 1, 0) as l1
    , coalesce(case when m0 & 128 <> 0 then 2 when m0 & 64 <> 0 then 1 when m0 & 48 <> 0 then 0 end + 1, 0) as l2
from classes;

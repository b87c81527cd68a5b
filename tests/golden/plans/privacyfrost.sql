-- lines that refer to other files are explained in tests/golden/README.md

-- read the source: as in plans/full_domain.sql, read the source
-- values of zip: as in plans/mondrian.sql, values of age
-- suspected identifiers: as in templates/prepare/suspects.sql
-- identifiers in published text: as in templates/prepare/identifiers_in_text.sql
-- warnings about the source: as in plans/mondrian.sql, warnings about the source
-- hierarchy_1.affix_levels: as in plans/full_domain.sql, hierarchy_1.affix_levels
-- hierarchy_1.affix: as in plans/full_domain.sql, hierarchy_1.affix
-- codes of zip: as in plans/full_domain.sql, codes of zip
-- values as counted: as in plans/full_domain.sql, values as counted

-- encode rows: Every row as small codes, or as the words of its tuple, with its secret-keyed draw.
-- 4 lines as in plans/mondrian.sql, encode rows
        , cast(d1.code as bigint) as t1
        , d1.code as c1
    -- 4 lines as in plans/lgb.sql, encode rows
    -- 7 lines as in plans/mondrian.sql, encode rows
        , c1
    -- 4 lines as in plans/mondrian.sql, encode rows

-- enough rows: as in plans/mondrian.sql, enough rows
-- distinct tuples: as in plans/lgb.sql, distinct tuples

-- levels of zip: The node of every value of one column at every level, and what publishing it loses. Level 0 is the value itself; NULL stays NULL up to the root, which covers it too. Losses of a cell, in units of 10^-12: the normalized certainty penalty, the generalized loss metric, and the distortion. Bounds of nodes that have none of their own are those of the listed values, or of the source's.
-- 14 lines as in plans/full_domain.sql, levels of zip
    -- 7 lines as in plans/full_domain.sql, levels of zip
    -- 7 lines as in plans/full_domain.sql, levels of zip
    -- 6 lines as in plans/full_domain.sql, levels of zip
    from written
)
select d.code, 0 as level, cast(d.code as bigint) as node
from anon_scratch.main.domain_1 d
union all
select d.code, w.level, w.node
-- 9 lines as in plans/full_domain.sql, levels of zip

-- paths of values: as in plans/full_domain.sql, paths of values
-- packed tuples: as in plans/full_domain.sql, packed tuples

-- merit of levels: For every level of every column, what it adds to the score of a table, and the size of the column's smallest class by itself; depths count from the root.
create or replace table anon_scratch.main.search_depths as
with priorities(attribute, height, priority) as (
    values
    (0, 5, cast(1 as decimal(25, 12)))
-- 9 lines as in plans/full_domain.sql, levels of the lattice
),
codes as (
    select attribute, code, sum(n) as n
    from (
        select
            unnest([0]) as attribute,
            unnest([c1]) as code,
            n
        from anon_scratch.main.lattice_tuples
    ) c
    group by attribute, code
),
recoded as (
    select 0 as attribute, code, level, node from anon_scratch.main.recoding_1
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
    cast(priority * cast(e as decimal(13, 0)) as decimal(38, 12)) as merit
    , cast(m.m0 as bigint) as m0
from counted c
join priorities p on p.attribute = c.attribute
join masks m on m.attribute = c.attribute and m.level = c.level;

-- tuples worth looking at: The tuples at the finest levels at which no column alone has a class that is too small: no table that holds is finer (the subset property).
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

-- pre-computation: The pre-computation: every column alone is generalized until its smallest class has k + p, then all columns together, one level at a time, as far as their minimum levels allow. All of these tables are judged at once; the search starts from the finest that holds.
create or replace table anon_scratch.main.search_start as
with settings(attribute, floor) as (
    values
    (0, 0)
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
        sum(v.merit) as score,
        0 as weight,
        min(v.smallest) as single
        , max(case when v.attribute = 0 then v.depth end) as d1
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
verdicts as (
    select
        node,
        smallest,
        case
            when smallest < 2 then 0
        end as broken
    from least
)
select
    'pre-computation' as phase,
    t.node as place
    , cast(t.d1 as integer) as d1
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

-- coarsest table: The coarsest table that the minimum levels allow does not hold, so none does. (stops the run if it returns rows)
select smallest, broken
from anon_scratch.main.search_start
where not exists (select 1 from anon_scratch.main.search_start where holds)
order by place desc
limit 1;

-- search: The search. Every step scores all tables that are one level finer (top-down) or coarser (bottom-up) in one column, and judges those that beat the best table, all at once. Top-down continues with the best table that holds; if none holds, it moves on to the best that fails, and bottom-up searches back from there. Of equal scores the first is taken: the highest priority going down, the lowest going up. Tables finer than one that failed, and tables coarser than one that held, are not judged: the answer is known.
create or replace table anon_scratch.main.search_trail as
with recursive search(kind, round, node, phase, place, b1, d1, m0, score, weight, spare, better, holds, seen, broken, taken) using key (kind, round, node) as (
    select 1, 0, place, phase, place, d1, d1, m0, score, weight, false, true, holds, seen, broken, chosen
    from anon_scratch.main.search_start
    union all
    select 0, 0, 0, 'top-down', 0, d1, d1, m0, score, weight, false, true, true, true, null, true
    from anon_scratch.main.search_start
    where chosen
    union all (
        with state as (
            select * from search where kind = 0 and phase <> 'end'
        ),
        here as (
            select
                unnest([0]) as attribute,
                unnest([d1]) as depth,
                unnest([0]) as floor,
                unnest([5]) as height,
                unnest([0]) as rank,
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
                sum(v.merit) as score,
                0 as weight,
                min(v.smallest) as single
                , max(case when v.attribute = 0 then v.depth end) as d1
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
    -- 18 lines as in plans/privacyfrost.sql, pre-computation
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
                -- a finer table that holds was passed over: it is taken if the way back up finds none
                case when s.phase = 'bottom-up' then s.spare else coalesce(o.any_holds, false) end as next_spare,
                c.score as chosen_score,
                c.weight as chosen_weight
                , c.d1 as chosen_1
            from state s
            left join chosen c on true
            left join (select bool_or(holds) as any_holds from judged) o on true
        )
        select
            1, s.round + 1, j.node, s.phase, j.place
            , s.b1, j.d1
            , j.m0
            , j.score, j.weight, false, j.better, j.holds, j.seen, j.broken, j.choice = 1 and j.better
        from ordered j
        cross join state s
        union all
        select
            0, round + 1, 0, next_phase, 0
            , case when adopted then chosen_1 else b1 end
            , case when moved then chosen_1 else b1 end
            , 0
            , case when adopted then chosen_score else score end
            , case when adopted then chosen_weight else weight end
            , next_spare, true, true, true, null, true
        from move
    )
)
select kind, round, node, phase, place, b1, d1, m0, score, weight, spare, better, holds, seen, broken, taken from search;

-- best table: The table that the search ended with.
create or replace table anon_scratch.main.search_state as
with last as (
    select * from anon_scratch.main.search_trail where kind = 0 and phase = 'end'
)
select
    unnest([0]) as attribute,
    unnest([b1]) as depth
from last;

-- classes: The classes of the best table, each named by its first unit.
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

-- partial-domain de-generalization: The whole partial-domain de-generalization as one statement: classes are divided until none can be.
create or replace table anon_scratch.main.divided_classes as
with recursive division(unit, class_id, step, n, w0) using key (unit) as (
    select unit, class_id, 0, n, w0
    from anon_scratch.main.divided_classes
    union all (
        with classes as (
    select
        class_id
        , xor(bit_or(w0), bit_and(w0)) as m0
    from division
    group by class_id
    having sum(n) >= 4
),
parting as (
    select
        class_id,
        unnest([0]) as attribute,
        unnest([1]) as priority
        , unnest([case when m0 & 64 <> 0 then 64 when m0 & 32 <> 0 then 32 when m0 & 16 <> 0 then 16 when m0 & 8 <> 0 then 8 when m0 & 7 <> 0 then 7 else 0 end]) as m0
    from classes
),
moves as (
    select * from parting where m0 <> 0
),
children as (
    select o.class_id, m.attribute, (o.w0 & m.m0) as child, cast(sum(o.n) as bigint) as n, min(o.unit) as part
    from division o
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

taken as (
    select m.class_id, m.m0, c.child, c.part
    from chosen_1 m
    join children c on c.class_id = m.class_id and c.attribute = m.attribute
),
parted as (
    select o.unit, m.part as class_id, o.step + 1 as step, o.n, o.w0
    from division o
    join taken m on m.class_id = o.class_id and m.child = (o.w0 & m.m0)
)

        select * from parted
    )
)
select unit, class_id, n, w0
from division;

-- classes of units: Which class every unit is in.
create or replace table anon_scratch.main.members as
select unit, class_id from anon_scratch.main.divided_classes;

-- levels of classes: The level at which each class publishes each column: that of the best table or, after the partial-domain step, the lowest level at which all its values are equal.
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
    , coalesce(case when m0 & 64 <> 0 then 4 when m0 & 32 <> 0 then 3 when m0 & 16 <> 0 then 2 when m0 & 8 <> 0 then 1 when m0 & 7 <> 0 then 0 end + 1, 0) as l1
from classes;

-- published values of zip: as in plans/full_domain.sql, published values of zip
-- nodes of zip: as in plans/full_domain.sql, nodes of zip
-- cells of classes: as in plans/full_domain.sql, cells of classes

-- write the release: The release: every published row with the cells of its class, shuffled by its draw.
-- 4 lines as in plans/full_domain.sql, write the release
-- 4 lines as in plans/lgb.sql, write the release
order by r.draw;

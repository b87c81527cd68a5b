-- lines that refer to other files are explained in tests/golden/README.md

-- read the source: Read the source once: what is released, the sensitivity flags, and the identity of each row.
create or replace table anon_scratch.main.snapshot as
select
    cast("zip" as varchar) collate "binary" as q1,
    case when "patient" is not null then hash("patient") end as h0
from "anon_source"."main"."people";

-- values of zip: as in plans/mondrian.sql, values of age
-- suspected identifiers: as in templates/prepare/suspects.sql
-- identifiers in published text: as in templates/prepare/identifiers_in_text.sql
-- warnings about the source: as in plans/mondrian.sql, warnings about the source

-- hierarchy_1.affix_levels: Prefix or suffix levels: how many characters each keeps, and the length of the longest value.
create or replace table anon_scratch.main.kept_1 as
with extent as (
    select coalesce(max(length(cast(value as varchar))), 0) as longest
    from anon_scratch.main.values_1
),

lengths as (
    select longest - taken as kept, longest
    from (
        select longest, unnest(range(1, longest, 1)) as taken
        from extent
    ) as regular
    union all
    select 0, longest
    from extent
)

select cast(row_number() over (order by kept desc) as integer) as level, kept, longest
from lengths;

-- hierarchy_1.affix: Prefix or suffix levels: each keeps fewer characters, the root keeps none. A value shorter than what a level keeps stays as it is.
create or replace table anon_scratch.main.hierarchy_1 as
with texts as (
    select value, cast(value as varchar) as text
    from anon_scratch.main.values_1
),

turned as (
    select
        value,
        text,
        text as path
    from texts
),

ordered as (
    select *, row_number() over (order by path, text) as leaf
    from turned
),

cut as (
    select o.*, l.kept, l.level, l.longest, left(o.path, l.kept) as start
    from ordered as o
    cross join anon_scratch.main.kept_1 as l
)

select
    value,
    leaf,
    cast(level as integer) as level,
    min(leaf) over (partition by level, start) as node,
    case
        when kept = 0 then '*'
        when length(start) < kept then text
        else start || repeat('*', longest - kept)
    end as label,
    count(*) over (partition by level, start) as leaves,
    cast(null as VARCHAR) as lo,
    cast(null as VARCHAR) as hi
from cut;

-- codes of zip: Number the values of one column in the order in which it is cut: by value (numbers, dates), by hierarchy leaf, else the most frequent first.
-- 4 lines as in plans/mondrian.sql, codes of age
ancestors as (
    select
        value,
        min(leaf) as leaf
        , max(node) filter (where level = 1) as a1
        , max(leaves) filter (where level = 1) as z1
        , max(node) filter (where level = 2) as a2
        , max(leaves) filter (where level = 2) as z2
        , max(node) filter (where level = 3) as a3
        , max(leaves) filter (where level = 3) as z3
        , max(node) filter (where level = 4) as a4
        , max(leaves) filter (where level = 4) as z4
        , max(node) filter (where level = 5) as a5
        , max(leaves) filter (where level = 5) as z5
    from anon_scratch.main.hierarchy_1
    group by value
-- 6 lines as in plans/mondrian.sql, codes of age
order by h.leaf, v.value
        ) as code,
        count(*) over () as size
        , coalesce(h.a1, 0) as a1
        , coalesce(h.z1, 1) as z1
        , coalesce(h.a2, 0) as a2
        , coalesce(h.z2, 1) as z2
        , coalesce(h.a3, 0) as a3
        , coalesce(h.z3, 1) as z3
        , coalesce(h.a4, 0) as a4
        , coalesce(h.z4, 1) as z4
        , coalesce(h.a5, 0) as a5
        , coalesce(h.z5, 1) as z5
    from valued v
    left join ancestors h on h.value = v.value
-- 4 lines as in plans/mondrian.sql, codes of age
    -- 4 lines as in plans/mondrian.sql, codes of zip
    , a1
    , z1 / cast(max(z5) over () as double) as z1
    , a2
    , z2 / cast(max(z5) over () as double) as z2
    , a3
    , z3 / cast(max(z5) over () as double) as z3
    , a4
    , z4 / cast(max(z5) over () as double) as z4
    , a5
    , z5 / cast(max(z5) over () as double) as z5
from coded
order by code;

-- values as counted: Columns that have more values than were counted for the plan, or NULLs where none were counted, by number, and how many. (stops the run if it returns rows)
with nulls as (
    select count(*) - count(q1) as n1, count(*) as n from anon_scratch.main.snapshot
)
select 1 as number, false as is_null, max(code) - 8 as n from anon_scratch.main.domain_1 having max(code) > 8
union all
select 1, true, n1 from nulls where n1 > 0;

-- encode rows: Every row as small codes, or as the words of its tuple, with its secret-keyed draw.
-- 4 lines as in plans/mondrian.sql, encode rows
        , cast(d1.code as bigint) as t1
    -- 4 lines as in plans/lgb.sql, encode rows
    -- 12 lines as in plans/mondrian.sql, encode rows

-- enough rows: as in plans/mondrian.sql, enough rows

-- distinct tuples: The distinct quasi-identifier tuples with their counts: what is partitioned instead of rows.
-- 6 lines as in plans/mondrian.sql, distinct tuples
select row_number() over (order by t1) as unit, *, cast(t1 as integer) as c1
from grouped;

-- levels of zip: The node of every value of one column at every level, and what publishing it loses. Level 0 is the value itself; NULL stays NULL up to the root, which covers it too. Losses of a cell, in units of 10^-12: the normalized certainty penalty, the generalized loss metric, and the distortion. Bounds of nodes that have none of their own are those of the listed values, or of the source's.
create or replace table anon_scratch.main.recoding_1 as
with
extent as (
    select
        max(size) as size,
        count(*) filter (where code > 0) as present
    from anon_scratch.main.domain_1
),
nodes as (
    select
        h.level,
        h.node,
        count(*) as present,
        min(h.leaves) as leaves
        , cast(min(leaves) - 1 as double) as width
    from anon_scratch.main.hierarchy_1 h
    group by h.level, h.node
),
placed as (
    select
        n.*,
        n.level = 5 or n.present = x.present as whole
        , n.present as covered
        , x.size as size
        , max(case when n.level = 5 then n.width end) over () as whole_width
    from nodes n
    cross join extent x
),
written as (
    select
        level,
        node
        , case when whole then 1 when covered > 1 then covered / cast(size as double) else 0 end as ncp
        , case when whole then 1 when covered > 1 then (covered - 1) / cast(size - 1 as double) else 0 end as glm
        , case when level = 5 then 1 else coalesce(width / nullif(whole_width, 0), 0) end as distortion
    from placed
),
lost as (
    select
        level,
        node
        , cast(round(least(greatest("ncp", 0), 1) * 1000000000000) as bigint) as "ncp"
        , cast(round(least(greatest("glm", 0), 1) * 1000000000000) as bigint) as "glm"
        , cast(round(least(greatest("distortion", 0), 1) * 1000000000000) as bigint) * 5 as "distortion"
    from written
)
select d.code, 0 as level, cast(d.code as bigint) as node, cast(0 as bigint) as "ncp", cast(0 as bigint) as "glm", cast(0 as bigint) as "distortion"
from anon_scratch.main.domain_1 d
union all
select d.code, w.level, w.node, w."ncp", w."glm", w."distortion"
from (
    select
        code,
        unnest([1, 2, 3, 4, 5]) as level,
        unnest([a1, a2, a3, a4, a5]) as node
    from anon_scratch.main.domain_1
    where code > 0
) d
join lost w on w.level = d.level and w.node = d.node;

-- paths of values: The packed path of every value of every column from the root of its hierarchy down.
create or replace table anon_scratch.main.lattice_paths as
with climbed as (
    select 0 as attribute, code, level, node from anon_scratch.main.recoding_1
),
fields(attribute, level, nests, first_number, w0) as (
    values
    (0, 0, true, 0, 1),
    (0, 1, true, 0, 8),
    (0, 2, true, 0, 16),
    (0, 3, true, 0, 32),
    (0, 4, true, 1, 64)
),
numbered as (
    select
        c.attribute,
        c.code,
        case when c.code = 0 then 0 else f.first_number - 1 + dense_rank() over (
            partition by c.attribute, c.level, c.code = 0, case when f.nests then a.node end
            order by c.node
        ) end as number
        , f.w0
    from climbed c
    join climbed a on a.attribute = c.attribute and a.code = c.code and a.level = c.level + 1
    join fields f on f.attribute = c.attribute and f.level = c.level
)
select
    c.attribute,
    c.code
    , cast(coalesce(sum(n.number * n.w0), 0) as bigint) as w0
from climbed c
-- a column of NULLs only has no levels, and nothing but its code
left join numbered n on n.attribute = c.attribute and n.code = c.code
where c.level = 0
group by c.attribute, c.code;

-- packed tuples: The distinct quasi-identifier tuples with their packed paths, over which the lattice is judged.
create or replace table anon_scratch.main.lattice_tuples as
select
    u.unit,
    u.n,
u.n as records
    , u.c1
    , p1.w0 as w0
from anon_scratch.main.units u
-- every code has its path, so left joins drop no row; they keep this join order, which saves the search for the best
left join anon_scratch.main.lattice_paths p1 on p1.attribute = 0 and p1.code = u.c1;

-- levels of the lattice: Every level of every column: its masks, the number of its values, the size of the smallest class by this column alone, the losses of all rows (in units of 10^-12 cells), and the entropy of its nodes (in 10^-6 nats).
create or replace table anon_scratch.main.lattice_levels as
with
counted_0 as (
    select c1 as code, cast(sum(n) as bigint) as n, cast(sum(records) as bigint) as records
    from anon_scratch.main.lattice_tuples
    group by 1
),
nodes_0 as (
    select
        0 as attribute, r.level, r.node,
        cast(sum(c.n) as bigint) as n,
        cast(sum(c.records) as bigint) as records,
        sum(cast(c.records as hugeint) * r.ncp) as ncp,
        sum(cast(c.records as hugeint) * r.glm) as glm,
        sum(cast(c.records as hugeint) * r.distortion) as distortion
    from counted_0 c
    join anon_scratch.main.recoding_1 r on r.code = c.code
    group by r.level, r.node
),
nodes as (
    select * from nodes_0
),
masks(attribute, level, m0) as (
    values
    (0, 0, 127),
    (0, 1, 120),
    (0, 2, 112),
    (0, 3, 96),
    (0, 4, 64),
    (0, 5, 0)
)
select
    k.attribute,
    k.level,
    count(n.node) as distinct_values,
    min(n.n) as smallest,
    cast(sum(n.ncp) as hugeint) as ncp,
    cast(sum(n.glm) as hugeint) as glm,
    cast(sum(n.distortion) as hugeint) as distortion,
    -- rounded, so that the order of summation does not matter
    cast(round(1000000 * coalesce(ln(sum(n.records)) - sum(n.records * ln(n.records)) / sum(n.records), 0)) as bigint) as entropy
    , cast(k.m0 as bigint) as m0
from masks k
left join nodes n on n.attribute = k.attribute and n.level = k.level
group by k.attribute, k.level, k.m0;

-- limit of suppression: How many rows may still be suppressed: the limit minus the rows already suppressed for their NULLs.
create or replace table anon_scratch.main.lattice_limits as
with counted as (
    select
        (select count(*) from anon_scratch.main.snapshot) as all_units,
        (select count(*) from anon_scratch.main.coded) as units,
        (select count(*) from anon_scratch.main.snapshot) as records,
        (select count(*) from anon_scratch.main.coded) as kept
)
select
    cast(floor(cast('0.000000000000' as decimal(18, 12)) * all_units) as bigint) - (all_units - units) as allowed,
    records - kept as left_out,
    records,
    units
from counted;

-- nodes of the lattice: Every node of the lattice: its levels, its masks, what it loses if no row is suppressed, and a lower bound of what it loses in any case. Nodes are numbered by their levels, the last column varying fastest. The guide, the sum of the columns' entropies, increases as nodes get finer.
create or replace table anon_scratch.main.lattice_nodes as
with combined as (
    select
v1.level * cast(1 as bigint) as number
        , cast(v1.level as integer) as l1
        , v1.m0 as m0
        , v1."ncp" as "ncp"
        , v1."glm" as "glm"
        , v1."distortion" as "distortion"
        , v1.entropy as guide
    from (select * from anon_scratch.main.lattice_levels where attribute = 0) v1
)
select
    c.*,
    c."ncp" as bound
from combined c
cross join (select records - left_out as units_records from anon_scratch.main.lattice_limits) l;

-- nodes to judge: The nodes that are still to be judged: all of them.
create or replace table anon_scratch.main.lattice_undecided as
select number, guide, bound, m0
from anon_scratch.main.lattice_nodes;

-- no verdicts yet: No node is judged yet.
create or replace table anon_scratch.main.lattice_judged as
select
    number,
    guide,
    cast(0 as bigint) as smallest,
    cast(0 as bigint) as classes,
    cast(0 as bigint) as small,
    cast(0 as hugeint) as squares,
    cast(0 as bigint) as suppressed,
    cast(0 as bigint) as suppressed_rows,
    ncp,
    glm,
    distortion,
    cast(0 as hugeint) as c_dm,
    bound as loss,
    false as holds
from anon_scratch.main.lattice_nodes
where false;

-- loop: judge nodes, at most 6 times, until the exit query counts 0
-- choose nodes: The next nodes to judge. In the first round they are spread evenly over the guide. Later, nodes that the guide predicts to hold, smallest bound first, alternate with the coarsest of those that it predicts to fail, since a node that fails rules out all finer ones. The prediction is the threshold of the guide that contradicts the fewest verdicts so far.
create or replace table anon_scratch.main.lattice_batch as
with widest as (
    select least(greatest(2000000 // greatest((select count(*) from anon_scratch.main.lattice_tuples), 1), 8), 4096) as nodes
),
contradicted as (
    select
        guide,
        sum(case when holds then 0 else 1 end) over upward
            - sum(case when holds then 1 else 0 end) over upward as errors
    from anon_scratch.main.lattice_judged
    window upward as (order by guide range unbounded preceding)
),
expected as (
    select (select guide from contradicted order by errors, guide limit 1) as most_guide
),
spread as (
    select
        u.*,
        e.most_guide,
        count(*) over () as nodes,
        row_number() over (order by u.guide, u.number) as place,
        row_number() over (
            partition by u.guide <= e.most_guide
            order by case when u.guide <= e.most_guide then u.bound else u.guide end, u.number
        ) as turn
    from anon_scratch.main.lattice_undecided u
    cross join expected e
),
ranked as (
    select
        s.*,
        row_number() over (order by s.turn, s.number) as rank
    from spread s
)
select r.number, r.guide, r.m0
from ranked r
cross join widest w
where case
    when r.most_guide is null then (r.place * w.nodes) // r.nodes > ((r.place - 1) * w.nodes) // r.nodes or r.nodes <= w.nodes
    else r.rank <= w.nodes
end;

-- sizes of classes: The totals over the classes of every node of the batch, and whether a node is worth a closer look: the classes below the minimum size hold no more than may be suppressed.
create or replace table anon_scratch.main.lattice_screened as
with classes as (
    select b.number, t.w0 & b.m0 as g0, cast(sum(t.n) as bigint) as n
    from anon_scratch.main.lattice_tuples t
    cross join anon_scratch.main.lattice_batch b
    group by b.number, t.w0 & b.m0
),
counted as (
    select
        number,
        count(*) as classes,
        min(n) as smallest,
        cast(coalesce(sum(n) filter (where n < 2), 0) as bigint) as small,
        cast(sum(cast(n as hugeint) * n) as hugeint) as squares
    from classes
    group by number
)
select b.*, c.classes, c.smallest, c.small, c.squares, c.small <= l.allowed as kept
from anon_scratch.main.lattice_batch b
join counted c on c.number = b.number
cross join anon_scratch.main.lattice_limits l;

-- classes of nodes: The classes of the nodes that passed the screen; those that are too small are not published.
create or replace table anon_scratch.main.lattice_classes as
with grouped as (
    select
        s.number
        , t.w0 & s.m0 as g0
        , cast(sum(t.n) as bigint) as n
        , cast(sum(t.records) as bigint) as records
        , min(t.unit) as unit
    from anon_scratch.main.lattice_tuples t
    cross join (select * from anon_scratch.main.lattice_screened where kept) s
    group by s.number, t.w0 & s.m0
)
select *, row_number() over () as class_id, n >= 2 as published
from grouped;

-- verdicts: The result of every node of the batch: whether it holds, and its loss with its suppressed rows, each of which costs a whole cell per column.
create or replace table anon_scratch.main.lattice_verdicts as
with kept as (
    select
        number,
        count(*) filter (where published) as classes,
        cast(coalesce(sum(n) filter (where not published), 0) as bigint) as suppressed,
        cast(coalesce(sum(records) filter (where not published), 0) as bigint) as suppressed_rows,
        cast(coalesce(sum(cast(records as hugeint) * records) filter (where published), 0) as hugeint) as squares
    from anon_scratch.main.lattice_classes
    group by number
),
holding as (
    select k.*
    from kept k
    cross join anon_scratch.main.lattice_limits l
    where k.classes > 0 and k.suppressed <= l.allowed
),
-- with codes and levels side by side, every join below keeps the number of rows
gone as materialized (
    select
        c.number,
        c.records
        , t.c1
        , v.l1
    from anon_scratch.main.lattice_classes c
    join holding h on h.number = c.number
    join anon_scratch.main.lattice_nodes v on v.number = c.number
    join anon_scratch.main.lattice_tuples t on t.unit = c.unit
    where not c.published
),
spared as (
    select
        g.number
        , cast(sum(cast(g.records as hugeint) * (r1."ncp")) as hugeint) as "ncp"
        , cast(sum(cast(g.records as hugeint) * (r1."glm")) as hugeint) as "glm"
        , cast(sum(cast(g.records as hugeint) * (r1."distortion")) as hugeint) as "distortion"
    from gone g
    -- every code has its losses, so left joins drop no row; they keep this join order, which saves the search for the best
    left join anon_scratch.main.recoding_1 r1 on r1.code = g.c1 and r1.level = g.l1
    group by g.number
),
lost as (
    select
        h.*
        , v.ncp - coalesce(s.ncp, 0) + cast(h.suppressed_rows as hugeint) * 1000000000000 as ncp
        , v.glm - coalesce(s.glm, 0) + cast(h.suppressed_rows as hugeint) * 1000000000000 as glm
        , v.distortion - coalesce(s.distortion, 0) + cast(h.suppressed_rows as hugeint) * 5000000000000 as distortion
        , h.squares + cast(h.suppressed_rows as hugeint) * (l.records - l.left_out) as c_dm
    from holding h
    join anon_scratch.main.lattice_nodes v on v.number = h.number
    left join spared s on s.number = h.number
    cross join anon_scratch.main.lattice_limits l
)
select
    s.number,
    s.guide,
    s.m0,
    s.smallest,
    s.classes,
    s.small,
    s.squares,
    x.suppressed,
    x.suppressed_rows,
    x.ncp,
    x.glm,
    x.distortion,
    x.c_dm,
    x."ncp" as loss,
    x.number is not null as holds,
    x.number is null as decides
from anon_scratch.main.lattice_screened s
left join lost x on x.number = s.number
cross join anon_scratch.main.lattice_limits l;

-- remember verdicts: Keep the verdicts of this round.
insert into anon_scratch.main.lattice_judged
select number, guide, smallest, classes, small, squares, suppressed, suppressed_rows, ncp, glm, distortion, c_dm, loss, holds
from anon_scratch.main.lattice_verdicts;

-- nodes still to judge: The nodes still to be judged: not those already judged, not those finer than a node that failed, and not those that cannot lose less than the best node so far (of equals the one with the lowest number).
create or replace table anon_scratch.main.lattice_undecided as
select u.*
from anon_scratch.main.lattice_undecided u
where u.number not in (select number from anon_scratch.main.lattice_verdicts)
    and not exists (
        select 1 from anon_scratch.main.lattice_verdicts f
        where f.decides and u.m0 & f.m0 = f.m0
    )
    and not exists (
        select 1 from (select loss, number from anon_scratch.main.lattice_judged where holds order by loss, number limit 1) best
        where u.bound > best.loss or (u.bound = best.loss and u.number > best.number)
    );

-- exit query of the loop: How many nodes are still to be judged.
select count(*) from anon_scratch.main.lattice_undecided;
-- end of loop: judge nodes

-- a node that holds: No node holds: not even the one that generalizes everything. (stops the run if it returns rows)
select (select count(*) from anon_scratch.main.lattice_nodes), (select count(*) from anon_scratch.main.lattice_judged), (select allowed from anon_scratch.main.lattice_limits)
where not exists (select 1 from anon_scratch.main.lattice_judged where holds);

-- the optimum: The node that is published: the one with the smallest loss, and of equals the lowest number.
create or replace table anon_scratch.main.lattice_batch as
select n.*
from anon_scratch.main.lattice_judged j
join anon_scratch.main.lattice_nodes n on n.number = j.number
where j.holds
order by j.loss, j.number
limit 1;

-- levels of the optimum: The levels of the node that is published, 0 being the values themselves, how far it may be from the optimum, and how many nodes it took to find it, rounded up to a power of ten: the exact number depends on rows that may not be published. After a full search it is the optimum; else no node loses less than the bound, a mean per cell (of c_dm: a sum) like the loss.
select
    (select count(*) from anon_scratch.main.lattice_nodes) as lattice_nodes,
    (select cast(power(10, length(cast(count(*) as varchar))) as bigint) from anon_scratch.main.lattice_judged) as lattice_judged,
    cast(0 as double) as lattice_gap
    , l1 as "level.zip"
from anon_scratch.main.lattice_batch;

-- sizes of classes: as in plans/full_domain.sql, sizes of classes
-- classes of nodes: as in plans/full_domain.sql, classes of nodes

-- units of published classes: The units of the published classes of the chosen node; all others are suppressed.
create or replace table anon_scratch.main.members as
with masked as materialized (
    select t.unit, t.w0 & b.m0 as g0
    from anon_scratch.main.lattice_tuples t
    cross join anon_scratch.main.lattice_batch b
)
select m.unit, c.class_id
from masked m
join anon_scratch.main.lattice_classes c on c.g0 = m.g0
where c.published;

-- levels of classes: Every class is published at the levels of the chosen node.
create or replace table anon_scratch.main.class_levels as
select c.class_id, b.l1
from anon_scratch.main.lattice_classes c
cross join anon_scratch.main.lattice_batch b
where c.published;

-- published values of zip: The codes of one column among the rows that are published, in buckets or not; 0 is NULL.
create or replace table anon_scratch.main.present_1 as
select distinct u.c1 as code
from anon_scratch.main.members m
join anon_scratch.main.units u on u.unit = m.unit
where u.c1 >= 0;

-- nodes of zip: The published text of every value and node of one categorical column, one text each, made of the published values alone. A node that covers all of them is `*`, and so is the root.
create or replace table anon_scratch.main.shown_1 as
with published as (
    select d.code, d.value, d.label, cast(d.value as varchar) as text
    from anon_scratch.main.present_1 p
    join anon_scratch.main.domain_1 d on d.code = p.code
    where p.code > 0
),
extent as (
    select
        count(*) as size,
        max(length(text)) as longest,
        (select count(*) from anon_scratch.main.present_1 where code = 0) > 0 as nulls
    from published
-- 5 lines as in plans/full_domain.sql, levels of zip
        count(*) as size,
        min(p.text) as text
    from anon_scratch.main.hierarchy_1 h
    join published p on p.value = h.value
    group by h.level, h.node
),
named as (
    select
        n.level,
        n.node,
        n.size,
        case
            when length(n.text) < k.kept then n.text
            else left(n.text, k.kept) || repeat('*', greatest(x.longest - k.kept, 0))
        end as text
    from nodes n
    join anon_scratch.main.kept_1 k on k.level = n.level
    cross join extent x
)
select 0 as level, cast(code as bigint) as node, label, false as nullable
from published
union all
select
    n.level,
    n.node,
    case
        when n.level = 5 or n.size = x.size then '*'
        else case when regexp_matches(n.text, '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(n.text, '"', '""') || '"' else n.text end
    end,
    n.level = 5 and x.nulls
from named n
cross join extent x;

-- cells of classes: The published cells of every class at its levels, and its number in secret-keyed order. All units of a class share one node per column (NULL and all values share the root), so any one unit determines the cells.
create or replace table anon_scratch.main.cells as
with classes as (
    select
        m.class_id,
        cast(sum(u.n) as bigint) as n,
        min(u.draw) as draw
        , min(u.c1) as c1
    from anon_scratch.main.members m
    join anon_scratch.main.units u on u.unit = m.unit
    group by m.class_id
),
numbers as (
    select class_id, row_number() over (order by md5_number(concat(hex(draw), ':class')), class_id) as number
    from classes
-- 5 lines as in plans/mondrian.sql, cells of classes
    , s1.label || case when s1.nullable then ' or NULL' else '' end as cell1
from classes b
join numbers o on o.class_id = b.class_id
join anon_scratch.main.class_levels v on v.class_id = b.class_id
-- every class has its cells, so left joins drop no row; they keep this join order, which saves the search for the best
left join anon_scratch.main.recoding_1 r1 on r1.code = b.c1 and r1.level = v.l1
left join anon_scratch.main.shown_1 s1 on s1.level = r1.level and s1.node = r1.node;

-- write the release: The release: every published row with the cells of its class, shuffled by its draw.
create or replace table anon_scratch.main.staged as
select
    c.number as "class_id",
    c.cell1 as "zip"
-- 5 lines as in plans/mondrian.sql, write the release

-- codes of age: Number the values of one column in the order in which it is cut: by value (numbers, dates), by hierarchy leaf, else the most frequent first.
create or replace table anon_scratch.main.domain_1 as
with valued as (
    select value, n from anon_scratch.main.values_1
),
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
),
coded as (
    select
        v.value,
        v.n,
row_number() over (
order by v.value
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
)
select
    cast(code as integer) as code,
    value,
    cast(value as varchar) as label,
    n,
    cast(size as bigint) as size,
    -- halved, so that the width of a domain of doubles cannot overflow
    (cast(value as double) / 2 - min(cast(value as double)) over () / 2)
        / nullif(max(cast(value as double)) over () / 2 - min(cast(value as double)) over () / 2, 0) as share
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

-- codes of born: Number the values of one column in the order in which it is cut: by value (numbers, dates), by hierarchy leaf, else the most frequent first.
create or replace table anon_scratch.main.domain_2 as
with valued as (
    select value, n from anon_scratch.main.values_2
),
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
    from anon_scratch.main.hierarchy_2
    group by value
),
coded as (
    select
        v.value,
        v.n,
row_number() over (
order by v.value
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
)
select
    cast(code as integer) as code,
    value,
    cast(value as varchar) as label,
    n,
    cast(size as bigint) as size,
    cast(date_diff('day', min(value) over (), value) as double)
        / nullif(date_diff('day', min(value) over (), max(value) over ()), 0) as share
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

-- codes of zip: Number the values of one column in the order in which it is cut: by value (numbers, dates), by hierarchy leaf, else the most frequent first.
create or replace table anon_scratch.main.domain_3 as
with valued as (
    select value, n from anon_scratch.main.values_3
),
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
    from anon_scratch.main.hierarchy_3
    group by value
),
coded as (
    select
        v.value,
        v.n,
row_number() over (
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
)
select
    cast(code as integer) as code,
    value,
    case when regexp_matches(cast(value as varchar), '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(cast(value as varchar), '"', '""') || '"' else cast(value as varchar) end as label,
    n,
    cast(size as bigint) as size,
    (code - min(code) over ()) / nullif(cast(max(code) over () - min(code) over () as double), 0) as share
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

-- codes of ward: Number the values of one column in the order in which it is cut: by value (numbers, dates), by hierarchy leaf, else the most frequent first.
create or replace table anon_scratch.main.domain_4 as
with valued as (
    select value, n from anon_scratch.main.values_4
    union all
    select null, 10
),
ancestors as (
    select
        value,
        min(leaf) as leaf
        , max(node) filter (where level = 1) as a1
        , max(leaves) filter (where level = 1) as z1
    from anon_scratch.main.hierarchy_4
    group by value
),
coded as (
    select
        v.value,
        v.n,
case when v.value is null then 0 else row_number() over (
partition by v.value is null order by h.leaf, v.value
        ) end as code,
        count(*) over () as size
        , coalesce(h.a1, 0) as a1
        , coalesce(h.z1, 1) as z1
    from valued v
    left join ancestors h on h.value = v.value
)
select
    cast(code as integer) as code,
    value,
    case when regexp_matches(cast(value as varchar), '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(cast(value as varchar), '"', '""') || '"' else cast(value as varchar) end as label,
    n,
    cast(size as bigint) as size,
    (code - min(code) over ()) / nullif(cast(max(code) over () - min(code) over () as double), 0) as share
    , a1
    , z1 / cast(max(z1) over () as double) as z1
from coded
order by code;

-- levels of age: What every value of one column is published as at every level, and what that loses. Level 0 is the value itself; NULL stays NULL up to the root, which covers it too. Losses of a cell, in units of 10^-12: the normalized certainty penalty, the generalized loss metric, and the distortion. Bounds of nodes that have none of their own are those of the listed values, or of the source's.
create or replace table anon_scratch.main.recoding_1 as
with
extent as (
    select
        min(cast(value as double)) as first_place,
        max(cast(value as double)) as last_place
    from anon_scratch.main.domain_1
),
nodes as (
    select
        h.level,
        h.node,
        min(h.label) as label,
        count(*) as present,
        min(h.leaves) as leaves
        , min(h.lo) as lo
        , max(h.hi) as hi
        , (min(cast(hi as double)) - min(cast(lo as double))) as width
    from anon_scratch.main.hierarchy_1 h
    group by h.level, h.node
),
placed as (
    select
        n.*,
        n.level = 5 as whole
        , x.first_place
        , x.last_place
        , max(case when n.level = 5 then n.width end) over () as whole_width
    from nodes n
    cross join extent x
),
written as (
    select
        level,
        node,
        case
            when whole then '*'
            when lo = hi then cast(lo as varchar)
            else '[' || cast(lo as varchar) || ', ' || cast(hi as varchar) || ']'
        end as cell,
        lo,
        hi
        , case when whole then 1
            else coalesce((least(cast(hi as double), last_place) - greatest(cast(lo as double), first_place)) / nullif(last_place - first_place, 0), 0)
        end as ncp
        , case when level = 5 then 1 else coalesce(width / nullif(whole_width, 0), 0) end as distortion
    from placed
),
lost as (
    select
        level,
        node,
        cell as label
        , lo
        , hi
        , cast(round(least(greatest("ncp", 0), 1) * 1000000000000) as bigint) as "ncp"
        , cast(round(least(greatest("ncp", 0), 1) * 1000000000000) as bigint) as "glm"
        , cast(round(least(greatest("distortion", 0), 1) * 1000000000000) as bigint) * 5 as "distortion"
    from written
)
select d.code, 0 as level, cast(d.code as bigint) as node, d.label, d.code = 0 as nullable, d.value as lo, d.value as hi, cast(0 as bigint) as "ncp", cast(0 as bigint) as "glm", cast(0 as bigint) as "distortion"
from anon_scratch.main.domain_1 d
union all
select d.code, w.level, w.node, w.label, false, w.lo, w.hi, w."ncp", w."glm", w."distortion"
from (
    select
        code,
        unnest([1, 2, 3, 4, 5]) as level,
        unnest([a1, a2, a3, a4, a5]) as node
    from anon_scratch.main.domain_1
    where code > 0
) d
join lost w on w.level = d.level and w.node = d.node;

-- levels of born: What every value of one column is published as at every level, and what that loses. Level 0 is the value itself; NULL stays NULL up to the root, which covers it too. Losses of a cell, in units of 10^-12: the normalized certainty penalty, the generalized loss metric, and the distortion. Bounds of nodes that have none of their own are those of the listed values, or of the source's.
create or replace table anon_scratch.main.recoding_2 as
with
extent as (
    select
        min(cast(epoch_us(cast(value as timestamp)) as double)) as first_place,
        max(cast(epoch_us(cast(value as timestamp)) as double)) as last_place
    from anon_scratch.main.domain_2
),
nodes as (
    select
        h.level,
        h.node,
        min(h.label) as label,
        count(*) as present,
        min(h.leaves) as leaves
        , min(h.lo) as lo
        , max(h.hi) as hi
        , (min(cast(date_diff('day', DATE '1970-01-01', hi) as double)) - min(cast(date_diff('day', DATE '1970-01-01', lo) as double))) as width
    from anon_scratch.main.hierarchy_2 h
    group by h.level, h.node
),
placed as (
    select
        n.*,
        n.level = 5 as whole
        , x.first_place
        , x.last_place
        , max(case when n.level = 5 then n.width end) over () as whole_width
    from nodes n
    cross join extent x
),
written as (
    select
        level,
        node,
        case
            when whole then '*'
            when lo = hi then cast(lo as varchar)
            else '[' || cast(lo as varchar) || ', ' || cast(hi as varchar) || ']'
        end as cell,
        lo,
        hi
        , case when whole then 1
            else coalesce((least(cast(epoch_us(cast(hi as timestamp)) as double), last_place) - greatest(cast(epoch_us(cast(lo as timestamp)) as double), first_place)) / nullif(last_place - first_place, 0), 0)
        end as ncp
        , case when level = 5 then 1 else coalesce(width / nullif(whole_width, 0), 0) end as distortion
    from placed
),
lost as (
    select
        level,
        node,
        cell as label
        , lo
        , hi
        , cast(round(least(greatest("ncp", 0), 1) * 1000000000000) as bigint) as "ncp"
        , cast(round(least(greatest("ncp", 0), 1) * 1000000000000) as bigint) as "glm"
        , cast(round(least(greatest("distortion", 0), 1) * 1000000000000) as bigint) * 5 as "distortion"
    from written
)
select d.code, 0 as level, cast(d.code as bigint) as node, d.label, d.code = 0 as nullable, d.value as lo, d.value as hi, cast(0 as bigint) as "ncp", cast(0 as bigint) as "glm", cast(0 as bigint) as "distortion"
from anon_scratch.main.domain_2 d
union all
select d.code, w.level, w.node, w.label, false, w.lo, w.hi, w."ncp", w."glm", w."distortion"
from (
    select
        code,
        unnest([1, 2, 3, 4, 5]) as level,
        unnest([a1, a2, a3, a4, a5]) as node
    from anon_scratch.main.domain_2
    where code > 0
) d
join lost w on w.level = d.level and w.node = d.node;

-- levels of zip: What every value of one column is published as at every level, and what that loses. Level 0 is the value itself; NULL stays NULL up to the root, which covers it too. Losses of a cell, in units of 10^-12: the normalized certainty penalty, the generalized loss metric, and the distortion. Bounds of nodes that have none of their own are those of the listed values, or of the source's.
create or replace table anon_scratch.main.recoding_3 as
with
extent as (
    select
        max(size) as size,
        count(*) filter (where code > 0) as present
    from anon_scratch.main.domain_3
),
nodes as (
    select
        h.level,
        h.node,
        min(h.label) as label,
        count(*) as present,
        min(h.leaves) as leaves
        , cast(min(leaves) - 1 as double) as width
    from anon_scratch.main.hierarchy_3 h
    group by h.level, h.node
),
placed as (
    select
        n.*,
        n.level = 5 or n.present = x.present as whole
        , n.present as covered
        , x.size
        , max(case when n.level = 5 then n.width end) over () as whole_width
    from nodes n
    cross join extent x
),
written as (
    select
        level,
        node,
        case when whole then '*' else case when regexp_matches(cast(label as varchar), '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(cast(label as varchar), '"', '""') || '"' else cast(label as varchar) end end as cell
        , case when whole then 1 when covered > 1 then covered / cast(size as double) else 0 end as ncp
        , case when whole then 1 when covered > 1 then (covered - 1) / cast(size - 1 as double) else 0 end as glm
        , case when level = 5 then 1 else coalesce(width / nullif(whole_width, 0), 0) end as distortion
    from placed
),
lost as (
    select
        level,
        node,
        cell as label
        , cast(round(least(greatest("ncp", 0), 1) * 1000000000000) as bigint) as "ncp"
        , cast(round(least(greatest("glm", 0), 1) * 1000000000000) as bigint) as "glm"
        , cast(round(least(greatest("distortion", 0), 1) * 1000000000000) as bigint) * 5 as "distortion"
    from written
)
select d.code, 0 as level, cast(d.code as bigint) as node, d.label, d.code = 0 as nullable, cast(0 as bigint) as "ncp", cast(0 as bigint) as "glm", cast(0 as bigint) as "distortion"
from anon_scratch.main.domain_3 d
union all
select d.code, w.level, w.node, w.label, false, w."ncp", w."glm", w."distortion"
from (
    select
        code,
        unnest([1, 2, 3, 4, 5]) as level,
        unnest([a1, a2, a3, a4, a5]) as node
    from anon_scratch.main.domain_3
    where code > 0
) d
join lost w on w.level = d.level and w.node = d.node;

-- levels of ward: What every value of one column is published as at every level, and what that loses. Level 0 is the value itself; NULL stays NULL up to the root, which covers it too. Losses of a cell, in units of 10^-12: the normalized certainty penalty, the generalized loss metric, and the distortion. Bounds of nodes that have none of their own are those of the listed values, or of the source's.
create or replace table anon_scratch.main.recoding_4 as
with
extent as (
    select
        max(size) as size,
        count(*) filter (where code > 0) as present
    from anon_scratch.main.domain_4
),
nodes as (
    select
        h.level,
        h.node,
        min(h.label) as label,
        count(*) as present,
        min(h.leaves) as leaves
        , cast(min(leaves) - 1 as double) as width
    from anon_scratch.main.hierarchy_4 h
    group by h.level, h.node
),
placed as (
    select
        n.*,
        n.level = 1 or n.present = x.present as whole
        , n.leaves as covered
        , x.size
        , max(case when n.level = 1 then n.width end) over () as whole_width
    from nodes n
    cross join extent x
),
written as (
    select
        level,
        node,
        case when whole then '*' else label end as cell
        , case when whole then 1 when covered > 1 then covered / cast(size as double) else 0 end as ncp
        , case when whole then 1 when covered > 1 then (covered - 1) / cast(size - 1 as double) else 0 end as glm
        , case when level = 1 then 1 else coalesce(width / nullif(whole_width, 0), 0) end as distortion
    from placed
),
lost as (
    select
        level,
        node,
        cell as label
        , cast(round(least(greatest("ncp", 0), 1) * 1000000000000) as bigint) as "ncp"
        , cast(round(least(greatest("glm", 0), 1) * 1000000000000) as bigint) as "glm"
        , cast(round(least(greatest("distortion", 0), 1) * 1000000000000) as bigint) * 1 as "distortion"
    from written
)
select d.code, 0 as level, cast(d.code as bigint) as node, d.label, d.code = 0 as nullable, cast(0 as bigint) as "ncp", cast(0 as bigint) as "glm", cast(0 as bigint) as "distortion"
from anon_scratch.main.domain_4 d
union all
select d.code, w.level, w.node, w.label, w.level = 1, w."ncp", w."glm", w."distortion"
from (
    select
        code,
        unnest([1]) as level,
        unnest([a1]) as node
    from anon_scratch.main.domain_4
    where code > 0
) d
join lost w on w.level = d.level and w.node = d.node
union all
select d.code, v.level, 0, null, true, 0, 0, 0
from anon_scratch.main.domain_4 d
cross join (select unnest(range(1, 1)) as level) v
where d.code = 0
union all
select d.code, 1, coalesce(w.node, 0), '*', true, 1000000000000, 1000000000000, 1000000000000 * 1
from anon_scratch.main.domain_4 d
left join lost w on w.level = 1
where d.code = 0;

-- paths of values: The packed path of every value of every column from the root of its hierarchy down.
create or replace table anon_scratch.main.lattice_paths as
with climbed as (
    select 0 as attribute, code, level, node from anon_scratch.main.recoding_1
    union all
    select 1 as attribute, code, level, node from anon_scratch.main.recoding_2
    union all
    select 2 as attribute, code, level, node from anon_scratch.main.recoding_3
    union all
    select 3 as attribute, code, level, node from anon_scratch.main.recoding_4
),
fields(attribute, level, nests, first_number, w0) as (
    values
    (0, 0, false, 1, 1),
    (0, 1, false, 1, 16),
    (0, 2, false, 1, 128),
    (0, 3, false, 1, 512),
    (0, 4, false, 1, 2048),
    (1, 0, true, 0, 4096),
    (1, 1, true, 0, 32768),
    (1, 2, true, 0, 65536),
    (1, 3, true, 0, 131072),
    (1, 4, true, 1, 262144),
    (2, 0, true, 0, 524288),
    (2, 1, true, 0, 4194304),
    (2, 2, true, 0, 8388608),
    (2, 3, true, 0, 16777216),
    (2, 4, true, 1, 33554432),
    (3, 0, true, 1, 67108864)
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

-- packed tuples: The distinct quasi-identifier tuples with their packed paths: what the lattice is judged over.
create or replace table anon_scratch.main.lattice_tuples as
with records as (
    select t1, count(*) as records
    from anon_scratch.main.coded
    group by t1
)
select
    u.unit,
    u.n,
r.records as records
    , u.c1
    , u.c2
    , u.c3
    , u.c4
    , p1.w0 + p2.w0 + p3.w0 + p4.w0 as w0
from anon_scratch.main.units u
join records r on r.t1 = u.t1
-- every code has its path; left joins keep this order, which is quicker than finding the best one
left join anon_scratch.main.lattice_paths p1 on p1.attribute = 0 and p1.code = u.c1
left join anon_scratch.main.lattice_paths p2 on p2.attribute = 1 and p2.code = u.c2
left join anon_scratch.main.lattice_paths p3 on p3.attribute = 2 and p3.code = u.c3
left join anon_scratch.main.lattice_paths p4 on p4.attribute = 3 and p4.code = u.c4;

-- levels of the lattice: The levels of all columns: masks, how many values and how small classes each alone would leave, the losses of all rows (in units of 10^-12 cells), and the entropy of its nodes (in 10^-6 nats).
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
counted_1 as (
    select c2 as code, cast(sum(n) as bigint) as n, cast(sum(records) as bigint) as records
    from anon_scratch.main.lattice_tuples
    group by 1
),
nodes_1 as (
    select
        1 as attribute, r.level, r.node,
        cast(sum(c.n) as bigint) as n,
        cast(sum(c.records) as bigint) as records,
        sum(cast(c.records as hugeint) * r.ncp) as ncp,
        sum(cast(c.records as hugeint) * r.glm) as glm,
        sum(cast(c.records as hugeint) * r.distortion) as distortion
    from counted_1 c
    join anon_scratch.main.recoding_2 r on r.code = c.code
    group by r.level, r.node
),
counted_2 as (
    select c3 as code, cast(sum(n) as bigint) as n, cast(sum(records) as bigint) as records
    from anon_scratch.main.lattice_tuples
    group by 1
),
nodes_2 as (
    select
        2 as attribute, r.level, r.node,
        cast(sum(c.n) as bigint) as n,
        cast(sum(c.records) as bigint) as records,
        sum(cast(c.records as hugeint) * r.ncp) as ncp,
        sum(cast(c.records as hugeint) * r.glm) as glm,
        sum(cast(c.records as hugeint) * r.distortion) as distortion
    from counted_2 c
    join anon_scratch.main.recoding_3 r on r.code = c.code
    group by r.level, r.node
),
counted_3 as (
    select c4 as code, cast(sum(n) as bigint) as n, cast(sum(records) as bigint) as records
    from anon_scratch.main.lattice_tuples
    group by 1
),
nodes_3 as (
    select
        3 as attribute, r.level, r.node,
        cast(sum(c.n) as bigint) as n,
        cast(sum(c.records) as bigint) as records,
        sum(cast(c.records as hugeint) * r.ncp) as ncp,
        sum(cast(c.records as hugeint) * r.glm) as glm,
        sum(cast(c.records as hugeint) * r.distortion) as distortion
    from counted_3 c
    join anon_scratch.main.recoding_4 r on r.code = c.code
    group by r.level, r.node
),
nodes as (
    select * from nodes_0
    union all
    select * from nodes_1
    union all
    select * from nodes_2
    union all
    select * from nodes_3
),
masks(attribute, level, m0) as (
    values
    (0, 0, 4095),
    (0, 1, 112),
    (0, 2, 384),
    (0, 3, 1536),
    (0, 4, 2048),
    (0, 5, 0),
    (1, 0, 520192),
    (1, 1, 491520),
    (1, 2, 458752),
    (1, 3, 393216),
    (1, 4, 262144),
    (1, 5, 0),
    (2, 0, 66584576),
    (2, 1, 62914560),
    (2, 2, 58720256),
    (2, 3, 50331648),
    (2, 4, 33554432),
    (2, 5, 0),
    (3, 0, 201326592),
    (3, 1, 0)
)
select
    k.attribute,
    k.level,
    count(n.node) as distinct_values,
    min(n.n) as smallest,
    cast(sum(n.ncp) as hugeint) as ncp,
    cast(sum(n.glm) as hugeint) as glm,
    cast(sum(n.distortion) as hugeint) as distortion,
    -- rounded, so that the order in which it is added up does not show
    cast(round(1000000 * coalesce(ln(sum(n.records)) - sum(n.records * ln(n.records)) / sum(n.records), 0)) as bigint) as entropy
    , cast(k.m0 as bigint) as m0
from masks k
left join nodes n on n.attribute = k.attribute and n.level = k.level
group by k.attribute, k.level, k.m0;

-- limit of suppression: How much may be left out: the limit less what NULLs have taken already.
create or replace table anon_scratch.main.lattice_limits as
with counted as (
    select
        (select count(distinct person) from anon_scratch.main.snapshot) as all_units,
        (select count(distinct person) from anon_scratch.main.coded) as units,
        (select count(*) from anon_scratch.main.snapshot) as records,
        (select count(*) from anon_scratch.main.coded) as kept
)
select
    -- in doubles, as the finished release is judged
    cast(floor(CAST(0.0 AS DOUBLE) * all_units) as bigint) - (all_units - units) as allowed,
    records - kept as left_out,
    records,
    units
from counted;

-- nodes of the lattice: Every node of the lattice: its levels, its masks, what it loses if no row is suppressed, and a lower bound of what it loses in any case. Numbers count the levels, those of the last column singly. The guide, the sum of the columns' entropies, ascends as nodes get finer.
create or replace table anon_scratch.main.lattice_nodes as
with combined as (
    select
v1.level * cast(72 as bigint) + v2.level * cast(12 as bigint) + v3.level * cast(2 as bigint) + v4.level * cast(1 as bigint) as number
        , cast(v1.level as integer) as l1
        , cast(v2.level as integer) as l2
        , cast(v3.level as integer) as l3
        , cast(v4.level as integer) as l4
        , v1.m0 + v2.m0 + v3.m0 + v4.m0 as m0
        , v1."ncp" + v2."ncp" + v3."ncp" + v4."ncp" as "ncp"
        , v1."glm" + v2."glm" + v3."glm" + v4."glm" as "glm"
        , v1."distortion" + v2."distortion" + v3."distortion" + v4."distortion" as "distortion"
        , v1.entropy + v2.entropy + v3.entropy + v4.entropy as guide
    from (select * from anon_scratch.main.lattice_levels where attribute = 0) v1 cross join (select * from anon_scratch.main.lattice_levels where attribute = 1) v2 cross join (select * from anon_scratch.main.lattice_levels where attribute = 2) v3 cross join (select * from anon_scratch.main.lattice_levels where attribute = 3) v4
)
select
    c.*,
    cast(floor(pow(cast(l.units_records as double), 2) * exp(-c.guide / 1000000.0) * 0.9999) as hugeint) as bound
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

-- choose nodes: The next nodes to judge. At first nodes spread evenly over the guide. Then those that the guide expects to hold, smallest bound first, in turn with the coarsest of those that it expects to fail, since a node's failure settles all finer ones. What is expected is the cut of the guide that contradicts the fewest verdicts so far.
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

-- sizes of classes: The classes of every node of the batch, summed up; and which nodes are worth a closer look: those whose classes below the least size hold no more than may be suppressed.
create or replace table anon_scratch.main.lattice_screened as
with classes as (
    select b.number, t.w0 & b.m0 as g0, cast(sum(t.n) as bigint) as n, cast(sum(t.records) as bigint) as records
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
        cast(sum(cast(records as hugeint) * records) as hugeint) as squares
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

-- verdicts: What every node of the batch comes to: whether it holds, and what it loses with its suppressed rows, each of which costs a whole cell per column.
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
        , t.c2
        , v.l2
        , t.c3
        , v.l3
        , t.c4
        , v.l4
    from anon_scratch.main.lattice_classes c
    join holding h on h.number = c.number
    join anon_scratch.main.lattice_nodes v on v.number = c.number
    join anon_scratch.main.lattice_tuples t on t.unit = c.unit
    where not c.published
),
spared as (
    select
        g.number
        , cast(sum(cast(g.records as hugeint) * (r1."ncp" + r2."ncp" + r3."ncp" + r4."ncp")) as hugeint) as "ncp"
        , cast(sum(cast(g.records as hugeint) * (r1."glm" + r2."glm" + r3."glm" + r4."glm")) as hugeint) as "glm"
        , cast(sum(cast(g.records as hugeint) * (r1."distortion" + r2."distortion" + r3."distortion" + r4."distortion")) as hugeint) as "distortion"
    from gone g
    -- every code has its losses; left joins keep this order, which is quicker than finding the best one
    left join anon_scratch.main.recoding_1 r1 on r1.code = g.c1 and r1.level = g.l1
    left join anon_scratch.main.recoding_2 r2 on r2.code = g.c2 and r2.level = g.l2
    left join anon_scratch.main.recoding_3 r3 on r3.code = g.c3 and r3.level = g.l3
    left join anon_scratch.main.recoding_4 r4 on r4.code = g.c4 and r4.level = g.l4
    group by g.number
),
lost as (
    select
        h.*
        , v.ncp - coalesce(s.ncp, 0) + cast(h.suppressed_rows as hugeint) * 4000000000000 as ncp
        , v.glm - coalesce(s.glm, 0) + cast(h.suppressed_rows as hugeint) * 4000000000000 as glm
        , v.distortion - coalesce(s.distortion, 0) + cast(h.suppressed_rows as hugeint) * 16000000000000 as distortion
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
    x."c_dm" as loss,
    x.number is not null as holds,
    x.number is null as decides
from anon_scratch.main.lattice_screened s
left join lost x on x.number = s.number
cross join anon_scratch.main.lattice_limits l;

-- remember verdicts: Keep the verdicts of this round.
insert into anon_scratch.main.lattice_judged
select number, guide, smallest, classes, small, squares, suppressed, suppressed_rows, ncp, glm, distortion, c_dm, loss, holds
from anon_scratch.main.lattice_verdicts;

-- nodes still to judge: What is still to be judged: not what has been, not what is finer than a node that failed, and not what cannot lose less than the best node so far (of equals the one with the lowest number).
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
    )
    -- classes only grow upward: a coarser node loses at least the squares of a finer one
    and not exists (
        select 1 from anon_scratch.main.lattice_verdicts f
        cross join (select loss from anon_scratch.main.lattice_judged where holds order by loss, number limit 1) best
        where f.squares > best.loss and u.m0 & f.m0 = u.m0
    );

-- nodes left: How many nodes are still to be judged.
select count(*) from anon_scratch.main.lattice_undecided;

-- a node that holds: No node holds: not even the one that generalizes everything.
select (select count(*) from anon_scratch.main.lattice_nodes), (select count(*) from anon_scratch.main.lattice_judged), (select allowed from anon_scratch.main.lattice_limits)
where not exists (select 1 from anon_scratch.main.lattice_judged where holds);

-- the optimum: The node that is published: the smallest loss, of equals the lowest number.
create or replace table anon_scratch.main.lattice_batch as
select n.*
from anon_scratch.main.lattice_judged j
join anon_scratch.main.lattice_nodes n on n.number = j.number
where j.holds
order by j.loss, j.number
limit 1;

-- levels of the optimum: The levels of the optimum, 0 being the values themselves, and how many nodes it took to find it.
select
    (select count(*) from anon_scratch.main.lattice_nodes) as lattice_nodes,
    (select count(*) from anon_scratch.main.lattice_judged) as lattice_judged
    , l1 as "level.age"
    , l2 as "level.born"
    , l3 as "level.zip"
    , l4 as "level.ward"
from anon_scratch.main.lattice_batch;

-- sizes of classes: The classes of every node of the batch, summed up; and which nodes are worth a closer look: those whose classes below the least size hold no more than may be suppressed.
create or replace table anon_scratch.main.lattice_screened as
with classes as (
    select b.number, t.w0 & b.m0 as g0, cast(sum(t.n) as bigint) as n, cast(sum(t.records) as bigint) as records
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
        cast(sum(cast(records as hugeint) * records) as hugeint) as squares
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
select c.class_id, b.l1, b.l2, b.l3, b.l4
from anon_scratch.main.lattice_classes c
cross join anon_scratch.main.lattice_batch b
where c.published;

-- cells of classes: What every class publishes at its levels, and its number in secret-keyed order. A class's units share one node per column, and NULL and all values share the root, so any of its units tells.
create or replace table anon_scratch.main.cells as
with classes as (
    select
        m.class_id,
        cast(sum(u.n) as bigint) as n,
        min(u.draw) as draw
        , min(u.c1) as c1
        , min(u.c2) as c2
        , min(u.c3) as c3
        , min(u.c4) as c4
    from anon_scratch.main.members m
    join anon_scratch.main.units u on u.unit = m.unit
    group by m.class_id
),
numbers as (
    select class_id, row_number() over (order by md5_number(concat(hex(draw), ':class')), class_id) as number
    from classes
)
select
    b.class_id,
    o.number,
    b.n
    , r1.lo as cell_lo1
    , r1.hi as cell_hi1
    , r1.nullable as cell_nullable1
    , r2.lo as cell_lo2
    , r2.hi as cell_hi2
    , r2.nullable as cell_nullable2
    , r3.label as cell3
    , r3.nullable as cell_nullable3
    , r4.label as cell4
    , r4.nullable as cell_nullable4
from classes b
join numbers o on o.class_id = b.class_id
join anon_scratch.main.class_levels v on v.class_id = b.class_id
-- every class has its cells; left joins keep this order, which is quicker than finding the best one
left join anon_scratch.main.recoding_1 r1 on r1.code = b.c1 and r1.level = v.l1
left join anon_scratch.main.recoding_2 r2 on r2.code = b.c2 and r2.level = v.l2
left join anon_scratch.main.recoding_3 r3 on r3.code = b.c3 and r3.level = v.l3
left join anon_scratch.main.recoding_4 r4 on r4.code = b.c4 and r4.level = v.l4;

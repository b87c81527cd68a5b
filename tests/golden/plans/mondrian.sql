-- read the source: Read the source once: what is released, the sensitivity flags, and the identity of each row.
create or replace table anon_scratch.main.snapshot as
select
    "age" as q1,
    cast("zip" as varchar) collate "binary" as q2,
    case when "patient" is not null then hash("patient") end as h0
from "anon_source"."main"."people";

-- remarks on the source: How often a condition of the policy is NULL, and how often values of columns that look like keys repeat.
select
    k0.different as "different_values.patient",
    k0.known as "known_values.patient",
    k0.most as "most_rows.patient"
from
    (
        select
            count(*) as different,
            cast(coalesce(sum(n), 0) as bigint) as known,
            coalesce(max(n), 0) as most
        from (
            select count(*) as n
            from anon_scratch.main.snapshot
            where h0 is not null
            group by h0
        ) as repeats
    ) as k0;

-- values of age: The distinct values of one column, with their row counts.
create or replace table anon_scratch.main.values_1 as
select q1 as value, count(*) as n
from anon_scratch.main.snapshot
where q1 is not null
group by 1;

-- values of zip: The distinct values of one column, with their row counts.
create or replace table anon_scratch.main.values_2 as
select q2 as value, count(*) as n
from anon_scratch.main.snapshot
where q2 is not null
group by 1;

-- codes of age: Number the values of one column in the order in which it is cut: by value (numbers, dates), by hierarchy leaf, else the most frequent first.
create or replace table anon_scratch.main.domain_1 as
with valued as (
    select value, n from anon_scratch.main.values_1
),
coded as (
    select
        v.value,
        v.n,
row_number() over (
order by v.value
        ) as code,
        count(*) over () as size
    from valued v
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
from coded
order by code;

-- codes of zip: Number the values of one column in the order in which it is cut: by value (numbers, dates), by hierarchy leaf, else the most frequent first.
create or replace table anon_scratch.main.domain_2 as
with valued as (
    select value, n from anon_scratch.main.values_2
),
coded as (
    select
        v.value,
        v.n,
row_number() over (
order by v.n desc, v.value
        ) as code,
        count(*) over () as size
    from valued v
)
select
    cast(code as integer) as code,
    value,
    case when regexp_matches(cast(value as varchar), '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(cast(value as varchar), '"', '""') || '"' else cast(value as varchar) end as label,
    n,
    cast(size as bigint) as size,
    (code - min(code) over ()) / nullif(cast(max(code) over () - min(code) over () as double), 0) as share
from coded
order by code;

-- values as counted: Columns that have more values than were counted for the plan, by number, and how many more. (stops the run if it returns rows)
select 1 as number, max(code) - 9 as n from anon_scratch.main.domain_1 having max(code) > 9
union all
select 2 as number, max(code) - 8 as n from anon_scratch.main.domain_2 having max(code) > 8;

-- encode rows: Every row as small codes, or as the words of its tuple, with its secret-keyed draw.
create or replace table anon_scratch.main.coded as
with placed as (
    select
        s.rowid as row_ref
        , cast(d1.code as bigint) * 9 + d2.code as t1
    from anon_scratch.main.snapshot s
    join anon_scratch.main.domain_1 d1 on d1.value is not distinct from s.q1
    join anon_scratch.main.domain_2 d2 on d2.value is not distinct from s.q2
),
copied as (
    select *, row_number() over (partition by t1) as copy
    from placed
),
drawn as (
    select
        md5_number(concat($secret, ':', t1, ':', copy)) as draw
        , row_ref
        , t1
    from copied
)
select *
from drawn;

-- enough rows: The table has fewer units (rows, or persons) than one class needs. (stops the run if it returns rows)
select count(*) as units from anon_scratch.main.coded having count(*) < 2;

-- distinct tuples: The distinct quasi-identifier tuples with their counts: what is partitioned instead of rows.
create or replace table anon_scratch.main.units as
with grouped as (
    select t1, count(*) as n, min(draw) as draw
    from anon_scratch.main.coded
    group by t1
)
select row_number() over (order by t1) as unit, *, cast(t1 // 9 as integer) as c1, cast((t1) % 9 as integer) as c2
from grouped;

-- places in the domains: The domains of all quasi-identifiers in one table, with a row for cells that are sensitive.
create or replace table anon_scratch.main.positions as
select 1 as attribute, code, share, size

from anon_scratch.main.domain_1
union all
select 2 as attribute, code, share, size

from anon_scratch.main.domain_2;

-- partition: The whole partitioning as one statement: every class is cut until no admissible cut is left.
create or replace table anon_scratch.main.members as
with recursive partition(unit, class_id, level, closed, n, c1, c2, w1, several) as (
    select unit, 1 as class_id, 0 as level, false as closed, n, c1, c2, case when c2 between 0 and 8 then cast(1 as bigint) << (c2 + 0) else 0 end as w1, cast(-1 as bigint) as several
from anon_scratch.main.units
    union all (
        with histogram as (
    select class_id, 1 as attribute, c1 as code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
    from partition
    where not closed and several & 2 <> 0
    group by class_id, c1
    union all
    select class_id, 2 as attribute, c2 as code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
    from partition
    where not closed and several & 4 <> 0
    group by class_id, c2
),
placed as (
    select h.class_id, h.attribute, h.code, h.level, h.n, h.units, p.share, p.size

    from histogram h
    join anon_scratch.main.positions p on p.attribute = h.attribute and p.code = h.code
),
-- an attribute with one value in a class cannot be cut there
spans as (
    select
        class_id, attribute,
        cast(sum(n) as bigint) as n_all,
        cast(sum(units) as bigint) as units_all,
        count(*) as values_all,
        min(code) as first_code,
        max(code) as last_code,
        min(share) as first_share,
        max(share) as last_share
    from placed
    group by class_id, attribute
    having count(*) > 1 and sum(n) >= 4
),
totals as (
    select
        s.*
        , cast(sum(n_all) over below as bigint) - n_all as n_before
        , cast(sum(units_all) over below as bigint) - units_all as units_before
        , cast(sum(values_all) over below as bigint) - values_all as values_before
    from spans s
    window below as (order by s.class_id, s.attribute rows between unbounded preceding and current row)
),
running as (
    select
        p.class_id, p.attribute, p.code, p.level, p.share, p.size, p.n, p.units,
        t.n_all, t.values_all, t.first_code, t.last_code, t.first_share, t.last_share,
        cast(sum(p.n) over below as bigint) - t.n_before as n_left,
        cast(sum(p.units) over below as bigint) - t.units_before as units_left,
        row_number() over below - t.values_before as values_left,
        case when p.code < t.last_code then lead(p.share) over below end as next_share
    from placed p
    join totals t on t.class_id = p.class_id and t.attribute = p.attribute
    window below as (order by p.class_id, p.attribute, p.code rows between unbounded preceding and current row)
),
scored as (
    select
        class_id, attribute, code, false as single, level, n_left, n_all,
        units_left,
        n_left as kept_left,
        n_all * case when attribute in (1) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (2) then case when values_all > 1 then values_all / cast(size as double) else 0 end end - n_left * case when attribute in (1) then case when first_code = 0 and code > 0 then (coalesce(share - first_share, 0) * (size - 1) + 1) / size else coalesce(share - first_share, 0) end when attribute in (2) then case when values_left > 1 then values_left / cast(size as double) else 0 end end - (n_all - n_left) * case when attribute in (1) then coalesce(last_share - next_share, 0) when attribute in (2) then case when (values_all - values_left) > 1 then (values_all - values_left) / cast(size as double) else 0 end end as gain
    from running
    where n_left >= 2 and n_all - n_left >= 2 and code < last_code
    union all
    -- one category against all others; those with the first and the last one are among the cuts above
    select class_id, attribute, code, true, level, n, n_all, units, n, n_all * case when attribute in (1) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (2) then case when values_all > 1 then values_all / cast(size as double) else 0 end end - (n_all - n) * case when attribute in (1) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (2) then case when (values_all - 1) > 1 then (values_all - 1) / cast(size as double) else 0 end end
    from running
    where attribute in (2)
        and code > first_code and code < last_code
        and n >= 2 and n_all - n >= 2
        and level < 16
),
-- a cut that saves nothing need not be judged
candidates as (
    select * from scored where cast(gain as decimal(18, 8)) > 0
),
allowed as (
    select
        class_id, attribute, code, single, level, units_left, kept_left, n_all,
        -- cuts by loss may peel values off one by one; late levels are cut in the middle instead
        case when level < 16 then cast(gain / sqrt(case when attribute in (1) then least(kept_left, n_all - kept_left) when attribute in (2) then n_all end) as decimal(18, 8)) else least(kept_left, n_all - kept_left) end as merit
    from candidates
),
-- the best cut of every attribute
best as (
    select class_id, attribute, max(merit) as merit from allowed group by class_id, attribute
),
first as (
    select a.class_id, a.attribute, a.merit, min(2 * a.code + case when a.single then 1 else 0 end) as place
    from allowed a
    join best b on b.class_id = a.class_id and b.attribute = a.attribute and b.merit = a.merit
    group by a.class_id, a.attribute, a.merit
),
-- ranked by counting the better ones: a class has few cuts, and a window function would cost more
ranked as (
    select
        f.class_id, f.attribute, f.place,
        sum(case when r.merit > f.merit or r.merit = f.merit and r.attribute <= f.attribute then 1 else 0 end) as rank,
        count(*) as rivals
    from first f
    join first r on r.class_id = f.class_id
    group by f.class_id, f.attribute, f.place
),
contenders as (
    select a.*, r.rank, r.rivals
    from ranked r
    join allowed a on a.class_id = r.class_id and a.attribute = r.attribute
        and 2 * a.code + case when a.single then 1 else 0 end = r.place
    where r.rank <= 4
),
halves as (
    select
        class_id, cut, is_left, cast(sum(n) as bigint) as n
        , min(case when c1 > 0 then c1 end) as low1, max(c1) as high1
        , max(case when c1 = 0 then 1 else 0 end) as different1
        , bit_or(w1) as w1
    from (
        select
            o.*, t.attribute as cut,
            case t.attribute
                when 1 then case when t.single then o.c1 = t.code else o.c1 <= t.code end
                when 2 then case when t.single then o.c2 = t.code else o.c2 <= t.code end
            end as is_left
        from partition o
        join contenders t on t.class_id = o.class_id
        where not o.closed
            and t.rivals > 1 and t.level < 16
    )
    group by class_id, cut, is_left
),
extents as (
    select class_id, cut, is_left, n, 1 as attribute, low1 as low, high1 as high, different1 as different
    from halves
    where low1 < high1 or different1 > 0
    union all
    -- of its positions a set needs only the size of the domain
    select class_id, cut, is_left, n, 2 as attribute, 1 as low, 1 as high, cast(bit_count(w1 & 511) as integer) as different
    from halves
    where cast(bit_count(w1 & 511) as integer) > 1
),
losses as (
    -- rounded once per term and once more in the sum, so that equal sums tie
    select e.class_id, e.cut, cast(e.n * case when e.attribute in (1) then case when different > 0 then (coalesce(h.share - l.share, 0) * (l.size - 1) + 1) / l.size else coalesce(h.share - l.share, 0) end when e.attribute in (2) then different / cast(l.size as double) end as decimal(38, 12)) as lost
        , case when e.is_left then cast(1 as bigint) << e.attribute else 0 end as left_several
        , case when e.is_left then 0 else cast(1 as bigint) << e.attribute end as right_several
    from extents e
    join anon_scratch.main.positions l on l.attribute = e.attribute and l.code = e.low
    join anon_scratch.main.positions h on h.attribute = e.attribute and h.code = e.high
    union all
    select distinct class_id, cut, 0, 0, 0 from halves
),
lost as (
    select class_id, cut, cast(sum(lost) as decimal(38, 6)) as lost
        , bit_or(left_several) as left_several, bit_or(right_several) as right_several
    from losses
    group by class_id, cut
),
weighed as (
    select l.class_id, min(l.cut) as attribute
    from lost l
    join (select class_id, min(lost) as lost from lost group by class_id) b on b.class_id = l.class_id and b.lost = l.lost
    group by l.class_id
),

cuts as (
    select
        c.class_id, c.attribute, c.code, c.single, c.units_left,
        -- a half that is too small to be cut again is final at once
        c.kept_left < 4 as left_closed,
        c.n_all - c.kept_left < 4 as right_closed
        , coalesce(l.left_several, -1) as left_several
        , coalesce(l.right_several, -1) as right_several
    from contenders c
    left join weighed w on w.class_id = c.class_id
    left join lost l on l.class_id = w.class_id and l.cut = w.attribute
    where c.attribute = coalesce(w.attribute, c.attribute) and (w.attribute is not null or c.rank = 1)
)

        select
    unit,
    case when is_left then class_id else class_id + units_left end as class_id,
    level + 1 as level,
    case when is_left then left_closed else right_closed end as closed,
    n, c1, c2, w1, several & case when is_left then left_several else right_several end as several
from (
    select
        o.*, t.units_left, t.left_closed, t.right_closed, t.left_several, t.right_several,
        case when t.single then case t.attribute when 1 then o.c1 when 2 then o.c2 end = t.code else case t.attribute when 1 then o.c1 when 2 then o.c2 end <= t.code end as is_left
    from partition o
    join cuts t on t.class_id = o.class_id
    where not o.closed
)

    )
)
select unit, arg_max(class_id, level) as class_id
from partition
group by unit;

-- extent of classes: The extent of every class: lowest and highest code per attribute, NULLs, size, smallest draw.
create or replace table anon_scratch.main.boxes as
select
    m.class_id,
    cast(sum(u.n) as bigint) as n,
    min(u.draw) as draw
    , min(u.c1) filter (where u.c1 > 0) as lo1
    , max(u.c1) filter (where u.c1 > 0) as hi1
    , bool_or(u.c1 = 0) as null1
    , min(u.c2) filter (where u.c2 > 0) as lo2
    , max(u.c2) filter (where u.c2 > 0) as hi2
    , bool_or(u.c2 = 0) as null2
    , bit_or(case when u.c2 > 0 then cast(1 as bigint) << u.c2 else 0 end) as bits2
from anon_scratch.main.members m
join anon_scratch.main.units u on u.unit = m.unit
group by m.class_id;

-- sets of zip: The sets that classes with more than one value publish for one categorical attribute, keyed by their bits if the domain is small, otherwise by class. The set of all published values is `*`.
create or replace table anon_scratch.main.sets_2 as
with pairs as (
    select f.bits, d.code
    from (select distinct bits2 as bits from anon_scratch.main.boxes where lo2 < hi2) f
    join anon_scratch.main.domain_2 d on d.code > 0 and (f.bits >> d.code) & 1 = 1
)
select
    p.bits,
    count(*) as size,
    case when count(*) = (select bit_count(bit_or(bits2)) from anon_scratch.main.boxes) then '*'
        else '{' || string_agg(d.label, ', ' order by cast(d.value as varchar)) || '}' end as cell
from pairs p
join anon_scratch.main.domain_2 d on d.code = p.code
group by p.bits;

-- cells of classes: The published cells of every class, one column each, and its number in secret-keyed order.
create or replace table anon_scratch.main.cells as
with numbers as (
    select class_id, row_number() over (order by md5_number(concat(hex(draw), ':class')), class_id) as number
    from anon_scratch.main.boxes
)
select
    b.class_id,
    o.number,
    b.n
    , case when b.lo1 is null then null when b.lo1 = b.hi1 then low1.label || case when b.null1 then ' or NULL' else '' end else '[' || low1.label || ', ' || high1.label || ']' || case when b.null1 then ' or NULL' else '' end end as cell1
    , case when b.lo2 is null then null when b.lo2 = b.hi2 then low2.label || case when b.null2 then ' or NULL' else '' end else chosen2.cell || case when b.null2 then ' or NULL' else '' end end as cell2
from anon_scratch.main.boxes b
join numbers o on o.class_id = b.class_id
left join anon_scratch.main.domain_1 low1 on low1.code = b.lo1
left join anon_scratch.main.domain_1 high1 on high1.code = b.hi1
left join anon_scratch.main.domain_2 low2 on low2.code = b.lo2
left join anon_scratch.main.sets_2 chosen2 on chosen2.bits = b.bits2;

-- write the release: The release: every published row with the cells of its class, shuffled by its draw.
create or replace table anon_scratch.main.staged as
select
    c.number as "class_id",
    c.cell1 as "age",
    c.cell2 as "zip"
from anon_scratch.main.coded r
join anon_scratch.main.units u on u.t1 = r.t1
join anon_scratch.main.members m on m.unit = u.unit
join anon_scratch.main.cells c on c.class_id = m.class_id
order by r.draw;

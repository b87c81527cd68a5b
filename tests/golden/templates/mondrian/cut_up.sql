-- mondrian_many_rows, cut up the rest: Cut all remaining open classes in one statement, until no admissible cut is left.
insert into anon_scratch.main.members
with recursive partition(unit, class_id, level, closed, n, c1, c2, c3, w1, several) as (
    select * from anon_scratch.main.open_units
    -- 7 lines as in plans/mondrian.sql, partition
            case t.attribute when 1 then o.c1 when 2 then o.c2 when 3 then o.c3 end as code
        from partition o
        cross join (values (1, 2), (2, 4), (3, 8)) as t(attribute, bit)
        -- 12 lines as in plans/mondrian.sql, partition
        , lead(h.code) over below as next_code
        , p.a1, p.z1, lead(p.a1) over below as next_a1
        , p.a2, p.z2, lead(p.a2) over below as next_a2
        , p.a3, p.z3, lead(p.a3) over below as next_a3
        , p.a4, p.z4, lead(p.a4) over below as next_a4
        , p.a5, p.z5, lead(p.a5) over below as next_a5
    -- 29 lines as in plans/mondrian.sql, partition
        , p.next_code
        , p.a1, p.z1
        , f.a1 as first_a1, l.a1 as last_a1, l.z1 as last_z1
        , case when p.code < s.last_code then p.next_a1 end as next_a1
        , p.a2, p.z2
        , f.a2 as first_a2, l.a2 as last_a2, l.z2 as last_z2
        , case when p.code < s.last_code then p.next_a2 end as next_a2
        , p.a3, p.z3
        , f.a3 as first_a3, l.a3 as last_a3, l.z3 as last_z3
        , case when p.code < s.last_code then p.next_a3 end as next_a3
        , p.a4, p.z4
        , f.a4 as first_a4, l.a4 as last_a4, l.z4 as last_z4
        , case when p.code < s.last_code then p.next_a4 end as next_a4
        , p.a5, p.z5
        , f.a5 as first_a5, l.a5 as last_a5, l.z5 as last_z5
        , case when p.code < s.last_code then p.next_a5 end as next_a5
    from placed p
    join spans s on s.class_id = p.class_id and s.attribute = p.attribute
    join anon_scratch.main.positions f on f.attribute = s.attribute and f.code = s.first_code
    join anon_scratch.main.positions l on l.attribute = s.attribute and l.code = s.last_code
-- 6 lines as in plans/mondrian.sql, partition
        n_all * case when attribute in (1) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (2) then case when first_code = last_code then 0 when first_a1 = last_a1 then last_z1 when first_a2 = last_a2 then last_z2 when first_a3 = last_a3 then last_z3 when first_a4 = last_a4 then last_z4 when first_a5 = last_a5 then last_z5 else 1 end when attribute in (3) then case when values_all > 1 then values_all / cast(size as double) else 0 end end - n_left * case when attribute in (1) then case when first_code = 0 and code > 0 then (coalesce(share - first_share, 0) * (size - 1) + 1) / size else coalesce(share - first_share, 0) end when attribute in (2) then case when first_code = code then 0 when first_a1 = a1 then z1 when first_a2 = a2 then z2 when first_a3 = a3 then z3 when first_a4 = a4 then z4 when first_a5 = a5 then z5 else 1 end when attribute in (3) then case when values_left > 1 then values_left / cast(size as double) else 0 end end - (n_all - n_left) * case when attribute in (1) then coalesce(last_share - next_share, 0) when attribute in (2) then case when next_code = last_code then 0 when next_a1 = last_a1 then last_z1 when next_a2 = last_a2 then last_z2 when next_a3 = last_a3 then last_z3 when next_a4 = last_a4 then last_z4 when next_a5 = last_a5 then last_z5 else 1 end when attribute in (3) then case when (values_all - values_left) > 1 then (values_all - values_left) / cast(size as double) else 0 end end as gain
    -- 4 lines as in plans/mondrian.sql, partition
    select class_id, attribute, code, true, level, n, n_all, units, n, n_all * case when attribute in (1) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (2) then case when first_code = last_code then 0 when first_a1 = last_a1 then last_z1 when first_a2 = last_a2 then last_z2 when first_a3 = last_a3 then last_z3 when first_a4 = last_a4 then last_z4 when first_a5 = last_a5 then last_z5 else 1 end when attribute in (3) then case when values_all > 1 then values_all / cast(size as double) else 0 end end - (n_all - n) * case when attribute in (1) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (2) then case when first_code = last_code then 0 when first_a1 = last_a1 then last_z1 when first_a2 = last_a2 then last_z2 when first_a3 = last_a3 then last_z3 when first_a4 = last_a4 then last_z4 when first_a5 = last_a5 then last_z5 else 1 end when attribute in (3) then case when (values_all - 1) > 1 then (values_all - 1) / cast(size as double) else 0 end end
    from running
    where attribute in (2, 3)
        -- 13 lines as in plans/mondrian.sql, partition
        case when level < 16 then cast(gain / sqrt(case when attribute in (1) then least(kept_left, n_all - kept_left) when attribute in (2) then n_all when attribute in (3) then n_all end) as decimal(18, 8)) else least(kept_left, n_all - kept_left) end as merit
    -- 34 lines as in plans/mondrian.sql, partition
        , min(c2) as low2, max(c2) as high2
        , min(c3) as low3, max(c3) as high3
        -- 7 lines as in plans/mondrian.sql, partition
                when 3 then case when t.single then o.c3 = t.code else o.c3 <= t.code end
            -- 12 lines as in plans/mondrian.sql, partition
            case t.attribute when 1 then h.low1 when 2 then h.low2 when 3 then 1 end as low,
            case t.attribute when 1 then h.high1 when 2 then h.high2 when 3 then 1 end as high,
            case t.attribute
                when 1 then 0
                when 2 then 0
                when 3 then case when h.low3 < h.high3 then greatest(2, case when (cast(bit_count(w1) as integer)) = 62 then 3 else least(3, 62 * ln(62 / cast(greatest(62 - (cast(bit_count(w1) as integer)), 1) as double))) end) else 0 end
            end as different
        from halves h
        cross join (values (1), (2), (3)) as t(attribute)
    -- 5 lines as in plans/mondrian.sql, partition
    select e.class_id, e.cut, cast(e.n * case when e.attribute in (1) then case when different > 0 then (coalesce(h.share - l.share, 0) * (l.size - 1) + 1) / l.size else coalesce(h.share - l.share, 0) end when e.attribute in (2) then case when low = high then 0 when l.a1 = h.a1 then h.z1 when l.a2 = h.a2 then h.z2 when l.a3 = h.a3 then h.z3 when l.a4 = h.a4 then h.z4 when l.a5 = h.a5 then h.z5 else 1 end when e.attribute in (3) then different / cast(l.size as double) end as decimal(38, 12)) as lost
        -- 40 lines as in plans/mondrian.sql, partition
    n, c1, c2, c3, w1, several & case when is_left then left_several else right_several end as several
from (
    select
        o.*, t.units_left, t.left_closed, t.right_closed, t.left_several, t.right_several,
        case when t.single then case t.attribute when 1 then o.c1 when 2 then o.c2 when 3 then o.c3 end = t.code else case t.attribute when 1 then o.c1 when 2 then o.c2 when 3 then o.c3 end <= t.code end as is_left
    -- 10 lines as in plans/mondrian.sql, partition

-- mondrian_driven_median, choose cuts: For every open class, the admissible cut that loses least.
create or replace table anon_scratch.main.chosen_cuts as
with histogram as (
    -- 6 lines as in plans/mondrian.sql, partition
        from anon_scratch.main.open_units o
        cross join (values (1), (2)) as t(attribute)
        where not o.closed
    -- 13 lines as in plans/mondrian.sql, partition
    window below as (partition by h.class_id, h.attribute order by h.code rows between unbounded preceding and current row)
-- 34 lines as in plans/mondrian.sql, partition
        cast(coalesce(last_share - first_share, 0) as decimal(18, 8)) as gain
    from running
    where n_left >= 2 and n_all - n_left >= 2 and 2 * n_left >= n_all and 2 * (n_left - n) < n_all and code < last_code
),
-- a cut that saves nothing need not be judged
candidates as (
    select * from scored
),
sensed_1 as (
    select o.class_id, o.c1, o.c2, s.value, s.n
    from anon_scratch.main.open_units o
    join anon_scratch.main.cells_1 s on s.unit = o.unit
    where not o.closed
),
occurrences_1 as (
    select class_id, 1 as attribute, c1 as code, value, cast(sum(n) as bigint) as n
    from sensed_1
    group by class_id, c1, value
    union all
    select class_id, 2 as attribute, c2 as code, value, cast(sum(n) as bigint) as n
    from sensed_1
    group by class_id, c2, value
),
-- every value of a class with its count: the same along every attribute
found_1 as (
    select class_id, value, cast(sum(n) as bigint) as n_all
    from occurrences_1
    where attribute = 1
    group by class_id, value
),

sensed_2 as (
    select o.class_id, o.c1, o.c2, s.value, s.n
    from anon_scratch.main.open_units o
    join anon_scratch.main.cells_2 s on s.unit = o.unit
    where not o.closed
),
occurrences_2 as (
    select class_id, 1 as attribute, c1 as code, value, cast(sum(n) as bigint) as n
    from sensed_2
    group by class_id, c1, value
    union all
    select class_id, 2 as attribute, c2 as code, value, cast(sum(n) as bigint) as n
    from sensed_2
    group by class_id, c2, value
),
-- every value of a class with its count: the same along every attribute
found_2 as (
    select class_id, value, cast(sum(n) as bigint) as n_all
    from occurrences_2
    where attribute = 1
    group by class_id, value
),

-- 6 lines of mondrian/_cuts.sql.j2, 4a751a0b
        gain desc, 2 * code + case when single then 1 else 0 end
        ) as turn
    from candidates
),
candidates_1 as (select * from ordered where turn <= 3),
line_1_1 as (
    select class_id, attribute, value, code, n, 0 as n_all, 0 as candidate from occurrences_1
    union all
    select c.class_id, c.attribute, w.value, c.code, 0, w.n_all, 1
    from candidates_1 c
    join found_1 w on w.class_id = c.class_id
),
left_1_1 as (
    select class_id, attribute, code, false as single, value, candidate, cast(sum(n) over below as bigint) as n_left, n_all
    from line_1_1
    -- 6 lines of mondrian/_judged.sql.j2, 3bfee11d
told_1_1 as (
    select class_id, attribute, code, single, value, n_left, n_all from left_1_1 where candidate = 1
),
side_1_1 as (
    select class_id, attribute, code, single, 0 as side, value, n_left as n from told_1_1
    union all
    select class_id, attribute, code, single, 1, value, n_all - n_left from told_1_1
),
layer_1_1_0 as (
    select s.class_id, s.attribute, s.code, s.single, s.side, s.n, r.*
    from side_1_1 s
    join anon_scratch.main.reference_1 r on r.value = s.value
),
layer_1_1_1 as (
    select *, cast(sum(n) over (partition by class_id, attribute, code, single, side) as bigint) as "group_size"
    from layer_1_1_0
),
held_1_1 as (
    select class_id, attribute, code, single, side
    from layer_1_1_1
    group by class_id, attribute, code, single, side
    having (cast((cast(coalesce(sum(abs(n * q_size - q * group_size)), 0) as decimal(38, 0)) + cast(coalesce(sum(n), 0) as decimal(38, 0)) * (coalesce(max(q_size), 0) - coalesce(sum(q), 0))) as decimal(38, 0)) * 5 <= ((cast(coalesce(sum(n), 0) as decimal(38, 0)) * coalesce(max(q_size), 0)) * 2) * 2)
),
judged_1_1 as (
    select class_id, attribute, code, single
    from held_1_1
    group by class_id, attribute, code, single
    having count(*) = 2
),

line_2_1 as (
    select class_id, attribute, value, code, n, 0 as n_all, 0 as candidate from occurrences_2
    union all
    select c.class_id, c.attribute, w.value, c.code, 0, w.n_all, 1
    from candidates_1 c
    join found_2 w on w.class_id = c.class_id
),
left_2_1 as (
    select class_id, attribute, code, false as single, value, candidate, cast(sum(n) over below as bigint) as n_left, n_all
    from line_2_1
    -- 6 lines of mondrian/_judged.sql.j2, 3bfee11d
told_2_1 as (
    select class_id, attribute, code, single, value, n_left, n_all from left_2_1 where candidate = 1
),
side_2_1 as (
    select class_id, attribute, code, single, 0 as side, value, n_left as n from told_2_1
    union all
    select class_id, attribute, code, single, 1, value, n_all - n_left from told_2_1
),
layer_2_1_0 as (
    select s.class_id, s.attribute, s.code, s.single, s.side, s.n, r.*
    from side_2_1 s
    join anon_scratch.main.reference_2 r on r.value = s.value
),
layer_2_1_1 as (
    select *, cast(sum(n) over (partition by class_id, attribute, code, single, side) as bigint) as "group_size"
    from layer_2_1_0
),
layer_2_1_2 as (
    select *, cast(sum(n) over (partition by class_id, attribute, code, single, side order by value rows unbounded preceding) as bigint) as "running_n", lag(place) over (partition by class_id, attribute, code, single, side order by value) as "previous_place", lead(place) over (partition by class_id, attribute, code, single, side order by value) as "next_place", lead(area - upto) over (partition by class_id, attribute, code, single, side order by value) as "next_before"
    from layer_2_1_1
),
run_2_1 as (
    -- 7 lines of mondrian/_judged.sql.j2, 1ebd10f9
    from layer_2_1_2
    where group_size > 0
),
-- the last value up to which the release has no more than that many units
overtaken_2_1 as (
    -- 7 lines of mondrian/_judged.sql.j2, 4ef239d1
            select distinct reached_units, 1 as asked, 0 as place, 0 as area from run_2_1
            union all
            select upto, 0, place, area from anon_scratch.main.reference_2
        -- 6 lines of mondrian/_judged.sql.j2, 1bdf3a45
crossed_2_1 as (
    -- 8 lines of mondrian/_judged.sql.j2, 7818dabf
    from run_2_1 r
    join overtaken_2_1 o on o.reached_units = r.reached_units
),
areas_2_1 as (
    -- 5 lines of mondrian/_judged.sql.j2, ed5e55cd
    from crossed_2_1
),

held_2_1 as (
    select class_id, attribute, code, single, side
    from areas_2_1
    group by class_id, attribute, code, single, side
    having (cast(coalesce(sum(run_area), 0) as decimal(38, 0)) * 5 <= ((cast(coalesce(sum(n), 0) as decimal(38, 0)) * coalesce(max(q_size), 0)) * (greatest((coalesce(max(m), 0) + case when max(q_size) > max(q_known) then 1 else 0 end), 2) - 1)) * 2)
),
judged_2_1 as (
    select class_id, attribute, code, single
    from held_2_1
    group by class_id, attribute, code, single
    having count(*) = 2
),

allowed_1 as (
    select
        class_id, attribute, code, single, level, units_left, kept_left, n_all,
        gain as merit
    from candidates_1
where (class_id, attribute, code, single) in (select (class_id, attribute, code, single) from judged_1_1)
and (class_id, attribute, code, single) in (select (class_id, attribute, code, single) from judged_2_1)

-- 5 lines of mondrian/_cuts.sql.j2, 045a2d9e
    where o.turn > 3 and d.class_id is null
),
line_1_2 as (
    select class_id, attribute, value, code, n, 0 as n_all, 0 as candidate from occurrences_1
    union all
    select c.class_id, c.attribute, w.value, c.code, 0, w.n_all, 1
    from candidates_2 c
    join found_1 w on w.class_id = c.class_id
),
left_1_2 as (
    select class_id, attribute, code, false as single, value, candidate, cast(sum(n) over below as bigint) as n_left, n_all
    from line_1_2
    -- 6 lines of mondrian/_judged.sql.j2, 3bfee11d
told_1_2 as (
    select class_id, attribute, code, single, value, n_left, n_all from left_1_2 where candidate = 1
),
side_1_2 as (
    select class_id, attribute, code, single, 0 as side, value, n_left as n from told_1_2
    union all
    select class_id, attribute, code, single, 1, value, n_all - n_left from told_1_2
),
layer_1_2_0 as (
    select s.class_id, s.attribute, s.code, s.single, s.side, s.n, r.*
    from side_1_2 s
    join anon_scratch.main.reference_1 r on r.value = s.value
),
layer_1_2_1 as (
    select *, cast(sum(n) over (partition by class_id, attribute, code, single, side) as bigint) as "group_size"
    from layer_1_2_0
),
held_1_2 as (
    select class_id, attribute, code, single, side
    from layer_1_2_1
    group by class_id, attribute, code, single, side
    having (cast((cast(coalesce(sum(abs(n * q_size - q * group_size)), 0) as decimal(38, 0)) + cast(coalesce(sum(n), 0) as decimal(38, 0)) * (coalesce(max(q_size), 0) - coalesce(sum(q), 0))) as decimal(38, 0)) * 5 <= ((cast(coalesce(sum(n), 0) as decimal(38, 0)) * coalesce(max(q_size), 0)) * 2) * 2)
),
judged_1_2 as (
    select class_id, attribute, code, single
    from held_1_2
    group by class_id, attribute, code, single
    having count(*) = 2
),

line_2_2 as (
    select class_id, attribute, value, code, n, 0 as n_all, 0 as candidate from occurrences_2
    union all
    select c.class_id, c.attribute, w.value, c.code, 0, w.n_all, 1
    from candidates_2 c
    join found_2 w on w.class_id = c.class_id
),
left_2_2 as (
    select class_id, attribute, code, false as single, value, candidate, cast(sum(n) over below as bigint) as n_left, n_all
    from line_2_2
    -- 6 lines of mondrian/_judged.sql.j2, 3bfee11d
told_2_2 as (
    select class_id, attribute, code, single, value, n_left, n_all from left_2_2 where candidate = 1
),
side_2_2 as (
    select class_id, attribute, code, single, 0 as side, value, n_left as n from told_2_2
    union all
    select class_id, attribute, code, single, 1, value, n_all - n_left from told_2_2
),
layer_2_2_0 as (
    select s.class_id, s.attribute, s.code, s.single, s.side, s.n, r.*
    from side_2_2 s
    join anon_scratch.main.reference_2 r on r.value = s.value
),
layer_2_2_1 as (
    select *, cast(sum(n) over (partition by class_id, attribute, code, single, side) as bigint) as "group_size"
    from layer_2_2_0
),
layer_2_2_2 as (
    select *, cast(sum(n) over (partition by class_id, attribute, code, single, side order by value rows unbounded preceding) as bigint) as "running_n", lag(place) over (partition by class_id, attribute, code, single, side order by value) as "previous_place", lead(place) over (partition by class_id, attribute, code, single, side order by value) as "next_place", lead(area - upto) over (partition by class_id, attribute, code, single, side order by value) as "next_before"
    from layer_2_2_1
),
run_2_2 as (
    -- 7 lines of mondrian/_judged.sql.j2, 1ebd10f9
    from layer_2_2_2
    where group_size > 0
),
-- the last value up to which the release has no more than that many units
overtaken_2_2 as (
    -- 7 lines of mondrian/_judged.sql.j2, 4ef239d1
            select distinct reached_units, 1 as asked, 0 as place, 0 as area from run_2_2
            union all
            select upto, 0, place, area from anon_scratch.main.reference_2
        -- 6 lines of mondrian/_judged.sql.j2, 1bdf3a45
crossed_2_2 as (
    -- 8 lines of mondrian/_judged.sql.j2, 7818dabf
    from run_2_2 r
    join overtaken_2_2 o on o.reached_units = r.reached_units
),
areas_2_2 as (
    -- 5 lines of mondrian/_judged.sql.j2, ed5e55cd
    from crossed_2_2
),

held_2_2 as (
    select class_id, attribute, code, single, side
    from areas_2_2
    group by class_id, attribute, code, single, side
    having (cast(coalesce(sum(run_area), 0) as decimal(38, 0)) * 5 <= ((cast(coalesce(sum(n), 0) as decimal(38, 0)) * coalesce(max(q_size), 0)) * (greatest((coalesce(max(m), 0) + case when max(q_size) > max(q_known) then 1 else 0 end), 2) - 1)) * 2)
),
judged_2_2 as (
    select class_id, attribute, code, single
    from held_2_2
    group by class_id, attribute, code, single
    having count(*) = 2
),

allowed as (
    select * from allowed_1
    union all
    select
        class_id, attribute, code, single, level, units_left, kept_left, n_all,
        gain as merit
    from candidates_2
where (class_id, attribute, code, single) in (select (class_id, attribute, code, single) from judged_1_2)
and (class_id, attribute, code, single) in (select (class_id, attribute, code, single) from judged_2_2)
-- 27 lines as in plans/mondrian.sql, partition
    where r.rank <= 1
),
-- 6 lines as in plans/mondrian.sql, partition
    from contenders c
    where c.rank = 1
)

select * from cuts
when 3 then case when h.low3 < h.high3 then greatest(2, case when (cast(bit_count(w1) as integer)) = 62 then 3 else least(3, 62 * ln(62 / cast(greatest(62 - (cast(bit_count(w1) as integer)), 1) as double))) end) else 0 end  -- mondrian_many_rows, choose cuts: {% if shape(a) == "set" and a.index in folded %}
-- 3 branches as in the template, 259997c3

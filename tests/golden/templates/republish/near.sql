-- m_invariance, near classes: Pairs of near classes: those that follow each other in their bucket, or in some order of all classes.
create or replace table anon_scratch.main.seat_near as
-- 4 lines of the template, 1a4de01b
        row_number() over (order by c1, class_id) as place_1,
        row_number() over (order by bucket, c1, class_id) as place_2
    from anon_scratch.main.seat_classes
),
stepped as (
    select *, unnest(generate_series(1, 32)) as step from ordered
-- 13 lines as in plans/mondrian.sql, near classes
)
select distinct least(a, b) as a, greatest(a, b) as b from beside
-- 1 branch as in the template, d03502c4

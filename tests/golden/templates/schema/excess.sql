-- several_tables_two_events, rows in excess: Rows to suppress so that persons have as many rows in every table as enough others of their class: each person is reduced to the nearest numbers that enough persons have. Persons with no such numbers below are reduced together with the next such persons, or with those that have the fewest rows.
insert into anon_scratch.main.removed_rows
-- 7 lines as in templates/schema/hanging.sql, several_tables_two_events, rows that do not count
    -- 4 lines of schema/_vectors.sql.j2, d44fc036
    select class_id, n1, n2, count(*) as persons
    from vectors
    group by class_id, n1, n2
-- 4 lines of schema/_vectors.sql.j2, a5c383ae
    join sizes s on s.class_id = v.class_id and s.n1 = v.n1 and s.n2 = v.n2
    where s.persons < 3
)
,
lower as materialized (
    select r.class_id, r.person, s.n1, s.n2
    from rare r
    join sizes s on s.class_id = r.class_id and s.persons >= 3 and s.n1 <= r.n1 and s.n2 <= r.n2
    qualify row_number() over (partition by r.person order by s.n1 + s.n2 desc, s.n1, s.n2) = 1
-- 4 lines of the template, 989e14ca
        row_number() over (partition by r.class_id order by n1 + n2, n1, n2, r.person) as place,
        -- 5 lines of the template, fbd5fbfa
    select *, least((place - 1) // 3, many // 3 - 1) as part
    from stuck
    where many >= 3
),
together as (
    select class_id, part, min(n1) as n1, min(n2) as n2
    -- 5 lines of the template, ac22004e
    semi join stuck t on t.class_id = s.class_id and t.many < 3
    where s.persons >= 3
    qualify row_number() over (partition by s.class_id order by n1 + n2, n1, n2) = 1
),
floors as (
    select f.class_id, least(f.n1, min(t.n1)) as n1, least(f.n2, min(t.n2)) as n2
    from fewest f
    join stuck t on t.class_id = f.class_id
    group by f.class_id, f.n1, f.n2
),
targets as (
    select person, n1, n2 from lower
    union all
    select p.person, t.n1, t.n2 from parts p
    join together t on t.class_id = p.class_id and t.part = p.part
    union all
    select s.person, f.n1, f.n2 from stuck s
    join floors f on f.class_id = s.class_id
    where s.many < 3
    union all
    select v.person, f.n1, f.n2 from fewest e
    join vectors v on v.class_id = e.class_id and v.n1 = e.n1 and v.n2 = e.n2
    -- 4 lines of the template, a8f8f3b3
    from anon_scratch.main.rows_left l
    semi join targets t on t.person = l.person
),
lowest as (
    select person, min(n1) as n1, min(n2) as n2 from targets group by person
-- 4 lines of the template, 98d6dc34
where p.place > case p.source when 1 then t.n1 when 2 then t.n2 end

-- several_tables_two_events, persons with rare numbers: How many persons have numbers of rows that too few others of their class have.
-- 7 lines as in templates/schema/hanging.sql, several_tables_two_events, rows that do not count
    -- 4 lines of schema/_vectors.sql.j2, d44fc036
    select class_id, n1, n2, count(*) as persons
    from vectors
    group by class_id, n1, n2
-- 4 lines of schema/_vectors.sql.j2, a5c383ae
    join sizes s on s.class_id = v.class_id and s.n1 = v.n1 and s.n2 = v.n2
    where s.persons < 3
)

select count(*) from rare

-- several_tables_remaining, persons with equal numbers of rows: The persons of a class with equal numbers of rows, table by table, as they would remain.
create or replace table anon_scratch.main.choices as
-- 7 lines as in templates/schema/hanging.sql, several_tables_two_events, rows that do not count
    -- 4 lines of schema/_vectors.sql.j2, d44fc036
    select class_id, n1, n2, count(*) as persons
    from vectors
    group by class_id, n1, n2
-- 4 lines of schema/_vectors.sql.j2, a5c383ae
    join sizes s on s.class_id = v.class_id and s.n1 = v.n1 and s.n2 = v.n2
    where s.persons < 3
)

select
    class_id, person,
    dense_rank() over (order by class_id, n1, n2) as candidates
from vectors

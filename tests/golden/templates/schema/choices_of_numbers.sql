-- several_tables_remaining, persons with equal numbers of rows: The persons of a class with equal numbers of rows, table by table, as they would remain.
create or replace table anon_scratch.main.choices as
with counted as (
    select person, source, count(*) as n from anon_scratch.main.rows_left group by person, source
),
vectors as materialized (
    select o.person, m.class_id, coalesce(max(c.n) filter (where c.source = 1), 0) as n1, coalesce(max(c.n) filter (where c.source = 2), 0) as n2
    from anon_scratch.main.owners o
    join anon_scratch.main.members m on m.unit = o.unit
    left join counted c on c.person = o.person
    group by o.person, m.class_id
),
sizes as materialized (
    select class_id, n1, n2, count(*) as persons
    from vectors
    group by class_id, n1, n2
),
rare as materialized (
    select v.*
    from vectors v
    join sizes s on s.class_id = v.class_id and s.n1 = v.n1 and s.n2 = v.n2
    where s.persons < 3
)

select
    class_id, person,
    dense_rank() over (order by class_id, n1, n2) as candidates
from vectors

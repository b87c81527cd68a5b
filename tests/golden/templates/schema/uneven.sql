-- several_tables_two_events, persons with rare numbers: How many persons have numbers of rows that too few others of their class have.
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

select count(*) from rare

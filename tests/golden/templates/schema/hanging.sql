-- several_tables_everybody_reserved, rows that do not count: How many rows that counted for others refer to a suppressed row, and how many persons have numbers of rows that too few others have.
select
    (
        select count(*)
        from anon_scratch.main.placed_rows p
        semi join anon_scratch.main.removed_rows r on r.source = p.source and r.row_ref = p.row_ref
        where p.step <= p.top
    )
-- several_tables_two_events, rows that do not count: {% if evened %}
with counted as (
    select person, source, count(*) as n from anon_scratch.main.rows_left group by person, source
),
vectors as materialized (
    select o.person, m.class_id, coalesce(max(c.n) filter (where c.source = 1), 0) as n1, coalesce(max(c.n) filter (where c.source = 2), 0) as n2
    from anon_scratch.main.owners o
    join anon_scratch.main.members m on m.unit = o.unit
    -- 4 lines of schema/_vectors.sql.j2, d44fc036
    select class_id, n1, n2, count(*) as persons
    from vectors
    group by class_id, n1, n2
-- 4 lines of schema/_vectors.sql.j2, a5c383ae
    join sizes s on s.class_id = v.class_id and s.n1 = v.n1 and s.n2 = v.n2
    where s.persons < 3
)
-- 3 branches as in the template, a0c410b2

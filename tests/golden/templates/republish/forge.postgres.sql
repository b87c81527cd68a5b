-- m_invariance, counterfeits: Counterfeits as encoded rows: each has the codes of one row of its class, so that no cell changes. (A row of Postgres is referred to by its position: those of counterfeits are beyond the end of any table.)
insert into anon_scratch.main.coded
with lent as (
    select g.class_id, min(g.id) as row_id
    from anon_scratch.main.groups g
    where g.id > 0
    group by g.class_id
)
select
    g.id as row_id,
    g.draw,
    cast(concat('(', 4294967294 - (-g.id) // 65535, ',', 1 + (-g.id) % 65535, ')') as tid) as row_ref
    , r.c1
    , v.original
from anon_scratch.main.groups g
join lent l on l.class_id = g.class_id
join anon_scratch.main.coded r on r.row_id = l.row_id
join anon_scratch.main.known_values v on v.value = g.value
where g.id < 0
, null  -- m_invariance_persons, counterfeits: {% if person %}

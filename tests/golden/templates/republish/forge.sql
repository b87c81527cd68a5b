-- m_invariance, counterfeits: Counterfeits as encoded rows: each has the codes of one row of its class, so that no cell changes.
insert into anon_scratch.main.coded
with lent as (
    select g.class_id, min(g.id) as row_id
    from anon_scratch.main.groups g
    -- 7 lines of the template, a5be3f56
    , r.c1
    , v.original
from anon_scratch.main.groups g
join lent l on l.class_id = g.class_id
join anon_scratch.main.coded r on r.row_id = l.row_id
join anon_scratch.main.known_values v on v.value = g.value
where g.id < 0
-- 1 branch as in the template, c0b2c3de

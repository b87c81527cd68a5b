-- m_invariance, final groups: The rows in their final classes.
create or replace table anon_scratch.main.groups as
select id, class_id, value, draw from anon_scratch.main.seats

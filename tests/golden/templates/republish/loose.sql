-- m_invariance, persons without a bucket: The units of new persons who are not needed to balance a bucket.
create or replace table anon_scratch.main.units as
select u.* from anon_scratch.main.units u where u.row_id not in (select id from anon_scratch.main.placed_rows)

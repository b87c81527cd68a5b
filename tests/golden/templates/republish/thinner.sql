-- append_only, still told apart: How many patterns of releases have fewer than k candidates left.
with patterns as (
    select lineage, releases, count(*) as n from anon_scratch.main.staying group by lineage, releases
-- 7 lines of republish/_candidates.sql.j2, 1418bac6

select count(*) from candidates where n < 2

-- append_only, leave out: Suppress persons with fewer than k candidates.
create or replace table anon_scratch.main.staying as
with patterns as (
    select lineage, releases, count(*) as n from anon_scratch.main.staying group by lineage, releases
-- 7 lines of republish/_candidates.sql.j2, 1418bac6

select s.person, s.lineage, s.releases
from anon_scratch.main.staying s
join candidates c on c.lineage = s.lineage and c.releases = s.releases
where c.n >= 2

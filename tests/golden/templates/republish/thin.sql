-- append_only, leave out: Suppress persons with fewer than k candidates.
create or replace table anon_scratch.main.staying as
with patterns as (
    select lineage, releases, count(*) as n from anon_scratch.main.staying group by lineage, releases
),
candidates as (
    select p.lineage, p.releases, sum(q.n) as n
    from patterns p
    join patterns q on q.lineage = p.lineage and list_has_all(q.releases, p.releases)
    group by p.lineage, p.releases
)

select s.person, s.lineage, s.releases
from anon_scratch.main.staying s
join candidates c on c.lineage = s.lineage and c.releases = s.releases
where c.n >= 2

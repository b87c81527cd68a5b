-- append_only, still told apart: How many patterns of releases have fewer than k candidates left.
with patterns as (
    select lineage, releases, count(*) as n from anon_scratch.main.staying group by lineage, releases
),
candidates as (
    select p.lineage, p.releases, sum(q.n) as n
    from patterns p
    join patterns q on q.lineage = p.lineage and list_has_all(q.releases, p.releases)
    group by p.lineage, p.releases
)

select count(*) from candidates where n < 2

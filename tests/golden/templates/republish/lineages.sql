-- append_only, classes that go on: Rows with the earlier class that they continue: persons who stay keep theirs, and k or more new persons with the same quasi-identifiers as its rows join it (0: a class is still to be found). Persons who cannot stay are left out.
create or replace table anon_scratch.main.coded as
with standing as (
    select r.draw, r.row_ref, r.c1, r.c2, r.s1, d.person as whose, s.lineage as earlier
    from anon_scratch.main.coded r
    join anon_scratch.main.ledger_digests d on d.row_ref = r.row_ref
    left join anon_scratch.main.history h on h.person = d.person
    left join anon_scratch.main.staying s on s.person = d.person
    where h.person is null or s.person is not null
),
tuples as (
    select c1, c2, min(earlier) as lineage
    from standing
    where earlier is not null
    group by c1, c2
-- 4 lines of the template, 909c5ead
    left join tuples t on t.c1 = s.c1 and t.c2 = s.c2
-- 6 lines of the template, d6765686
    having count(distinct whose) >= 2
)
select f.draw, f.row_ref, f.c1, f.c2, f.s1, coalesce(f.earlier, j.near, 0) as lineage
from found f
left join joining j on j.near = f.near

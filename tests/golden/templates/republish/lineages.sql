-- append_only, classes that go on: Rows with the earlier class that they continue: persons who stay keep theirs, and a new row with the same quasi-identifiers as one of its rows joins it (0: a class is still to be found). Persons who cannot stay are left out.
create or replace table anon_scratch.main.coded as
with standing as (
    select r.draw, r.row_ref, r.c1, r.c2, r.s1, s.lineage as earlier
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
)
select s.draw, s.row_ref, s.c1, s.c2, s.s1, coalesce(s.earlier, t.lineage, 0) as lineage
from standing s
left join tuples t on t.c1 = s.c1 and t.c2 = s.c2

-- m_invariance, counterfeits as originals: Counterfeits in the columns of the snapshot, for the checks.
create or replace table anon_scratch.main.counterfeits as
select
    r.row_ref
    , d1.value as q1
    , r.s1
from anon_scratch.main.coded r
join anon_scratch.main.domain_1 d1 on d1.code = r.c1
where r.row_id < 0

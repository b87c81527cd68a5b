-- mondrian_many_values, codes, part 1: The codes of some of the quasi-identifiers, by joins on equality, which can be hashed; NULL, which equals nothing, has the code 0.
create or replace table anon_scratch.main.codes_part_1 as
select
    s.rowid as row_ref
    , coalesce(d1.code, 0) as c1
from anon_scratch.main.snapshot s
left join anon_scratch.main.domain_1 d1 on d1.value = s.q1

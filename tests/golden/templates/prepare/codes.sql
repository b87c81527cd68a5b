-- mondrian_many_values, codes, part 1: The codes of some of the quasi-identifiers of every row; used if there are very many quasi-identifiers.
create or replace table anon_scratch.main.codes_part_1 as
select
    s.rowid as row_ref
    , d1.code as c1
from anon_scratch.main.snapshot s
join anon_scratch.main.domain_1 d1 on d1.value is not distinct from s.q1

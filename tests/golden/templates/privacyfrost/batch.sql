-- privacyfrost_suppressing, tables to judge: The tables to judge.
create or replace table anon_scratch.main.lattice_batch as
select number, cast(0 as bigint) as guide, m0, m1
from anon_scratch.main.search_tables
where better and not fails

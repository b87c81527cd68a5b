-- privacyfrost_suppressing, walkers: The walkers: some go on from the table that the search ended with, the others begin at the coarsest.
create or replace table anon_scratch.main.lattice_walkers as
-- 6 lines of the template, 43e79bc6
from (values (1, false), (2, true), (3, false), (4, true), (5, false), (6, true)) w(walker, onward)
cross join (select max(number) as number from anon_scratch.main.lattice_nodes) n
cross join (select md5_number(concat(hex(min(draw)), ':walk')) as draw from anon_scratch.main.units) d

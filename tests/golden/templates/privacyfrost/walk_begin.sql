-- privacyfrost_suppressing, walkers: The walkers: some go on from the table that the search ended with, the others begin at the coarsest.
create or replace table anon_scratch.main.lattice_walkers as
select
    cast(w.walker as integer) as walker,
    0 as turn,
    case when w.onward and n.number > 1 then 'down' else 'start' end as phase,
    case when w.onward then n.number else cast(1 as bigint) end as number,
    d.draw
from (values (1, false), (2, true), (3, false), (4, true), (5, false), (6, true)) w(walker, onward)
cross join (select max(number) as number from anon_scratch.main.lattice_nodes) n
cross join (select md5_number(concat(hex(min(draw)), ':walk')) as draw from anon_scratch.main.units) d

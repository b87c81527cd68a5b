-- privacyfrost_recursive, ill by tuple: How often each value of one sensitive column occurs in the tuples of the base.
create or replace table anon_scratch.main.base_cells_1 as
with finest as (
    select bit_or(m0) as m0, bit_or(m1) as m1
    -- 5 lines as in plans/privacyfrost.sql, tuples worth looking at
    t.w1 & coalesce(f.m1, 0) as w1,
    c.value,
    cast(sum(c.n) as bigint) as n
from anon_scratch.main.cells_1 c
join anon_scratch.main.lattice_tuples t on t.unit = c.unit
cross join finest f
group by t.w0 & coalesce(f.m0, 0), t.w1 & coalesce(f.m1, 0), c.value

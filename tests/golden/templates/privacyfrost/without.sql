-- privacyfrost_suppressing, rows suppressed: Remove the rows of the classes that the chosen table suppresses; it holds without them.
create or replace table anon_scratch.main.coded as
with masked as (
    select t.c1, t.c2, t.w0 & b.m0 as g0, t.w1 & b.m1 as g1
    from anon_scratch.main.lattice_tuples t
    cross join anon_scratch.main.lattice_batch b
),
gone as (
    select m.c1, m.c2
    from masked m
    join anon_scratch.main.lattice_classes c on c.g0 = m.g0 and c.g1 = m.g1
    where not c.published
)
select r.*
from anon_scratch.main.coded r
anti join gone x on x.c1 = r.c1 and x.c2 = r.c2

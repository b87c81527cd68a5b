-- full_domain_ncp, ill by class: How often each value of one sensitive column occurs in each class that is large enough.
create or replace table anon_scratch.main.lattice_histogram_1 as
-- 4 lines as in plans/full_domain.sql, classes of nodes
        , v.value
        , cast(sum(v.n) as bigint) as n
    from anon_scratch.main.lattice_tuples t
    join anon_scratch.main.cells_1 v on v.unit = t.unit
    cross join (select * from anon_scratch.main.lattice_screened where kept) s
    group by s.number, t.w0 & s.m0, v.value
)
select g.number, c.class_id, g.value, g.n
from grouped g
join anon_scratch.main.lattice_classes c on c.number = g.number and c.g0 = g.g0
where c.published

-- full_domain_sets, classes of nodes: As `classes`, for all columns together. They may be small: only the classes of the sets are judged.
create or replace table anon_scratch.main.lattice_classes as
with grouped as (
    select
        s.number
        , t.w0 & s.m0 as g0
        , cast(sum(t.n) as bigint) as n
        , cast(sum(t.records) as bigint) as records
        , min(t.unit) as unit
    from anon_scratch.main.lattice_tuples t
    cross join (select * from anon_scratch.main.lattice_screened where kept) s
    group by s.number, t.w0 & s.m0
)
select *, row_number() over () as class_id, true as published
from grouped

-- full_domain_ncp, suppress classes: Failing classes are not published. Nodes that would have to suppress more than is allowed are given up: none of their classes is published.
create or replace table anon_scratch.main.lattice_classes as
with marked as (
    select c.number, c.g0, c.n, c.records, c.unit, c.class_id, c.published and f.class_id is null as published
    from anon_scratch.main.lattice_classes c
    left join anon_scratch.main.lattice_failing f on f.class_id = c.class_id
-- 6 lines of the template, 1bd53db7
select m.number, m.g0, m.n, m.records, m.unit, m.class_id, m.published and s.suppressed <= l.allowed as published
from marked m
join spent s on s.number = m.number
cross join anon_scratch.main.lattice_limits l

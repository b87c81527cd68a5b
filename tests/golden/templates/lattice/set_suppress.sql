-- full_domain_sets, suppress classes: What is in a failing class of any set is not published. Nodes that would have to suppress more than is allowed are given up: none of their classes is published.
create or replace table anon_scratch.main.lattice_classes as
with gone as (
    select distinct m.class_id
    from anon_scratch.main.lattice_set_members m
    join anon_scratch.main.lattice_set_classes s on s.class_id = m.set_class
    left join anon_scratch.main.lattice_failing f on f.class_id = m.set_class
    where not s.published or f.class_id is not null
),
marked as (
    select c.number, c.g0, c.n, c.records, c.unit, c.class_id, c.published and g.class_id is null as published
    from anon_scratch.main.lattice_classes c
    left join gone g on g.class_id = c.class_id
),
spent as (
    select number, coalesce(sum(n) filter (where not published), 0) as suppressed
    from marked
    group by number
)
select m.number, m.g0, m.n, m.records, m.unit, m.class_id, m.published and s.suppressed <= l.allowed as published
from marked m
join spent s on s.number = m.number
cross join anon_scratch.main.lattice_limits l
where not s.published  -- full_domain_sets_budget, suppress classes: {% if protections %} ... {% else %}

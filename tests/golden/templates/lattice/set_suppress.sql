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
    -- 7 lines of the template, 282c53c4
-- 4 lines as in templates/lattice/suppress.sql, full_domain_ncp, suppress classes
-- 1 branch as in the template, 1af11c25

-- full_domain_sets, classes in their sets: The class of every class of all columns in every set of columns, ignoring the other columns.
create or replace table anon_scratch.main.lattice_set_members as
-- 4 lines as in templates/lattice/set_screen.sql, full_domain_sets, sizes of classes
)
-- 4 lines of the template, 1580c7eb
    dense_rank() over (order by c.number, s.set_number, c.g0 & s.m0) as set_class,
    c.n
from anon_scratch.main.lattice_classes c
cross join sets_of_columns s
where c.published

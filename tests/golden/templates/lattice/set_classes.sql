-- full_domain_sets, classes of sets: The classes of all sets of columns, and which of them are large enough. A node and a set have a number of their own, as every set is compared with the rows of its own.
create or replace table anon_scratch.main.lattice_set_classes as
select
    min(number) * 2 + min(set_number) as number,
    set_class as class_id,
    cast(sum(n) as bigint) as n,
    sum(n) >= 2 as published
from anon_scratch.main.lattice_set_members
group by set_class

-- full_domain_budget, sets left: The sets that contain none of those learned in this round.
create or replace table anon_scratch.main.lattice_subsets as
select s.*
from anon_scratch.main.lattice_subsets s
where not exists (
    select 1 from anon_scratch.main.lattice_learned n
    where n.part = s.part and n.depth <= s.depth and s.bits & n.bits = n.bits
)

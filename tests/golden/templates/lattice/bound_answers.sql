-- full_domain_budget, no answers yet: No probe is answered yet.
create or replace table anon_scratch.main.lattice_answers as
select cast(slice as bigint) as slice, cast(guide as bigint) as guide, false as kept
from anon_scratch.main.lattice_slices
where false

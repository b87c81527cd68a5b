-- full_domain_budget, keep answers: The answers are kept, to predict the next ones.
insert into anon_scratch.main.lattice_answers
select slice, guide, kept
from anon_scratch.main.lattice_probed

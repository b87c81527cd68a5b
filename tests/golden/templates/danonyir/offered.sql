-- geneir_alpha_beta, offers to judge: Every candidate cluster with the person who would join it, to be judged.
create or replace table anon_scratch.main.offered as
select o.offer as grp, m.unit
from anon_scratch.main.offers o
join anon_scratch.main.members m on m.class_id = o.grp
union all
select offer, unit from anon_scratch.main.offers

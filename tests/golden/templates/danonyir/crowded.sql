-- geneir_alpha_beta, clusters with all of them: Every cluster together with those who would join it at once, to be judged.
create or replace table anon_scratch.main.crowded as
select c.crowd as grp, m.unit
from anon_scratch.main.crowds c
join anon_scratch.main.members m on m.class_id = c.grp
union all
select c.crowd, a.unit
from anon_scratch.main.crowds c
join anon_scratch.main.asking a on a.grp = c.grp and a.turn <= c.last

-- append_only, continue classes: Earlier classes with those who stayed and those who joined; their numbers are negative.
insert into anon_scratch.main.members
with continued as (
    select unit, lineage from anon_scratch.main.all_units where lineage > 0
    union all
    select unit, lineage from anon_scratch.main.nearest
)
select unit, -dense_rank() over (order by lineage)
from continued

-- geneir_alpha_beta, how many at once: For every cluster that somebody asks for, how many of them it could take at once: the first one, the first four, the first sixteen, and so on, and all.
create or replace table anon_scratch.main.crowds as
with counted as (
    select grp, max(turn) as n from anon_scratch.main.asking group by grp
)
select row_number() over (order by grp, power) as crowd, grp, least(n, cast(1 as bigint) << (2 * power)) as last
from counted
cross join (select unnest(range(0, 17)) as power)
where power = 0 or cast(1 as bigint) << (2 * (power - 1)) < n

-- full_domain_ncp, hierarchy_1.grid_points: The points between the ends of the domain: where they begin, how many there are.
create or replace table anon_scratch.main.grid_1 as
with ends as (
    select min(cast(value as hugeint)) as lowest, max(cast(value as hugeint)) as highest
    from anon_scratch.main.values_1
)
select
    cast(case when lowest >= 1 then 1 else lowest - ((lowest % 1) + 1) % 1 end as hugeint) as origin,
    cast(1 as hugeint) as step,
    cast(highest - (case when lowest >= 1 then 1 else lowest - ((lowest % 1) + 1) % 1 end) + 1 as bigint) as points
from ends
where lowest is not null

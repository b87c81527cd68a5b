-- privacyfrost_suppressing, verdicts: The verdicts as walkers read them: what a table that holds loses of the largest score, as published.
create or replace table anon_scratch.main.lattice_verdicts as
with top as (
    select cast(sum(merit) as decimal(38, 12)) as score
    from (select attribute, max(merit) as merit from anon_scratch.main.search_depths group by attribute) m
),
best as (
    select
        (select cast(replace(cast(score as varchar), '.', '') as hugeint) from top) as lost,
        (select sum(e) from (select max(distinct_values) as e from anon_scratch.main.search_depths group by attribute) m) as fewer
),
published as (
    select *, cast(replace(cast(score as varchar), '.', '') as hugeint) as earned
    from anon_scratch.main.search_scored
-- 5 lines as in plans/full_domain.sql, verdicts
    s.m1,
    -- 12 lines of the template, 9e51aef9
from anon_scratch.main.lattice_screened s
join published p on p.number = s.number
cross join best b

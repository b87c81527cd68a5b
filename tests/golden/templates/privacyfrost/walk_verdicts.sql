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
)
select
    s.number,
    s.guide,
    s.m0,
    s.m1,
    s.smallest,
    s.classes,
    s.small,
    s.squares,
    p.suppressed,
    p.suppressed as suppressed_rows,
    b.lost - p.earned as lost,
    cast(b.fewer - p.weight as hugeint) as fewer,
    cast(0 as hugeint) as c_dm,
    b.lost - p.earned as loss,
    p.holds,
    p.decides
from anon_scratch.main.lattice_screened s
join published p on p.number = s.number
cross join best b

-- mondrian_population_of_persons, judge: Groups of units under EIR l-diversity alone, judged by counts: those that hold and those that fail. Any other needs the exact search. A person with only one value forces it into every hitting set, so l - 1 values meet no more persons than the forced values together with the most widespread of the others.
create or replace table anon_scratch.main.everybody_verdicts as
with by_value as (
    select a.grp, h.col, h.value, count(*) as holders, bool_or(h.alone) as forced
    from anon_scratch.main.everybody a
    join anon_scratch.main.held_pairs h on h.unit = a.unit
    group by a.grp, h.col, h.value
),
counted as (
    select
        grp, col,
        max(holders) filter (value = 0) as known,
        count(*) - 1 as different,
        coalesce(max(holders) filter (value > 0), 0) as widest,
        count(*) filter (forced) as forced,
        coalesce(sum(holders) filter (forced), 0) as forced_reach,
        max(holders, 1) filter (value > 0 and not forced) as others
    from by_value
    group by grp, col
),
judged as (
    select
        grp,
        -- where nobody has a value of a column there is no row of it
        count(*) = 1 and bool_and(
            forced >= 2
            or forced_reach + coalesce(list_sum(others[1:1 - forced]), 0) < known
        ) as holds,
        count(*) < 1 or bool_or(
            different < 2 or known < 2 or known - widest + 1 < 2
        ) as fails
    from counted
    group by grp
)
,
sizes as (
    select a.grp, sum(u.n) as persons
    from anon_scratch.main.everybody a
    join anon_scratch.main.units u on u.unit = a.unit
    group by a.grp
)
select
    s.grp,
    s.persons >= 2 and coalesce(j.holds, false) as holds,
    s.persons < 2 or coalesce(j.fails, true) as fails
from sizes s
left join judged j on j.grp = s.grp
select grp, holds, fails from judged  -- mondrian_population_of_persons, judge: {% if large %}

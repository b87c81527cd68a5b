-- mondrian_population_of_persons, judge: Groups of units under EIR l-diversity alone, judged by counts: those that hold and those that fail. Any other needs the exact search. A person with only one value forces it into every hitting set, so l - 1 values meet no more persons than the forced values together with the most widespread of the others.
create or replace table anon_scratch.main.everybody_verdicts as
with by_value as (
    select a.grp, h.col, h.value, count(*) as holders, bool_or(h.alone) as forced
    from anon_scratch.main.everybody a
    join anon_scratch.main.held_pairs h on h.unit = a.unit
    -- 10 lines of the template, 4ae3ee69
        max(holders, 1) filter (value > 0 and not forced) as others
    -- 7 lines of the template, 1c9a0079
        count(*) = 1 and bool_and(
            forced >= 2
            or forced_reach + coalesce(list_sum(others[1:1 - forced]), 0) < known
        ) as holds,
        count(*) < 1 or bool_or(
            different < 2 or known < 2 or known - widest + 1 < 2
        -- 4 lines of the template, fa61c4d9
,
sizes as (
    select a.grp, sum(u.n) as persons
    from anon_scratch.main.everybody a
    join anon_scratch.main.units u on u.unit = a.unit
    -- 4 lines of the template, ba9905e3
    s.persons >= 2 and coalesce(j.holds, false) as holds,
    s.persons < 2 or coalesce(j.fails, true) as fails
from sizes s
left join judged j on j.grp = s.grp
-- 1 branch as in the template, a5ce0dc6

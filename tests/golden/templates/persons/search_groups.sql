-- mondrian_identity_reserved, undecided groups: The groups that counts leave undecided and that the search finds to satisfy l: no column has a hitting set of fewer than l values.
create or replace table anon_scratch.main.everybody_searched as
with recursive problems as (
    select row_number() over () as problem, *
    from (
select a.grp, s.col, list(distinct s.codes) as sets
from anon_scratch.main.everybody_verdicts v
join anon_scratch.main.everybody a on a.grp = v.grp
join anon_scratch.main.held_sets s on s.unit = a.unit
where not v.holds and not v.fails
group by a.grp, s.col
    -- 16 lines of persons/_search.sql.j2, 1d897f35
            where len(chosen) < 1 and len(missed) > 0
        )
    )
    where len(missed) = 0 or len(chosen) < 1
-- 4 lines of persons/_search.sql.j2, c2145b94
select distinct cast(grp as bigint) as grp
from problems
where grp not in (select p.grp from problems p join met m on m.problem = p.problem)

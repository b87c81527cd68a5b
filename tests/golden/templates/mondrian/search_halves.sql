-- mondrian_identity_reserved, undecided halves: Whether the halves that counts leave undecided satisfy l: no column has a hitting set of fewer than l values.
create or replace table anon_scratch.main.halves_searched as
with recursive problems as (
    select row_number() over () as problem, *
    from (
-- 19 lines as in templates/mondrian/undecided_halves.sql, mondrian_identity_reserved, undecided halves
    -- 24 lines as in templates/persons/search_groups.sql, mondrian_identity_reserved, undecided groups
select cast(p.grp as bigint) as grp, count(m.problem) = 0 as holds
from problems p
left join (select distinct problem from met) m on m.problem = p.problem
group by p.grp

-- privacyfrost_suppressing, values of levels: How many units have each value of each column at each level.
create or replace table anon_scratch.main.search_values as
-- 4 lines of the template, db5c7709
            unnest([0, 1]) as attribute,
            unnest([c1, c2]) as code,
            -- 4 lines as in plans/privacyfrost.sql, merit of levels
)
select d.attribute, d.depth, p.w0 & d.m0 as w0, p.w1 & d.m1 as w1, cast(sum(c.n) as bigint) as n
from codes c
join anon_scratch.main.lattice_paths p on p.attribute = c.attribute and p.code = c.code
join anon_scratch.main.search_depths d on d.attribute = c.attribute
group by d.attribute, d.depth, p.w0 & d.m0, p.w1 & d.m1

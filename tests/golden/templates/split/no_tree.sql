-- mondrian_parts, no coarse cuts yet: The tree of coarse cuts before the first of them. Tuples that no class mixes have a root each, with what they have in common as code.
create or replace table anon_scratch.main.coarse_cuts as
select
    cast(0 as bigint) as level, unit as node, cast(0 as integer) as attribute, cast(0 as integer) as code,
    false as single, n as units_left
from anon_scratch.main.sampled_tuples
where false
-- 1 branch as in the template, c5939d3d

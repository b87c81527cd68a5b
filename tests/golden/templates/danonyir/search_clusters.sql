-- danonyir_eir_l, broken proofs: Fewer than l values that hit everybody in a cluster whose proof became invalid, if there are any.
create or replace table anon_scratch.main.found_proofs as
with recursive problems as (
    select row_number() over () as problem, *
    from (
-- 14 lines as in templates/danonyir/broken.sql, danonyir_eir_l, broken proofs
    -- 23 lines as in templates/persons/search_groups.sql, mondrian_identity_reserved, undecided groups
),
proofs as (
    select p.block, p.col, min(m.chosen) as chosen
    from problems p
    join met m on m.problem = p.problem
    group by p.block, p.col
)
select cast(block as bigint) as block, cast(col as bigint) as col, unnest(chosen) as value
from proofs

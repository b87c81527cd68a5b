-- danonyir_eir_l, broken proofs: Fewer than l values that hit everybody in a cluster whose proof became invalid, if there are any.
create or replace table anon_scratch.main.found_proofs as
with recursive problems as (
    select row_number() over () as problem, *
    from (
-- 14 lines as in templates/danonyir/broken.sql, danonyir_eir_l, broken proofs
    -- 16 lines of persons/_search.sql.j2, 1d897f35
            -- 4 lines as in templates/persons/search_groups.sql, mondrian_identity_reserved, undecided groups
),
met as (
    select problem, chosen from tried where len(missed) = 0
),
-- 8 lines of the template, 0fb3e022

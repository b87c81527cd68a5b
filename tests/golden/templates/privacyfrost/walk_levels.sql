-- privacyfrost_suppressing, levels of the lattice: The levels that the search within a budget may use: what each loses of its column's largest merit (in 10^-12) and of its different values, and the entropy of its nodes (in 10^-6 nats).
create or replace table anon_scratch.main.lattice_levels as
with settings(attribute, height, floor) as (
    values
    (0, 5, 0),
    (1, 1, 0)
-- 7 lines of the template, c591e4e9
    from anon_scratch.main.search_values
    group by attribute, depth
),
valued as (
    select *, cast(replace(cast(score as varchar), '.', '') as hugeint) as merits
    from (select *, merit as score from anon_scratch.main.search_depths) d
-- 7 lines of the template, d15a0df5
    , d.m0
    , d.m1
-- 5 lines of the template, 45ecfa8e

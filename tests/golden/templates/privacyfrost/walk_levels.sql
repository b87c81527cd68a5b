-- privacyfrost_suppressing, levels of the lattice: The levels that the search within a budget may use: what each loses of its column's largest merit (in 10^-12) and of its different values, and the entropy of its nodes (in 10^-6 nats).
create or replace table anon_scratch.main.lattice_levels as
with settings(attribute, height, floor) as (
    values
    (0, 5, 0),
    (1, 1, 0)
),
spread as (
    select
        attribute,
        depth,
        -- rounded, so that the order of summation does not matter
        cast(round(1000000 * (ln(sum(n)) - sum(n * ln(n)) / sum(n))) as bigint) as entropy
    from anon_scratch.main.search_values
    group by attribute, depth
),
valued as (
    select *, cast(replace(cast(score as varchar), '.', '') as hugeint) as merits
    from (select *, merit as score from anon_scratch.main.search_depths) d
)
select
    d.attribute,
    s.height - d.depth as level,
    max(d.merits) over column_levels - d.merits as lost,
    cast(max(d.distinct_values) over column_levels - d.distinct_values as hugeint) as fewer,
    e.entropy
    , d.m0
    , d.m1
from valued d
join settings s on s.attribute = d.attribute
join spread e on e.attribute = d.attribute and e.depth = d.depth
where d.depth >= s.floor
window column_levels as (partition by d.attribute)

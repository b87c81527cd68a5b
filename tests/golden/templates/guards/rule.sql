-- mondrian_driven_median, feasibility of ill: Whether the whole table as one class breaks a rule of a sensitive column, as then every partition does.
with layer_0 as (
    select *, q as n from anon_scratch.main.reference_1
),
layer_1 as (
    select *, cast(sum(n) over () as bigint) as "group_size"
    from layer_0
),
judged as (
    select
        (cast((cast(coalesce(sum(abs(n * q_size - q * group_size)), 0) as decimal(38, 0)) + cast(coalesce(sum(n), 0) as decimal(38, 0)) * (coalesce(max(q_size), 0) - coalesce(sum(q), 0))) as decimal(38, 0)) * 5 <= ((cast(coalesce(sum(n), 0) as decimal(38, 0)) * coalesce(max(q_size), 0)) * 2) * 2) as holds,
        cast(count(*) filter (where value > 0) as bigint) as different,
        cast(coalesce(max(n) filter (where value > 0), 0) as bigint) as most,
        cast(coalesce(sum(n) filter (where value > 0), 0) as bigint) as known
    from layer_1
)
select different, most, known from judged where not holds

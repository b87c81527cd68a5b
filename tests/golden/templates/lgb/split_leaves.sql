-- lgb_ncp, split leaves of ill: {% if layers %}
filled as (
    select k.leaf, k.side, f.value, coalesce(s.n, 0) as n, f.q, f.q_known, f.q_size, f.m
    from (select distinct leaf, side from sided) k
    cross join anon_scratch.main.sensitive_values_2 f
    left join sided s on s.leaf = k.leaf and s.side = k.side and s.value = f.value
    where f.value >= 0
),
layer_0 as (select * from filled),
layer_1 as (
    select *, cast(sum(n) over (partition by leaf, side) as bigint) as "group_size"
    from layer_0
),
held as (
    select leaf, side from layer_1 group by leaf, side having (cast((cast(coalesce(sum(abs(n * q_size - q * group_size)), 0) as decimal(38, 0)) + cast(coalesce(sum(n), 0) as decimal(38, 0)) * (coalesce(max(q_size), 0) - coalesce(sum(q), 0))) as decimal(38, 0)) * 10 <= ((cast(coalesce(sum(n), 0) as decimal(38, 0)) * coalesce(max(q_size), 0)) * 2) * 3)
),
-- 2 branches as in the template, 01fc01f9

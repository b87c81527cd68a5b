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
where (leaf, side) in (select (leaf, side) from held)  -- lgb_ncp, split leaves of ill: {% if layers %}
-- lgb_tight, split leaves of cost: {% if tight %}
-- cuts at every boundary between values, and in the middle, which may be between equal values
cuts as (
    select leaf, n_leaf, start + n - leaf as cut from sized where open and start + n - leaf < n_leaf
    union
    select leaf, n_leaf, cast(floor(n_leaf / 2) as bigint) from sized where open and n_leaf > 1
),
judged as (
    select
        c.leaf, c.n_leaf, c.cut,
        max(least(s.n, greatest(c.leaf + c.cut - s.start, 0))) as most_left,
        max(least(s.n, greatest(s.start + s.n - c.leaf - c.cut, 0))) as most_right
    from cuts c
    join sized s on s.leaf = c.leaf
    group by c.leaf, c.n_leaf, c.cut
),
chosen as (
    select leaf, cut
    from (
        select leaf, cut, row_number() over (partition by leaf order by abs(2 * cut - n_leaf), cut) as choice
        from judged
        where most_left * 2 <= cut and most_right * 2 <= n_leaf - cut
    )
    where choice = 1
),

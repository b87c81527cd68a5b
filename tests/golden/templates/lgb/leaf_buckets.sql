-- lgb_ncp, buckets of ill: {% if layers %}
-- a bucket's content depends on where its number lies between the starts of the values (modulo B)
tried as (
    select distinct leaf, n, cast(floor(n / t.size) as bigint) as buckets
    from sized
    join range(1, 1001) t(size)
        on t.size >= 1 and t.size <= n
    union
    select leaf, n, 1 from sized
),
kinds as (
    select distinct t.leaf, t.buckets, (l.start - l.leaf) % t.buckets as bucket
    from tried t join anon_scratch.main.leaves_2 l on l.leaf = t.leaf
    union
    select leaf, buckets, n % buckets from tried
    union
    select leaf, buckets, 0 from tried
),
filled as (
    select
        k.leaf, k.buckets, k.bucket, f.value, f.q, f.q_known, f.q_size, f.m,
        -- how many of the value's ranks are congruent to the bucket's number modulo B
        cast(coalesce(sum(
            floor((l.start - l.leaf + l.n - 1 - k.bucket + k.buckets) / k.buckets)
            - floor((l.start - l.leaf - 1 - k.bucket + k.buckets) / k.buckets)), 0) as bigint) as n
    from kinds k
    cross join (select * from anon_scratch.main.sensitive_values_2 where value >= 0) f
    left join anon_scratch.main.leaves_2 l on l.leaf = k.leaf and l.value = f.value
    group by k.leaf, k.buckets, k.bucket, f.value, f.q, f.q_known, f.q_size, f.m
),
layer_0 as (select * from filled),
layer_1 as (
    select *, cast(sum(n) over (partition by leaf, buckets, bucket) as bigint) as "group_size"
    from layer_0
),
judged as (
    select leaf, buckets, bucket, (cast((cast(coalesce(sum(abs(n * q_size - q * group_size)), 0) as decimal(38, 0)) + cast(coalesce(sum(n), 0) as decimal(38, 0)) * (coalesce(max(q_size), 0) - coalesce(sum(q), 0))) as decimal(38, 0)) * 10 <= ((cast(coalesce(sum(n), 0) as decimal(38, 0)) * coalesce(max(q_size), 0)) * 2) * 3) as holds
    from layer_1
    group by leaf, buckets, bucket
),
fine as (
    select leaf, max(buckets) as buckets
    from (select leaf, buckets from judged group by leaf, buckets having bool_and(holds))
    group by leaf
),

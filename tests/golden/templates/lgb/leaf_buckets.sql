-- lgb_ncp, buckets of ill: {% if layers %}
-- 4 lines of the template, cb9abf71
    join range(1, 1001) t(size)
        on t.size >= 1 and t.size <= n
    -- 5 lines of the template, 5c7dd4eb
    from tried t join anon_scratch.main.leaves_2 l on l.leaf = t.leaf
    -- 13 lines of the template, a25fc042
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
    -- 7 lines of the template, a4c95212

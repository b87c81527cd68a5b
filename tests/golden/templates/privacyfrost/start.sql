-- privacyfrost_recursive, pre-computation: {% for p in protections %}
tested_1 as materialized (
    select t.*
    from tested t
    join least l on l.node = t.node
    where l.smallest >= 2
),
counted_1_1 as (
    select t.node, b.w0 & t.m0 as g0, b.w1 & t.m1 as g1, b.value, cast(sum(b.n) as bigint) as n
    from anon_scratch.main.base_cells_1 b
    cross join tested_1 t
    group by t.node, b.w0 & t.m0, b.w1 & t.m1, b.value
),
layer_1_1_0 as (
    select c.node, c.g0, c.g1, c.n, r.*
    from counted_1_1 c
    join anon_scratch.main.reference_1 r on r.value = c.value
),
judged_1_1 as (
    select node, g0, g1, (count(*) filter (where value > 0 and n > 0) >= 2) as holds
    from layer_1_1_0
    group by node, g0, g1
),
broken_1 as materialized (
    select distinct node
    from judged_1_1
    where not holds
),
-- privacyfrost_driven, pre-computation: {% if p.dense %}
    select g.node, g.g0, coalesce(c.n, 0) as n, g.group_size, r.*
    from totals_1_1 g
    cross join anon_scratch.main.reference_1 r
    left join counted_1_1 c on c.node = g.node and c.g0 = g.g0 and c.value = r.value
-- privacyfrost_driven, pre-computation: {% for layer in p.layers %}
layer_1_1_1 as (
    select *, cast(sum(n * q_size - q * group_size) over (partition by node, g0 order by value rows unbounded preceding) as bigint) as "running_surplus"
    from layer_1_1_0
),
-- 4 branches as in the template, a9b15044

-- full_domain_ncp, classes that break a rule: Published classes that break a rule of a sensitive column. A rule that compares a class with the table uses, as the table, the classes of the same node that are published so far.
create or replace table anon_scratch.main.lattice_failing as
with alive as (
    select number, class_id from anon_scratch.main.lattice_classes where published
),
present_1 as (
    select h.number, h.class_id, h.value, h.n
    from anon_scratch.main.lattice_histogram_1 h
    join alive a on a.class_id = h.class_id
),
counted_1 as (
    select number, value, cast(sum(n) as bigint) as q
    from present_1
    group by number, value
),
reference_1 as (
    -- 7 lines of the template, 647d961a
    from counted_1 c
    window node as (partition by c.number)
),
layer_1_0 as (
    select h.class_id, h.n, r.value, r.q, r.q_known, r.q_size, r.m
    from present_1 h
    join reference_1 r on r.number = h.number and r.value = h.value
),
failing_1 as (
    select class_id
    from layer_1_0
    group by class_id
    having not ((count(*) filter (where value > 0 and n > 0) >= 2))
)
select class_id from failing_1
-- full_domain_t, classes that break a rule: {% for layer in p.layers %}
layer_1_1 as (
    select *, cast(sum(n) over (partition by class_id) as bigint) as "group_size"
    from layer_1_0
),
-- 6 branches as in the template, 565f1143

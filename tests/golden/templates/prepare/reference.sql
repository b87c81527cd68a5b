-- mondrian_driven_median, values of ill: The values of one sensitive column among the rows that are published, in their own order.
create or replace table anon_scratch.main.reference_1 as
with counted as (
    select s1 as original, count(*) as q
    from anon_scratch.main.coded r
    group by 1
),
ordered as (
    select
        c.original,
        c.q,
        case when c.original is null then 0 else row_number() over (
            partition by c.original is null
            order by c.original
        ) end as value
    from counted c
)
select
    cast(value as integer) as value,
    original,
    cast(q as bigint) as q,
    cast(coalesce(sum(q) filter (where value > 0) over (), 0) as bigint) as q_known,
    cast(sum(q) over () as bigint) as q_size,
    cast(count(*) filter (where value > 0) over () as integer) as m
from ordered
-- mondrian_driven_median, values of cost: ){% if runs %},
,
placed as (
    select
        *,
        row_number() over (order by value) as place,
        cast(sum(q) over (order by value rows unbounded preceding) as bigint) as upto
    from ordered
)
, place, upto, cast(sum(upto) over (order by place rows unbounded preceding) as bigint) as area  -- mondrian_driven_median, values of cost: {% if runs %}
placed  -- mondrian_driven_median, values of cost: from {% if runs %}placed{% else %}ordered{% endif %}
-- mondrian_parts_of_rows, values of ill: {% if levels %}
ancestors as (
    select
        value
        , max(node) filter (where level = 1) as a1
        , max(node) filter (where level = 2) as a2
        , max(node) filter (where level = 3) as a3
        , max(node) filter (where level = 4) as a4
    from anon_scratch.main.hierarchy_10001
    group by value
),
, coalesce(h.a1, 0) as a1  -- mondrian_parts_of_rows, values of ill: {% for level in levels %}
left join ancestors h on h.value = c.original  -- mondrian_parts_of_rows, values of ill: {% if levels %}
, a1  -- mondrian_parts_of_rows, values of ill: {% for level in levels %}

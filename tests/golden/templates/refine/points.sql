-- mondrian_many_values, units as extents: {% for one in kept %}
, held_v1 as (
    select unit, bit_or(cast(1 as bigint) << cast(value % 62 as integer)) as v1 from anon_scratch.main.cells_1 where value > 0 group by unit
)
, coalesce(held_v1.v1, 0) as v1  -- mondrian_many_values, units as extents: {% for one in kept %}
join anon_scratch.main.refine_points_part_1 p1 on p1.unit = u.unit  -- mondrian_many_values, units as extents: {% for part in parts %}
left join held_v1 on held_v1.unit = u.unit  -- mondrian_many_values, units as extents: {% for one in kept %}
-- mondrian_dealt, units as extents: {% for one in signs %}
-- equal signs: the same value, as often; several values are like no others
, signed_sign1 as (
    select unit, case when count(*) = 1 then cast(min(value) as bigint) * 4294967296 + cast(sum(n) as bigint) else -unit end as sign1
    from anon_scratch.main.cells_1
    group by unit
)
, coalesce(signed_sign1.sign1, -u.unit) as sign1  -- mondrian_dealt, units as extents: {% for one in signs %}
left join signed_sign1 on signed_sign1.unit = u.unit  -- mondrian_dealt, units as extents: {% for one in signs %}

-- mondrian_many_values, units as extents, part 1: What the extents of units need of the domains of some attributes: with very many attributes, one statement does not join all domains.
create or replace table anon_scratch.main.refine_points_part_1 as
with several as (
    select class_id, count(*) as units from anon_scratch.main.members group by class_id having count(*) > 1
)
, d1 as (
    select code, cast(round(10000000 * abs(coalesce(share - sum(n * share) over () / sum(case when share is null then 0 else n end) over (), 0))) as bigint) as rarity, cast(round(10000000 * coalesce(share, 0)) as bigint) as place
    from anon_scratch.main.domain_1
)
select
    u.unit, d1.rarity as rarity
    , case when u.c1 = 0 then 40000000 else d1.place end as l1
    , case when u.c1 = 0 then -40000000 else d1.place end as h1
from anon_scratch.main.members m
join anon_scratch.main.units u on u.unit = m.unit
join several s on s.class_id = m.class_id
join d1 on d1.code = u.c1
where (select coalesce(sum(units), 0) from several) <= 400000

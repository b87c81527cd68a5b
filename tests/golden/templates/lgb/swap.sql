-- lgb_promoted_persons, swap cells of age: Cells that share a bucket with another cell of their person are swapped with cells of other buckets, chosen at random among those that leave both buckets with enough different values and different persons. Cells of equal values leave the values of their buckets as they are. Every bucket takes part in at most one swap per round.
create or replace table anon_scratch.main.owned_1 as
with crowding as (
    select row_id, draw, value, bucket, person
    from anon_scratch.main.owned_1
    qualify row_number() over (partition by bucket, person order by draw, row_id) > 1
),
total as (select count(*) as n from anon_scratch.main.owned_1),
tried as (
    select
        c.row_id, c.bucket, c.value, c.person,
        o.row_id as other_row, o.bucket as other_bucket, o.value as other_value, o.person as other_person,
        md5_number_lower(concat(hex(c.draw), ':swap ', t.n, ' ', i.j)) as priority
    from crowding c
    cross join anon_scratch.main.swap_turn_1 t
    cross join range(16) i(j)
    cross join total
    join anon_scratch.main.owned_1 o
        on o.seat = 1 + md5_number_lower(concat(hex(c.draw), ':seat ', t.n, ' ', i.j)) % total.n
    where o.bucket <> c.bucket and o.person <> c.person
),
known as (
    select bucket, count(*) filter (where value > 0) as n from anon_scratch.main.owned_1 group by bucket
),
fitting as (
    select t.*
    from tried t
    -- the bucket that would give a value for a NULL
    join known k on k.bucket = case when t.value > 0 then t.bucket else t.other_bucket end
    where ((t.value > 0) = (t.other_value > 0) or k.n > 2)
        and not exists (
            select 1 from anon_scratch.main.owned_1 x
            where x.bucket = t.other_bucket and x.row_id <> t.other_row
                and (x.person = t.person or (x.value = t.value and t.value > 0 and t.value <> t.other_value))
        )
        and not exists (
            select 1 from anon_scratch.main.owned_1 x
            where x.bucket = t.bucket and x.row_id <> t.row_id
                and (x.person = t.other_person or (x.value = t.other_value and t.other_value > 0 and t.value <> t.other_value))
        )
),
sides as (
    select bucket as place, priority, row_id, other_row from fitting
    union all
    select other_bucket, priority, row_id, other_row from fitting
),
first_sides as (
    select place, row_id, other_row
    from sides
    qualify row_number() over (partition by place order by priority, row_id, other_row) = 1
),
agreed as (
    select row_id, other_row from first_sides group by row_id, other_row having count(*) = 2
),
moved as (
    select a.row_id, o.bucket
    from agreed a join anon_scratch.main.owned_1 o on o.row_id = a.other_row
    union all
    select a.other_row, o.bucket
    from agreed a join anon_scratch.main.owned_1 o on o.row_id = a.row_id
)
select p.row_id, p.draw, p.value, coalesce(m.bucket, p.bucket) as bucket, p.person, p.seat
from anon_scratch.main.owned_1 p
left join moved m on m.row_id = p.row_id
-- lgb_promoted_persons, swap cells of ill: {% if layers %}
        -- buckets that are judged by their distribution keep it
        and o.value = c.value

-- mondrian_recursive, nodes of zip: For every extent that occurs, the lowest node of the hierarchy that covers it, and its published form.
create or replace table anon_scratch.main.labels_2 as
with extents as (
    select distinct lo2 as low, hi2 as high
    from anon_scratch.main.boxes
    where lo2 < hi2
),
shared as (
    select e.low, e.high, l.level, l.node
    from extents e
    join anon_scratch.main.domain_2 dl on dl.code = e.low
    join anon_scratch.main.domain_2 dh on dh.code = e.high
    join anon_scratch.main.hierarchy_2 l on l.value = dl.value
    join anon_scratch.main.hierarchy_2 h on h.value = dh.value and h.level = l.level and h.node = l.node
    qualify row_number() over (partition by e.low, e.high order by l.level) = 1
)
select l.low, l.high, s.label as cell
from shared l
join anon_scratch.main.shown_2 s on s.level = l.level and s.node = l.node

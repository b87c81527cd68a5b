-- several_tables_everybody_reserved, place rows, step 0: Place the rows whose cells on this step have enough persons. A cell that lacks some borrows rows of other persons that are placed on a lower step below it, where that loses less than raising all its rows, and the cells that lend keep enough. What has no further step is suppressed.
create or replace table anon_scratch.main.known_rows as
with here as materialized (
    select
        k.class_id, k.person, l.cell,
        coalesce(u.lost, cast(l.columns * 4000000000000 as bigint)) - l.lost as spared
    from anon_scratch.main.known_rows k
    join anon_scratch.main.ladders l on l.tuple = k.tuple and l.step = 0
    left join anon_scratch.main.ladders u on u.tuple = k.tuple and u.step = 1
    where k.step is null
),
sizes as materialized (
    select class_id, cell, count(distinct person) as persons, cast(sum(spared) as hugeint) as spared
    from here
    group by class_id, cell
),
judged as (
    select
        k.*, l.cell as cell_here,
        case
            when k.step is null then coalesce(s.persons >= 3, false)
            else false
        end as placed
    from anon_scratch.main.known_rows k
    left join anon_scratch.main.ladders l on l.tuple = k.tuple and l.step = 0
    left join sizes s on k.step is null and s.class_id = k.class_id and s.cell = l.cell
)
select * exclude (cell_here, placed) replace (
    case when placed then 0 when step is null and top = 0 then 1 else step end as step,
    case when placed then cell_here else cell end as cell
)
from judged
-- several_tables_everybody_reserved, place rows, step 1: {% if lending %}
short as (
    select class_id, cell, 3 - persons as wanted, spared
    from sizes
    where persons < 3
),
present as (
    select distinct class_id, cell, person from here
),
below as materialized (
    select k.class_id, k.person, k.cell as lower_cell, s.cell, s.wanted, s.spared, l.lost - o.lost as lost
    from anon_scratch.main.known_rows k
    join anon_scratch.main.ladders l on l.tuple = k.tuple and l.step = 1
    join short s on s.class_id = k.class_id and s.cell = l.cell
    join anon_scratch.main.ladders o on o.tuple = k.tuple and o.step = k.step
    where k.step < 1
),
lenders as (
    select class_id, lower_cell, count(distinct person) - 3 as extra
    from below
    group by class_id, lower_cell
),
offers as (
    select b.class_id, b.cell, b.lower_cell, b.person, b.wanted, b.spared, e.extra, cast(sum(b.lost) as hugeint) as lost
    from below b
    join lenders e on e.class_id = b.class_id and e.lower_cell = b.lower_cell
    anti join present p on p.class_id = b.class_id and p.cell = b.cell and p.person = b.person
    where e.extra > 0
    group by all
),
single as (
    select * from offers
    qualify row_number() over (partition by class_id, cell, person order by lost, lower_cell) = 1
),
affordable as (
    select * from single
    qualify row_number() over (partition by class_id, lower_cell order by lost, person) <= extra
),
enough as (
    select * from affordable
    qualify row_number() over (partition by class_id, cell order by lost, person) <= wanted
),
helped as materialized (
    select class_id, cell
    from enough
    group by class_id, cell
    having count(*) = max(wanted) and sum(lost) < max(spared)
),
lent as materialized (
    select e.class_id, e.lower_cell, e.person
    from enough e
    join helped h on h.class_id = e.class_id and h.cell = e.cell
),
or h.cell is not null  -- several_tables_everybody_reserved, place rows, step 1: when k.step is null then coalesce(s.persons >= {{ least | lit }}{% if lending %} or h.cell is not null{% endif %}, false)
t.person is not null  -- several_tables_everybody_reserved, place rows, step 1: else {% if lending %}t.person is not null{% else %}false{% endif %}
-- several_tables_everybody_reserved, place rows, step 1: {% if lending %}
    left join helped h on k.step is null and h.class_id = k.class_id and h.cell = l.cell
    left join lent t on k.step is not null and t.class_id = k.class_id and t.lower_cell = k.cell and t.person = k.person

-- several_tables_two_events, rows to raise: Of every person who holds broken sets, in classes where no cell is raised as a whole: the cell that is in most of them, with the rows of it that may stay.
create or replace table anon_scratch.main.raised_items as
with sets as (
    select row_number() over () as number, b.* from anon_scratch.main.broken_sets b
    anti join anon_scratch.main.raised_cells r on r.class_id = b.class_id
),
parts as (
    select number, class_id, cell, count(*) as multiplicity
    from (
        select number, class_id, one as cell from sets
        union all
        select number, class_id, two from sets where two is not null
        union all
        select number, class_id, three from sets where three is not null
    )
    group by number, class_id, cell
),
lengths as (
    select number, count(*) as cells from parts group by number
),
held_parts as (
    select p.number, p.class_id, p.cell, p.multiplicity, h.person, h.room
    from parts p
    join anon_scratch.main.held_cells h on h.class_id = p.class_id and h.cell = p.cell and h.n >= p.multiplicity
),
holders as (
    select h.number, h.person
    from held_parts h
    join lengths l on l.number = h.number
    group by h.number, h.person, l.cells
    having count(*) = l.cells
),
sizes as (
    select class_id, cell, count(*) as persons from anon_scratch.main.held_cells group by class_id, cell
),
grades as (
    select p.class_id, p.person, p.cell, max(p.room) as room, count(*) as broken, min(p.multiplicity) - 1 as stay
    from held_parts p
    join holders h on h.number = p.number and h.person = p.person
    group by p.class_id, p.person, p.cell
)
select g.class_id, g.person, g.cell, g.stay
from grades g
join sizes s on s.class_id = g.class_id and s.cell = g.cell
qualify row_number() over (partition by g.class_id, g.person order by g.room = 0, g.broken desc, s.persons, g.cell) = 1

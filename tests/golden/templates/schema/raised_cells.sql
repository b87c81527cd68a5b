-- several_tables_two_events, cells to raise: The cells that are raised as a whole: of every broken set the one with the most steps left, then the one of the fewest persons. On the last step before the root rows are raised one by one.
create or replace table anon_scratch.main.raised_cells as
with sets as (
    select row_number() over () as number, * from anon_scratch.main.broken_sets
),
parts as (
    select number, class_id, one as cell, two is null as single from sets
    union
    select number, class_id, two, false from sets where two is not null
    union
    select number, class_id, three, false from sets where three is not null
),
sizes as (
    select h.class_id, h.cell, count(*) as persons, max(h.room) as room
    from anon_scratch.main.held_cells h
    semi join parts p on p.class_id = h.class_id and p.cell = h.cell
    group by h.class_id, h.cell
),
chosen as (
    select p.class_id, p.cell, p.single, s.room
    from parts p
    join sizes s on s.class_id = p.class_id and s.cell = p.cell
    qualify row_number() over (partition by p.number order by s.room desc, s.persons, p.cell) = 1
)
select distinct class_id, cell from chosen where single or room > 1

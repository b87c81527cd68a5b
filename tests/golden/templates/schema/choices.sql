-- several_tables_three_events, sets of rows: Every set of rows that may be known, with the persons who hold it, in the classes where no set has too few persons.
create or replace table anon_scratch.main.choices as
with sound as materialized (
    select h.* from anon_scratch.main.held_cells h
    anti join anon_scratch.main.broken_sets b on b.class_id = h.class_id
),
sets as (
    select class_id, cell as one, cast(null as bigint) as two, cast(null as bigint) as three, person from sound
    union all
    select class_id, cell, cell, null, person from sound where n >= 2
    union all
    select a.class_id, a.cell, b.cell, null, a.person
    from sound a
    join sound b on b.class_id = a.class_id and b.person = a.person and b.cell > a.cell
    union all
    select class_id, cell, cell, cell, person from sound where n >= 3
    union all
    select a.class_id, a.cell, a.cell, b.cell, a.person
    from sound a
    join sound b on b.class_id = a.class_id and b.person = a.person and b.cell <> a.cell
    where a.n >= 2
    union all
    select a.class_id, a.cell, b.cell, c.cell, a.person
    from sound a
    join sound b on b.class_id = a.class_id and b.person = a.person and b.cell > a.cell
    join sound c on c.class_id = a.class_id and c.person = a.person and c.cell > b.cell
)
select *, dense_rank() over (order by class_id, one, two, three) as candidates from sets

-- several_tables_three_events, sets of rows: Every set of rows that may be known, with the persons who hold it, in the classes where no set has too few persons.
create or replace table anon_scratch.main.choices as
with sound as materialized (
    select h.* from anon_scratch.main.held_cells h
    anti join anon_scratch.main.broken_sets b on b.class_id = h.class_id
),
sets as (
    select class_id, cell as one, cast(null as bigint) as two, cast(null as bigint) as three, person from sound
    -- 6 lines of the template, 229a4945
    -- 12 lines of the template, 35f76b95
)
select *, dense_rank() over (order by class_id, one, two, three) as candidates from sets

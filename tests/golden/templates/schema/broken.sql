-- several_tables_two_events, sets of too few persons: The sets of rows that too few persons of a class hold: single cells first; of the classes without any, pairs of cells, equal ones among them; of those without any, sets of three.
create or replace table anon_scratch.main.broken_sets as
with singles as materialized (
    select class_id, cell
    from anon_scratch.main.held_cells
    group by class_id, cell
    having count(*) < 3
),
sound as materialized (
    select h.* from anon_scratch.main.held_cells h
    anti join singles s on s.class_id = h.class_id
),
pairs as materialized (
    select class_id, cell as one, cell as two
    from sound
    group by class_id, cell
    having count(*) filter (where n >= 2) between 1 and 2
    union all
    select a.class_id, a.cell, b.cell
    from sound a
    join sound b on b.class_id = a.class_id and b.person = a.person and b.cell > a.cell
    group by a.class_id, a.cell, b.cell
    having count(*) < 3
)
select class_id, cell as one, cast(null as bigint) as two, cast(null as bigint) as three from singles
union all
select class_id, one, two, null from pairs
-- several_tables_three_events, sets of too few persons: ){% endif %}{% if events > 2 %},
,
sounder as materialized (
    select h.* from sound h
    anti join pairs p on p.class_id = h.class_id
),
threes as (
    select class_id, cell as one, cell as two, cell as three
    from sounder
    group by class_id, cell
    having count(*) filter (where n >= 3) between 1 and 2
    union all
    select a.class_id, a.cell, a.cell, b.cell
    from sounder a
    join sounder b on b.class_id = a.class_id and b.person = a.person and b.cell <> a.cell
    where a.n >= 2
    group by a.class_id, a.cell, b.cell
    having count(*) < 3
    union all
    select a.class_id, a.cell, b.cell, c.cell
    from sounder a
    join sounder b on b.class_id = a.class_id and b.person = a.person and b.cell > a.cell
    join sounder c on c.class_id = a.class_id and c.person = a.person and c.cell > b.cell
    group by a.class_id, a.cell, b.cell, c.cell
    having count(*) < 3
)
-- several_tables_three_events, sets of too few persons: {% if events > 2 %}
union all
select class_id, one, two, three from threes

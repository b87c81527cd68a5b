-- several_tables_everybody_reserved, loss of events: The loss of the events of every open class if it stays whole: values of too few persons are generalized step by step, and suppressed if the last step does not suffice.
create or replace table anon_scratch.main.event_costs as
with
here0 as materialized (
    select o.class_id, i.person, i.tuple, i.n, l.cell, l.lost, l.top, l.columns
    from anon_scratch.main.open_units o
    join anon_scratch.main.items i on i.unit = o.unit
    join anon_scratch.main.ladders l on l.tuple = i.tuple and l.step = 0
),
cells0 as materialized (
    select class_id, cell, cast(sum(n * lost) as hugeint) as lost, count(*) >= 3 as held
    from here0
    group by class_id, cell
),
pending0 as materialized (
    select h.class_id, h.person, h.tuple, h.n, h.top, h.columns
    from here0 h
    join cells0 c on c.class_id = h.class_id and c.cell = h.cell
    where not c.held
),
here1 as materialized (
    select p.class_id, p.person, p.tuple, p.n, l.cell, l.lost, l.top, l.columns
    from pending0 p
    join anon_scratch.main.ladders l on l.tuple = p.tuple and l.step = 1
),
cells1 as materialized (
    select class_id, cell, cast(sum(n * lost) as hugeint) as lost, count(distinct person) >= 3 as held
    from here1
    group by class_id, cell
),
pending1 as materialized (
    select h.class_id, h.person, h.tuple, h.n, h.top, h.columns
    from here1 h
    join cells1 c on c.class_id = h.class_id and c.cell = h.cell
    where not c.held
),
-- 4 more turns, c50ff068
here6 as materialized (
    select p.class_id, p.person, p.tuple, p.n, l.cell, l.lost, l.top, l.columns
    from pending5 p
    join anon_scratch.main.ladders l on l.tuple = p.tuple and l.step = 6
),
cells6 as materialized (
    select class_id, cell, cast(sum(n * lost) as hugeint) as lost, count(distinct person) >= 3 as held
    from here6
    group by class_id, cell
),
pending6 as materialized (
    select h.class_id, h.person, h.tuple, h.n, h.top, h.columns
    from here6 h
    join cells6 c on c.class_id = h.class_id and c.cell = h.cell
    where not c.held
),
lost as (
    select class_id, lost from cells0 where held
    union all
    select class_id, cast(n * columns as hugeint) * 4000000000000 from pending0 where top = 0
    union all
    select class_id, lost from cells1 where held
    union all
    select class_id, cast(n * columns as hugeint) * 4000000000000 from pending1 where top = 1
    union all
-- 4 more turns, 2527a409
    select class_id, lost from cells6 where held
    union all
    select class_id, cast(n * columns as hugeint) * 4000000000000 from pending6 where top = 6
-- 4 lines of the template, 0f13a5ac

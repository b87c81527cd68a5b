-- several_tables_two_events, raise: Raise rows of classes with broken sets by one step; above the root they are suppressed.
create or replace table anon_scratch.main.known_rows as
with numbered as (
    select
        k.*,
        case when k.step <= k.top then row_number() over (partition by k.class_id, k.person, k.cell, k.step > k.top order by k.draw) end as copy
    from anon_scratch.main.known_rows k
    semi join anon_scratch.main.broken_sets b on b.class_id = k.class_id
),
marked as (
    select k.*, k.step <= k.top and (c.cell is not null or coalesce(k.copy > i.stay, false)) as goes
    from numbered k
    left join anon_scratch.main.raised_cells c on c.class_id = k.class_id and c.cell = k.cell
    left join anon_scratch.main.raised_items i on i.class_id = k.class_id and i.person = k.person and i.cell = k.cell
)
select m.* exclude (copy, goes) replace (
    case when goes then m.step + 1 else m.step end as step,
    case when goes then l.cell else m.cell end as cell
)
from marked m
left join anon_scratch.main.ladders l on m.goes and l.tuple = m.tuple and l.step = m.step + 1

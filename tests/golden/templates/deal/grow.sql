-- mondrian_dealt_driven, deal units: More units for the classes that grow in every block.
create or replace table anon_scratch.main.deal_grown as
select * from anon_scratch.main.deal_grown where taken
union all (
    with open as (
    select unit, cell, turn, w1, l1, h1
    from anon_scratch.main.deal_grown
    -- 7 lines as in templates/deal/groups.sql, mondrian_dealt, deal classes
    from anon_scratch.main.deal_grown g
    -- 84 lines as in templates/deal/groups.sql, mondrian_dealt, deal classes
from anon_scratch.main.deal_grown g
join state n on n.block = g.cell >> 24 and n.slot = g.slot
left join picked p on p.cell = g.cell and p.slot = g.slot
where g.slot is not null and not g.taken

)

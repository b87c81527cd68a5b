-- hierarchy_export, hierarchy_1.export_table: A hierarchy as a wide table: the value, its label on every level, and bounds of ordered kinds.
create or replace table "kept" as
select
    value
    , max(case when level = 1 then label end) as "level_1"
    , max(case when level = 2 then label end) as "level_2"
    , max(case when level = 1 then lo end) as "lo_1"
    , max(case when level = 1 then hi end) as "hi_1"
    , max(case when level = 2 then lo end) as "lo_2"
    , max(case when level = 2 then hi end) as "hi_2"
from anon_scratch.main.hierarchy_1
group by value, leaf
order by leaf

-- mondrian_dealt_driven, units to deal: The units of every block, none of which has a new class yet.
create or replace table anon_scratch.main.deal_grown as
select
    -- 14 lines as in templates/deal/groups.sql, mondrian_dealt, deal classes

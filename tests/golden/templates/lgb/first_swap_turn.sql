-- lgb_persons, no swaps of ill yet: The start, before any round of swaps.
create or replace table anon_scratch.main.swap_turn_1 as
select cast(0 as bigint) as n

-- lgb_persons, count the round: The next round of swaps.
create or replace table anon_scratch.main.swap_turn_1 as
select n + 1 as n from anon_scratch.main.swap_turn_1

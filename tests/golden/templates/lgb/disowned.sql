-- lgb_persons, buckets of ill without repeated persons: The assigned cells after the swaps.
create or replace table anon_scratch.main.placed_1 as
select row_id, draw, value, bucket from anon_scratch.main.owned_1

-- msb_exact_mbf, scale: Scale 1: every record stands for itself, and all of them are one block.
create or replace table anon_scratch.main.msb_scale as
select cast(1 as bigint) as q, cast(4611686018427387904 as bigint) as most, cast(1 as bigint) as blocks

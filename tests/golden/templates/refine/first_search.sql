-- mondrian_refine, searches begin: The initial state: as if a search before the first had saved everything.
create or replace table anon_scratch.main.refine_rounds as
select 0 as number, cast(0 as bigint) as swaps, cast(2 as bigint) as saved, cast(1 as bigint) as lost

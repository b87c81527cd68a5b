-- several_tables_three_events, rows left out so far: The rows that are left out so far: those of the rounds before, and those that are suppressed now.
create or replace table anon_scratch.main.left_out as
select source, row_ref from anon_scratch.main.removed_rows
union all
select source, row_ref from anon_scratch.main.known_rows where step > top
union all
select source, row_ref from anon_scratch.main.placed_rows where step > top

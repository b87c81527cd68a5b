-- several_tables_two_events, rows of labs with persons: The rows of a table that reach a person of the source, published or not.
create or replace table anon_scratch.main.reached_2 as
select r.* from anon_scratch.main.read_2 r
semi join anon_scratch.main.read_1 a on a.own = r.link

-- several_tables_two_events, sets left: How many sets of rows have too few persons.
select count(*) from anon_scratch.main.broken_sets

-- several_tables_two_events, persons with rare numbers: How many persons have numbers of rows that too few others of their class have.
-- 21 lines as in templates/schema/hanging.sql, several_tables_two_events, rows that do not count

select count(*) from rare

-- privacyfrost_suppressing, more tables that fail: The tables of this step that failed so that all finer ones do.
insert into anon_scratch.main.search_failed
-- 4 lines as in templates/privacyfrost/first_failures.sql, privacyfrost_suppressing, tables that fail

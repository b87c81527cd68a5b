-- append_only, still told apart: How many patterns of releases have fewer than k candidates left.
-- 9 lines as in templates/republish/thin.sql, append_only, leave out

select count(*) from candidates where n < 2

-- several_tables_everybody_reserved, rows of visits: The rows of a table that reach a person who may be published, with the rows they hang on.
create or replace table anon_scratch.main.rows_1 as
select r.*, a.rowid as above, a.rowid as person
from anon_scratch.main.read_1 r
join anon_scratch.main.snapshot a on a.identity = r.link
, a.identity as person_key  -- several_tables_masked, rows of visits: {% if keyed %}
, a.identity as per_o100001  -- several_tables_masked, rows of visits: {% for name in shifts %}
-- 3 branches as in the template, 45eed86b

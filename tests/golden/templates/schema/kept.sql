-- several_tables, rows of visits: The rows of a table that reach a person who may be published, with the rows they hang on.
create or replace table anon_scratch.main.rows_1 as
select r.*, a.rowid as above, a.rowid as person
from anon_scratch.main.read_1 r
join anon_scratch.main.snapshot a on a.identity = r.link
a.person  -- several_tables, rows of labs: select r.*, a.rowid as above, {% if persons %}a.rowid{% else %}a.person{% endif %} as person ... {% else %}

-- several_tables_everybody_reserved, rows of visits: The rows of a table that reach a person who may be published, with the rows they hang on.
create or replace table anon_scratch.main.rows_1 as
select r.*, a.rowid as above, a.rowid as person
from anon_scratch.main.read_1 r
join anon_scratch.main.snapshot a on a.identity = r.link
a.person  -- several_tables_everybody_reserved, rows of labs: select r.*, a.rowid as above, {% if persons %}a.rowid{% else %}a.person{% endif %} as person ... {% else %}
, a.identity as person_key  -- several_tables_masked, rows of visits: {% if keyed %}
, a.identity as per_o100001  -- several_tables_masked, rows of visits: {% for name in shifts %}
a.person_key  -- several_tables_masked, rows of labs: , {% if persons %}a.identity{% else %}a.person_key{% endif %} as person_key ... {% else %}
a.person_key  -- several_tables_masked, rows of labs: , {% if persons %}a.identity{% else %}a.person_key{% endif %} as {{ name }} ... {% else %}

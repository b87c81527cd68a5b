where (select count(*) from anon_scratch.main.units) <= 8  -- mondrian_parts, least loss of any classes: ) s{% if most_units %}

-- ledger_tables, ledger members_of_rows: What the rows of the further tables add to the members: values and pseudonyms of their persons.
insert into anon_scratch.main.ledger_members
select distinct
    r.person,
    m.class_id
    , cast(null as bigint)
    , false
    , r.t2
    , r.t3
from anon_scratch.main.ledger_rows r
join anon_scratch.main.ledger_members m on m.person = r.person
where r.t2 is not null or r.t3 is not null
r.marks is not null  -- ledger_tables_two_events, ledger members_of_rows: where {% if further_marks %}r.marks is not null{% if further_facets %} or {% endif %}{% endif %}{% for f in further_facets %}r.{{ f.truth }} is not null{% if not loop.last %} or {% endif %}{% endfor %}
-- 2 branches as in the template, ca5acf87

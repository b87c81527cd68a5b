-- mondrian_persons, rows that may be published: The rows that may be published: rows with a NULL in a column whose NULLs are suppressed are removed, and so are all rows of their persons, since a person is published completely or not at all.
create or replace table anon_scratch.main.snapshot as
select s.*
from anon_scratch.main.read_rows s
where not exists (
    select 1
    from anon_scratch.main.read_rows other
    where other.person = s.person and (other.q1 is null or other.q3 is null)
)
where s.q1 is not null and s.q3 is not null  -- mondrian_refine, rows that may be published: {% if persons_whole %} ... {% else %}

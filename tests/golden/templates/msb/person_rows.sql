-- msb_persons, rows of persons: All rows of the persons who are in groups, under the number of their group.
create or replace table anon_scratch.main.coded as
select r.*, g.group_number
from anon_scratch.main.coded r
join anon_scratch.main.msb_records g on g.person = r.person

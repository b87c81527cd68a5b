-- msb_persons, one record per person: One row of every person, the first in drawn order: its values are those of all rows of the person.
create or replace table anon_scratch.main.msb_records as
select r.*
from anon_scratch.main.coded r
join (select min(draw) as draw from anon_scratch.main.coded group by person) f on f.draw = r.draw

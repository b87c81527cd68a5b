-- mondrian_identity_reserved, value sets: The value set of every person who has a value, S(p).
create or replace table anon_scratch.main.held_sets as
select unit, col, list(value order by value) as codes
from anon_scratch.main.holdings
where value > 0
group by unit, person, col

-- several_tables_everybody_reserved, numbers of persons: Every person of the release with the tuple of the quasi-identifiers; persons are numbered in the secret order of their draws.
create or replace table anon_scratch.main.owners as
select r.row_ref as owner, u.unit, row_number() over (order by r.draw, r.row_ref) as person
from anon_scratch.main.coded r
join anon_scratch.main.units u on u.t1 = r.t1

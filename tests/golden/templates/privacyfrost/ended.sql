-- privacyfrost_suppressing, best table: The table that the search ended with.
create or replace table anon_scratch.main.search_state as
select
    unnest([0, 1]) as attribute,
    unnest([b1, b2]) as depth
from anon_scratch.main.search_standing

-- masks, plain letters: How many different values have letters besides a to z, which no token of their form could hide.
select n
from (
    select count(distinct cast(k1 as varchar)) as n
    from anon_scratch.main.raw_rows
    where regexp_matches(cast(k1 as varchar), '[^ -~]')
)
where n > 0

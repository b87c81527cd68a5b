-- mondrian_parts, places of a part: The places in the domains of all codes that a part has. Shares and sizes are those of the whole table, so that losses are the same as there.
with mine as (
    select c1, c2 from anon_scratch.main.units where unit between $first and $last
),
codes as (
    select 1 as attribute, c1 as code from mine group by c1
    union
    select 2 as attribute, c2 as code from mine group by c2
    union
    -- the size of a domain is read at its first place, whichever codes the part has
    select attribute, 1 from anon_scratch.main.positions
)
select p.*
from anon_scratch.main.positions p
join codes c on c.attribute = p.attribute and c.code = p.code

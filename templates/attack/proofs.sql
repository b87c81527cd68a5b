-- name: linked
-- The candidates left to observers who know a person's class and rows that belong together: one row
-- with the rows above it, or two with those above them, and which of these the two share. For each
-- observer how many persons have no other candidate, how many have fewer than k, and the expected
-- share found. The rows of a person that leave the fewest candidates count.
-- parameters: tables that are reached, with the columns of their events; events: 2; k
{% from "verify/_owned" import owned with context %}
{% from "verify/_chosen" import chosen, chosen_columns with context %}
with {{ owned() }},
{{ chosen() }},
remaining as materialized (
    select person, source2 is null as single, count(*) over (partition by {{ chosen_columns() }}) as candidates
    from chosen
),
found as (
    select 1 as number, 'one event, and the rows above it' as observer, person, min(candidates) filter (where single) as candidates
    from remaining
    group by person
    union all
    select 2, 'two events, and how their rows belong together', person, min(candidates)
    from remaining
    group by person
)
select
    observer,
    count(*) as persons,
    count(*) filter (where candidates = 1) as alone,
    count(*) filter (where candidates < {{ k | lit }}) as below,
    cast(min(candidates) as bigint) as fewest,
    round(avg(1.0 / candidates), 9) as found
from found
group by number, observer
order by number

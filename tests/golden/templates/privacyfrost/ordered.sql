-- privacyfrost_suppressing, best of them: The tables of this step, the one to go on with first: as without suppression, but a table that holds has the score of what it publishes.
create or replace table anon_scratch.main.search_ordered as
with found as (
    select
        g.node,
        g.place
        , g.d1
        , g.d2
        , g.m0
        , g.m1
        , case when v.holds then v.score else g.score end as score
        , case when v.holds then v.weight else g.weight end as weight
        , g.better as tried
        , coalesce(v.holds, false) as holding
        , v.number is not null as seen
        , v.broken
    from anon_scratch.main.search_tables g
    left join anon_scratch.main.search_scored v on v.number = g.number
),
judged as (
    select
        f.*,
        f.tried and (f.score > s.score or (f.score = s.score and f.weight > s.weight)) as better
    from found f
    cross join anon_scratch.main.search_standing s
)
select
    j.node,
    j.place
    , j.d1
    , j.d2
    , j.m0
    , j.m1
    , j.score
    , j.weight
    , j.better
    , j.better and j.holding as holds
    , j.seen
    , j.broken
    , row_number() over (
        order by j.better desc, s.phase <> 'second top-down' and not j.holding, j.score desc, j.weight desc, j.place
    ) as choice
from judged j
cross join anon_scratch.main.search_standing s

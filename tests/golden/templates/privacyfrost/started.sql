-- privacyfrost_suppressing, start: The verdicts of the pre-computation; the search starts from the finest table that holds.
create or replace table anon_scratch.main.search_start as
select
    'pre-computation' as phase,
    g.place
    , g.d1
    , g.d2
    , g.m0
    , g.m1
    , case when v.holds then v.score else g.score end as score
    , case when v.holds then v.weight else g.weight end as weight
    , coalesce(v.holds, false) as holds
    , v.number is not null as seen
    , coalesce(s.small, g.single) as small
    , case when v.number is null then 0 else v.broken end as broken
    , coalesce(v.holds, false) and g.place = min(g.place) filter (where v.holds) over () as chosen
from anon_scratch.main.search_tables g
left join anon_scratch.main.search_scored v on v.number = g.number
left join anon_scratch.main.lattice_screened s on s.number = g.number

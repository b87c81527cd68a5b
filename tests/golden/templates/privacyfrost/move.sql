-- privacyfrost_suppressing, go on: Where the search goes on, as its recursive statement does.
create or replace table anon_scratch.main.search_standing as
with moved as (
    select
        s.*,
        c.node is not null and c.holds as adopted,
        c.node is not null as moved,
        case
            when c.node is null and s.phase = 'bottom-up' and s.spare then 'top-down'
            when c.node is null then 'end'
            when not c.holds then 'bottom-up'
            when s.phase = 'top-down' then 'top-down'
            else 'second top-down'
        end as next_phase,
        -- a finer table that holds was passed over: it is taken if the way back up finds none
        case when s.phase = 'bottom-up' then s.spare else coalesce(o.any_holds, false) end as next_spare,
        c.score as chosen_score,
        c.weight as chosen_weight
        , c.d1 as chosen_1
        , c.d2 as chosen_2
    from anon_scratch.main.search_standing s
    left join (select * from anon_scratch.main.search_ordered where choice = 1 and better) c on true
    left join (select bool_or(holds) as any_holds from anon_scratch.main.search_ordered) o on true
)
select
    round + 1 as round,
    next_phase as phase
    , case when adopted then chosen_1 else b1 end as b1
    , case when moved then chosen_1 else b1 end as d1
    , case when adopted then chosen_2 else b2 end as b2
    , case when moved then chosen_2 else b2 end as d2
    , case when adopted then chosen_score else score end as score
    , case when adopted then chosen_weight else weight end as weight
    , next_spare as spare
from moved

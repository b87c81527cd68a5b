-- mondrian_refine_driven, grow classes: One more unit for the class that grows in every block.
create or replace table anon_scratch.main.refine_grown as
select * from anon_scratch.main.refine_grown where taken
union all (
    with open as (
    select
        g.*
, (g.w1 | g.gw1) as jw1, least(g.l1, g.gl1) as jl1, greatest(g.h1, g.gh1) as jh1

    from anon_scratch.main.refine_grown g
    where not taken
),
scored as (
    select
        *,
        case when size = 0 then turn else (
            greatest(jh1 - jl1, 0) + cast((cast(bit_count(jw1 & 511) as integer)) as bigint) * least((cast(bit_count(jw1 & 511) as integer)) - 1, 1) * 1250000

        ) * 16384 + turn end as score
    from open
),
best as (
    select block, min(score) as score from scored group by block
),
picked as (
    select s.*, case when s.size + s.n >= 2 then 1 else 0 end as closes
    from scored s
    join best b on b.block = s.block and b.score = s.score
)
select
    s.unit, s.block, s.n, s.turn, p.left_over - p.n as left_over,
    p.grp + case when p.size = 0 then 1 else 0 end as grp,
    s.turn = p.turn as taken,
    case when p.closes = 1 then 0 else p.size + p.n end as size

, s.w1, case when p.closes = 1 then 0 else p.jw1 end as gw1, s.l1, case when p.closes = 1 then 40000000 else p.jl1 end as gl1, s.h1, case when p.closes = 1 then -40000000 else p.jh1 end as gh1
from scored s
join picked p on p.block = s.block
where s.turn = p.turn or p.closes = 0 or p.left_over - p.n >= 2

)

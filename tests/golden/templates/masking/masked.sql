-- masks, mask the columns: The rows with their masked columns, and the originals of these for the verification.
create or replace table anon_scratch.main.snapshot as
select
    case when case when r.q1 < cast(18 as INTEGER) then cast(18 as INTEGER) else r.q1 end > (select min(v) from (select v from (select max(q1) as v from anon_scratch.main.raw_rows where q1 is not null group by person) as own order by v desc limit 4) as beyond) then (select min(v) from (select v from (select max(q1) as v from anon_scratch.main.raw_rows where q1 is not null group by person) as own order by v desc limit 4) as beyond) else case when r.q1 < cast(18 as INTEGER) then cast(18 as INTEGER) else r.q1 end end as q1,
    r.s1 as s1,
-- 18 more turns, 32a68a4f
    r.k5 as o7
from (
    select
        q1,
        s1,
-- 11 more turns, fb5733ca
        held_2,
        md5(concat(identity, ':', row_number() over (partition by identity))) as identity
    from anon_scratch.main.raw_rows
) r
left join anon_scratch.main.found_o6 found_o6 on found_o6.text = r.k4
left join anon_scratch.main.tokens_run like_o1 on like_o1.value = cast(r.k1 as varchar)
-- 1 branch as in the template, 8bbc56ac

-- append_only, classes for the last few: The units without a class, if they are too few for one of their own, each with the earlier class that grows least by taking it.
create or replace table anon_scratch.main.nearest as
with placed as (
    select u.unit, u.lineage, u.n, case when u.c1 = 0 then -1 else coalesce(d1.share, 0) end as p1, case when u.c2 = 0 then -1 else coalesce(d2.share, 0) end as p2
    from anon_scratch.main.all_units u
    join anon_scratch.main.domain_1 d1 on d1.code = u.c1
    join anon_scratch.main.domain_2 d2 on d2.code = u.c2
),
boxes as (
    select lineage, min(p1) as low1, max(p1) as high1, min(p2) as low2, max(p2) as high2
    -- 6 lines of the template, 3e5fe9a2
    where lineage = 0 and (select sum(n) from placed where lineage = 0) < 2
-- 5 lines of the template, fe4f7d31
        cast(round(1e9 * (greatest(b.low1 - l.p1, 0) + greatest(l.p1 - b.high1, 0) + greatest(b.low2 - l.p2, 0) + greatest(l.p2 - b.high2, 0))) as bigint) as price
    -- 6 lines of the template, 0e6c8a50

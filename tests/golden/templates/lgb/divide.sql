-- lgb_ncp, divide: Classes are divided into their two groups if both have k rows. If the cut may move, units are in one order: those of the first group before those of the second, each by how it leans.
create or replace table anon_scratch.main.sides as
-- 4 lines as in templates/lgb/grow.sql, lgb_ncp, grow
        -- 4 lines of lgb/_leaning.sql.j2, 74c6bb0d
                -- 5 lines as in templates/lgb/grow.sql, lgb_ncp, grow
            -- 8 lines of lgb/_leaning.sql.j2, 5a2bf485
        -- 6 lines as in templates/lgb/grow.sql, lgb_ncp, grow
    
-- 6 lines of lgb/_leaning.sql.j2, 56a04145
        select *, (before + n) * cast(round(100000000 * cast((coalesce(hi1 - lo1, 0)) + (case when null2 = 1 and lo2 is not null then (coalesce(hi2 - lo2, 0) * 2 + 1) / 3 else coalesce(hi2 - lo2, 0) end) + (case when c3 is not null then 0 when a3_1 is not null then z3_1 when a3_2 is not null then z3_2 when a3_3 is not null then z3_3 when a3_4 is not null then z3_4 else 1 end) as double)) as bigint) - before * loss_before as growth
        from (
            select *
            -- 5 lines of lgb/_leaning.sql.j2, 34ec1b1f
-- 9 lines of the template, ca92d63b
    join anon_scratch.main.dealt d on d.unit = l.unit
    -- 10 lines of the template, 8c5c6551
        where n_left >= 2 and n_all - n_left >= 2
    -- 6 lines of the template, f5b8d8d2
-- 1 branch as in the template, 01a6bf56

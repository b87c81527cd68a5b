-- masks, groups of persons: Columns that number groups of persons: how many there are, and how many of those that are large enough for a class have equal quasi-identifiers in all rows, which no other group has.
select
    g1.different as "meant.groups.0.different",
    g1.known as "meant.groups.0.known",
    g1.most as "meant.groups.0.most",
    g1.large as "meant.groups.0.large",
    g1.alike as "meant.groups.0.alike"
-- 5 lines as in plans/mondrian.sql, warnings about the source
            cast(coalesce(max(n), 0) as bigint) as most,
            count(*) filter (where n >= 2) as large,
            count(*) filter (where n >= 2 and tuples = 1 and sharing = 1) as alike
        -- 4 lines of the template, 0a873c6c
                    g1 as grp,
                    count(distinct person) as n,
                    count(*) over (partition by q1) as sharing
                from anon_scratch.main.snapshot
                where g1 is not null
                group by g1, q1
            ) as apart
            group by grp
        ) as sizes
    ) as g1
-- 2 branches as in the template, 29f9a1f0

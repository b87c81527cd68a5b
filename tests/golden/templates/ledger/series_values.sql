-- ledger_classes, ledger series_values: The persons in exposed groups whose values of one column break a rule by themselves. A group that has gone breaks every rule if its values are not known, or have changed.
with shown as (
    select distinct s.grp, s.earlier_grp, s.exposed, m.person, m.t1 as value
    from anon_scratch.main.ledger_members m
    join anon_scratch.main.ledger_series s on s.person = m.person
    where true
-- 6 lines of ledger/_groups.sql.j2, 8ab00563
    from "anon_ledger"."anonymizer_ledger"."group_values"
    where facet = 'ill'
    -- 12 lines of ledger/_groups.sql.j2, 67574aaa
),
exposed as (
    select person, grp, here from anon_scratch.main.ledger_series where exposed
-- 13 lines of the template, eeb96d10
broken as (
    select grp from layer_0 group by grp having not ((count(*) filter (where value > 0 and n > 0) >= 2))
    -- 5 lines of the template, d6ce7560
    join "anon_ledger"."anonymizer_ledger"."members" m on m.person = e.person
    where not e.here and m.release in (1, 2, null)
        -- 4 lines of the template, 1462194e
-- 1 branch as in the template, 2e759654

-- ledger_classes, ledger group_values: The values of the groups of persons that the new release makes: those in it, and those that it leaves of groups of earlier releases.
insert into "anon_ledger"."anonymizer_ledger"."group_values"
-- 5 lines as in templates/ledger/series_values.sql, ledger_classes, ledger series_values
-- 6 lines of ledger/_groups.sql.j2, 8ab00563
    from "anon_ledger"."anonymizer_ledger"."group_values"
    where facet = 'ill'
    -- 13 lines of ledger/_groups.sql.j2, f6739d6a
select 3, grp, 'ill', value, count(*)
from shown
group by grp, value
union all
select 3, grp, 'ill', value, greatest(n, 0)
from remaining
where grp in (select earlier_grp from anon_scratch.main.ledger_series where earlier_grp is not null group by earlier_grp having bool_or(here) and not bool_and(here))

-- ledger_tables, ledger row_numbers: Persons whom an observer who knows how many rows they have can single out from the releases together: fewer than k persons were in the same classes and had as many rows in every table.
-- 5 lines as in templates/ledger/events.sql, ledger_tables, ledger events
    -- 5 lines of ledger/_candidates.sql.j2, c97846b2
        -- 8 lines as in templates/ledger/events.sql, ledger_tables, ledger events
counted as (
    select 0 as place, person, source, count(*) as n
    from anon_scratch.main.ledger_rows where remembered
    group by person, source
    union all
    select 1 as place, person, source, count(*) as n
    from "anon_ledger"."anonymizer_ledger"."rows" where release = 1
    group by person, source
    union all
    select 2 as place, person, source, count(*) as n
    from "anon_ledger"."anonymizer_ledger"."rows" where release = 2
    group by person, source
),
numbers as (
    select person, list_sort(list(concat(n, ' ', source)) filter (where place = 0)) as e0, list_sort(list(concat(n, ' ', source)) filter (where place = 1)) as e1, list_sort(list(concat(n, ' ', source)) filter (where place = 2)) as e2
    -- 10 lines of the template, 268492d4
    where true or c.p1 or c.p2
    group by c.grp, m.e0, case when c.p1 then m.e1 end, case when c.p2 then m.e2 end
)
select
    (select count(*) from anon_scratch.main.ledger_seen) as persons,
    cast(coalesce(sum(told) filter (where persons < 3), 0) as bigint) as narrowed,
    min(persons) filter (where persons < 3 and told > 0) as fewest
from vectors

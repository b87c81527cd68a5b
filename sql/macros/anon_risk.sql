-- The risk that a row is recognised by somebody who knows the given columns of its person
-- (the prosecutor's risk: one divided by the size of the row's class; El Emam 2013).
--
-- tbl        name of a table or view
-- quasi      its quasi-identifiers, a list of columns
-- threshold  a row is at risk where its risk is above it, a fraction
-- returns    one row: rows, classes, uniques, highest (risk of a row), average (over the rows),
--            at_risk (rows above the threshold) and their share
-- empty      0, 0, 0, NULL, NULL, 0, NULL
--
-- example    from anon_risk('adult', ['age', 'sex', 'race'], threshold := 0.2);
create or replace temp macro anon_risk(tbl varchar, quasi varchar[], threshold := 0.2) as table
with source as (
    from query(
        _anon_query(
            'anon_risk',
            tbl,
            _anon_columns('anon_risk', 'quasi', quasi),
            _anon_row(quasi) || ' as q' || _anon_checked(_anon_share('anon_risk', 'threshold', threshold))
        )
    )
),
classes as (select count(*) as n from source group by q)
select
    cast(coalesce(sum(n), 0) as bigint) as rows,
    count(n) as classes,
    count(*) filter (where n = 1) as uniques,
    1 / cast(min(n) as double) as highest,
    count(n) / cast(nullif(sum(n), 0) as double) as average,
    cast(coalesce(sum(n) filter (where n * threshold < 1), 0) as bigint) as at_risk,
    coalesce(sum(n) filter (where n * threshold < 1), 0) / cast(nullif(sum(n), 0) as double) as share_at_risk
from classes;

comment on macro table anon_risk is
    'Re-identification risk by the given columns: from anon_risk(table, [columns], threshold := 0.2)';

-- ledger_tables, ledger rows: The published rows of the further tables, each with its person, with digests by which it is found again, and with its own values: by its key, and by its person and true events (`content`). What it looks like is digested with the run's secret, as it is compared within the release only.
create or replace table anon_scratch.main.ledger_rows as
with persons as (
    -- (a number of 128 bits takes long to be written as text)
    select rowid as row_ref, md5_number(concat($ledger_key, ':person:', identity)) as person, md5(concat($ledger_key, ':rows of:', identity)) as name
    from anon_scratch.main.snapshot
)
select
    p.person,
    'visits' as source,
    true as remembered,
md5_number(concat($ledger_key, ':row', ':6:visits:', o.own)) as by_key,
    md5_number(concat($ledger_key, ':event', ':6:visits:', p.name, concat(coalesce(strlen(cast(o.q100001 as varchar)), -1), ':', cast(o.q100001 as varchar), coalesce(strlen(cast(o.q100002 as varchar)), -1), ':', cast(o.q100002 as varchar)), row_number() over (partition by p.person, concat(coalesce(strlen(cast(o.q100001 as varchar)), -1), ':', cast(o.q100001 as varchar), coalesce(strlen(cast(o.q100002 as varchar)), -1), ':', cast(o.q100002 as varchar)) order by concat(coalesce(strlen(cast(l."day" as varchar)), -1), ':', cast(l."day" as varchar), coalesce(strlen(cast(l."ward" as varchar)), -1), ':', cast(l."ward" as varchar))))) as content,
    md5_number(concat($secret, ':cells', ':6:visits:', concat(coalesce(strlen(cast(l."day" as varchar)), -1), ':', cast(l."day" as varchar), coalesce(strlen(cast(l."ward" as varchar)), -1), ':', cast(l."ward" as varchar)))) as cells,
cast(null as uhugeint[]) as marks
    , cast(null as bigint) as t1
    , v2.value as t2
    , cast(null as bigint) as t3
from anon_scratch.main.link_1 l
join anon_scratch.main.rows_1 o on o.rowid = l."row_ref"
join persons p on p.row_ref = o.person
left join (
    select value, text as own from anon_scratch.main.ledger_numbered where facet = 'visits.diagnosis'
) v2 on v2.own = cast(o.s100001 as varchar)
union all
select
    p.person,
    'labs' as source,
    true as remembered,
cast(null as uhugeint) as by_key,
    md5_number(concat($ledger_key, ':event', ':4:labs:', p.name, concat(coalesce(strlen(cast(o.q200001 as varchar)), -1), ':', cast(o.q200001 as varchar)), row_number() over (partition by p.person, concat(coalesce(strlen(cast(o.q200001 as varchar)), -1), ':', cast(o.q200001 as varchar)) order by concat(coalesce(strlen(cast(l."test" as varchar)), -1), ':', cast(l."test" as varchar))))) as content,
    md5_number(concat($secret, ':cells', ':4:labs:', concat(coalesce(strlen(cast(l."test" as varchar)), -1), ':', cast(l."test" as varchar)))) as cells,
cast(null as uhugeint[]) as marks
    , cast(null as bigint) as t1
    , cast(null as bigint) as t2
    , v3.value as t3
from anon_scratch.main.link_2 l
join anon_scratch.main.rows_2 o on o.rowid = l."row_ref"
join persons p on p.row_ref = o.person
left join (
    select value, text as own from anon_scratch.main.ledger_numbered where facet = 'labs.value'
) v3 on v3.own = case when strpos(cast(o.s200001 as varchar), 'e') > 0 then case when abs(cast(cast(o.s200001 as varchar) as double)) < 9e18 and cast(cast(o.s200001 as varchar) as double) = floor(cast(cast(o.s200001 as varchar) as double)) then cast(cast(cast(cast(o.s200001 as varchar) as double) as bigint) as varchar) else cast(o.s200001 as varchar) end when strpos(cast(o.s200001 as varchar), '.') > 0 then rtrim(rtrim(cast(o.s200001 as varchar), '0'), '.') else cast(o.s200001 as varchar) end
cast([case when o.k100001 is not null then md5_number(concat($ledger_key, ':mark diagnosis:', cast(o.k100001 as varchar))) end] as uhugeint[])  -- ledger_tables_two_events, ledger rows: {% if t.marks %}cast([{% for mark in pseudonyms %}{% if mark in t.marks %}{{ mark.digest }}{% else %}null{% endif %}{% if not loop.last %}, {% endif %}{% endfor %}] as uhugeint[]){% else %}cast(null as uhugeint[]){% endif %} as marks
-- 3 branches as in the template, ef5e2f72

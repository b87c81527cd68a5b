-- ledger_classes, ledger members: Every published row with its person, its class, its buckets and its own values. Counterfeits are among the originals and belong to nobody; without any, one join finds persons and values. Rows are stored in the order of the source, block by block: in the order of the release, the position of a row would tell whose it is.
create or replace table anon_scratch.main.ledger_members as
select
    o.person,
    l."class_id" as class_id
    , cast([o.mark1, o.mark2, o.mark3, o.mark4, o.mark5] as uhugeint[]) as marks
    , v1.value as t1
from anon_scratch.main.link l
left join (select
    row_ref,
    md5_number(concat($ledger_key, ':person:', whose)) as person
    , case when k1 is not null then md5_number(concat($ledger_key, ':mark born:', cast(k1 as varchar))) end as mark1
    , case when k2 is not null then md5_number(concat($ledger_key, ':mark cost:', case when strpos(cast(k2 as varchar), 'e') > 0 then case when abs(cast(cast(k2 as varchar) as double)) < 9e18 and cast(cast(k2 as varchar) as double) = floor(cast(cast(k2 as varchar) as double)) then cast(cast(cast(cast(k2 as varchar) as double) as bigint) as varchar) else cast(k2 as varchar) end when strpos(cast(k2 as varchar), '.') > 0 then rtrim(rtrim(cast(k2 as varchar), '0'), '.') else cast(k2 as varchar) end)) end as mark2
    , case when k1 is not null then md5_number(concat($ledger_key, ':mark born:', cast(k1 as varchar))) end as mark3
    , case when k2 is not null then md5_number(concat($ledger_key, ':mark cost:', case when strpos(cast(k2 as varchar), 'e') > 0 then case when abs(cast(cast(k2 as varchar) as double)) < 9e18 and cast(cast(k2 as varchar) as double) = floor(cast(cast(k2 as varchar) as double)) then cast(cast(cast(cast(k2 as varchar) as double) as bigint) as varchar) else cast(k2 as varchar) end when strpos(cast(k2 as varchar), '.') > 0 then rtrim(rtrim(cast(k2 as varchar), '0'), '.') else cast(k2 as varchar) end)) end as mark4
    , case when s1 is not null then md5_number(concat($ledger_key, ':mark ill:', cast(s1 as varchar))) end as mark5
    , s1
from (select *, rowid as row_ref, identity as whose from anon_scratch.main.snapshot)) o on o.row_ref = l.row_ref
left join (
    select value, text as own from anon_scratch.main.ledger_numbered where facet = 'ill'
) v1 on v1.own = cast(o.s1 as varchar)
order by l.row_ref
-- ledger_m_invariance, ledger members: {% if spells %}
left join (select
    row_ref,
    md5_number(concat($ledger_key, ':person:', whose)) as person
    , case when s1 is not null then md5_number(concat($ledger_key, ':mark ill:', cast(s1 as varchar))) end as mark1
from (select *, rowid as row_ref, identity as whose from anon_scratch.main.snapshot)) d on d.row_ref = l.row_ref
join anon_scratch.main.originals o on o.row_ref = l.row_ref
-- 9 branches as in the template, 92f3390c

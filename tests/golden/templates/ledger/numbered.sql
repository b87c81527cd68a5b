-- ledger_classes, ledger numbered: The distinct values of the protected columns with their numbers, so that no value is hashed twice. Values of rows that are not published are included.
create or replace table anon_scratch.main.ledger_numbered as
select 'ill' as facet, cast(md5_number_lower(text) >> 1 as bigint) as value, text
from (
    select distinct cast(value as varchar) as text
    from (select distinct o.s1 as value from anon_scratch.main.originals o)
    where value is not null
)
-- 2 branches as in the template, 3b319cd3

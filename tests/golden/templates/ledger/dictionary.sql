-- ledger_classes, ledger dictionary: The values in the signatures, with their numbers.
create or replace table anon_scratch.main.ledger_dictionary as
select facet, value, text
from anon_scratch.main.ledger_numbered
where facet = 'ill'
    and value in (select t1 from anon_scratch.main.ledger_members where class_id is not null)
-- 1 branch as in the template, 9247f191

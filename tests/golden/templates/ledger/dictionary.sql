-- ledger_classes, ledger dictionary: The values in the signatures, with their numbers.
create or replace table anon_scratch.main.ledger_dictionary as
select facet, value, text
from anon_scratch.main.ledger_numbered
where facet = 'ill'
    and value in (select t1 from anon_scratch.main.ledger_members where class_id is not null)
union all  -- ledger_buckets_of_persons, ledger dictionary: {% if not loop.last %}

-- append_only, digests of persons: The person of each row, as a digest keyed with the ledger's secret.
create or replace table anon_scratch.main.ledger_digests as
select
    row_ref,
    md5_number(concat($ledger_key, ':person:', whose)) as person
from (select *, rowid as row_ref, identity as whose from anon_scratch.main.snapshot)

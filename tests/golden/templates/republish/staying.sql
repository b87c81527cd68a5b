-- append_only, who stays: Who stays, with the class that goes on and the releases so far.
create or replace table anon_scratch.main.staying as
select distinct h.person, h.lineage, h.releases
from anon_scratch.main.coded r
join anon_scratch.main.ledger_digests d on d.row_ref = r.row_ref
join anon_scratch.main.history h on h.person = d.person

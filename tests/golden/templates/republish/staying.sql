-- append_only, who stays: The persons who stay, with the earlier class that they continue and the releases that they were in.
create or replace table anon_scratch.main.staying as
select distinct h.person, h.lineage, h.releases
from anon_scratch.main.coded r
join anon_scratch.main.ledger_digests d on d.row_ref = r.row_ref
join anon_scratch.main.history h on h.person = d.person

-- m_invariance, who stays: Every row with the number of its sensitive value and, for a person who stays, the signature of the earlier release. A person whose value is no longer in that signature counts as new.
create or replace table anon_scratch.main.standing as
with valued as (
    select row_id, draw, row_ref, cast(md5_number_lower(cast(s1 as varchar)) >> 1 as bigint) as value
    from anon_scratch.main.coded
)
select r.row_id, r.draw, r.value, d.person, v.signature, h.since
from valued r
join anon_scratch.main.ledger_digests d on d.row_ref = r.row_ref
left join anon_scratch.main.history h on h.person = d.person
left join anon_scratch.main.history_values v on v.signature = h.signature and v.value = r.value

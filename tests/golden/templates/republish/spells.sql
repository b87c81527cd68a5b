-- m_invariance, since when: The release since which each person has had the current signature.
create or replace table anon_scratch.main.ledger_spells as
select person, since from anon_scratch.main.standing where signature is not null

-- m_invariance, values of counterfeits: The values a counterfeit may have: those of the table, and those of earlier releases that its type can still hold.
create or replace table anon_scratch.main.known_values as
with listed as (
    select distinct s1 as original from anon_scratch.main.coded where s1 is not null
    union
    select try_cast(text as VARCHAR) from anon_scratch.main.history_texts where try_cast(text as VARCHAR) is not null
)
select cast(md5_number_lower(cast(original as varchar)) >> 1 as bigint) as value, min(original) as original
from listed
group by 1

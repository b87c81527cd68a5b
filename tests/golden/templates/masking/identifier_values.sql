-- masks, values that say who: Every value of the columns that say who somebody is, as words: what texts are searched for. Short ones are left out, since they are words and numbers of any text as well.
create or replace table anon_scratch.main.identifier_values as
select distinct number, words, len(string_split(words, ' ')) as length
from (
    select
        1 as number,
        trim(regexp_replace(lower(i1), '[^\p{L}\p{N}]+', ' ', 'g')) as words
    from anon_scratch.main.raw_rows
    union all
    select
        2 as number,
        trim(regexp_replace(lower(i2), '[^\p{L}\p{N}]+', ' ', 'g')) as words
    from anon_scratch.main.raw_rows
)
where length(words) >= 4
    and (length(words) >= 5 or not regexp_full_match(words, '[0-9 ]*'))
    and len(string_split(words, ' ')) <= 20

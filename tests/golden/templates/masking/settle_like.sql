-- masks, other tokens of patient: Another token for every value whose token is a value of the column, or is taken by then.
create or replace table anon_scratch.main.tokens_run as
with known as (
    select value, tweak + 1 as tweak from anon_scratch.main.tokens_run where not settled
-- 64 lines as in templates/masking/like.sql, masks, tokens of patient
    -- 14 lines as in templates/masking/like.sql, masks, tokens of patient
    from d3
),
d4 as (
    select *, sha256(unhex($mask_run_outer) || unhex(sha256(unhex($mask_run_inner) || encode(concat(tweak, ':', round, ':', form, ':', b))))) as digest
    from (select *, 4 as round from r3)
),
r4 as (
    -- 14 lines as in templates/masking/like.sql, masks, tokens of patient
    from d4
),
d5 as (
    select *, sha256(unhex($mask_run_outer) || unhex(sha256(unhex($mask_run_inner) || encode(concat(tweak, ':', round, ':', form, ':', a))))) as digest
    from (select *, 5 as round from r4)
),
r5 as (
    -- 14 lines as in templates/masking/like.sql, masks, tokens of patient
    from d5
),
d6 as (
    select *, sha256(unhex($mask_run_outer) || unhex(sha256(unhex($mask_run_inner) || encode(concat(tweak, ':', round, ':', form, ':', b))))) as digest
    from (select *, 6 as round from r5)
),
r6 as (
    -- 14 lines as in templates/masking/like.sql, masks, tokens of patient
    from d6
),
d7 as (
    select *, sha256(unhex($mask_run_outer) || unhex(sha256(unhex($mask_run_inner) || encode(concat(tweak, ':', round, ':', form, ':', a))))) as digest
    from (select *, 7 as round from r6)
),
r7 as (
    -- 14 lines as in templates/masking/like.sql, masks, tokens of patient
    from d7
),
d8 as (
    select *, sha256(unhex($mask_run_outer) || unhex(sha256(unhex($mask_run_inner) || encode(concat(tweak, ':', round, ':', form, ':', b))))) as digest
    from (select *, 8 as round from r7)
),
r8 as (
    -- 14 lines as in templates/masking/like.sql, masks, tokens of patient
    from d8
),
d9 as (
    select *, sha256(unhex($mask_run_outer) || unhex(sha256(unhex($mask_run_inner) || encode(concat(tweak, ':', round, ':', form, ':', a))))) as digest
    from (select *, 9 as round from r8)
),
r9 as (
    -- 14 lines as in templates/masking/like.sql, masks, tokens of patient
    from d9
),
d10 as (
    select *, sha256(unhex($mask_run_outer) || unhex(sha256(unhex($mask_run_inner) || encode(concat(tweak, ':', round, ':', form, ':', b))))) as digest
    from (select *, 10 as round from r9)
),
r10 as (
    -- 14 lines as in templates/masking/like.sql, masks, tokens of patient
    -- 14 lines as in templates/masking/like.sql, masks, tokens of patient

select value, token, tweak, settled from anon_scratch.main.tokens_run where settled
union all
select p.value, p.token, p.tweak, k.value is null and t.token is null as settled
from permuted p
left join anon_scratch.main.tokens_run k on k.value = p.token
left join anon_scratch.main.tokens_run t on t.token = p.token and t.settled

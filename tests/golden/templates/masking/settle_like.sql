-- masks, other tokens of patient: Another token for every value whose token is a value of the column, or is taken by then.
create or replace table anon_scratch.main.tokens_run as
with known as (
    select value, tweak + 1 as tweak from anon_scratch.main.tokens_run where not settled
),
-- 16 lines of masking/_like.sql.j2, fe270079
-- 48 lines as in templates/masking/like.sql, masks, tokens of patient
    -- 14 lines as in templates/masking/like.sql, masks, tokens of patient
    from d10
),
whole as (select value, tweak, concat(a, b) as signs from r10),
-- 11 lines of masking/_like.sql.j2, 5c9abe6e

select value, token, tweak, settled from anon_scratch.main.tokens_run where settled
union all
select p.value, p.token, p.tweak, k.value is null and t.token is null as settled
from permuted p
left join anon_scratch.main.tokens_run k on k.value = p.token
left join anon_scratch.main.tokens_run t on t.token = p.token and t.settled

-- masks, tokens of patient: Tokens of the same length with letters and digits in the same places, one to one. A token that is a value of one of the columns is not settled yet.
create or replace table anon_scratch.main.tokens_run as
with known as (
    select distinct value, 0 as tweak
    from (select unnest([cast(k1 as varchar)]) as value from anon_scratch.main.raw_rows)
    where value is not null
),
-- 16 lines of masking/_like.sql.j2, fe270079
d1 as (
    select *, sha256(unhex($mask_run_outer) || unhex(sha256(unhex($mask_run_inner) || encode(concat(tweak, ':', round, ':', form, ':', a))))) as digest
    from (select *, 1 as round from r0)
),
r1 as (
    select
        value, tweak, form, form_a, form_b,
        a,
        coalesce(list_aggregate(list_transform(
            range(1, length("b") + 1),
            lambda j: chr(cast(
                case substr("form_b", cast(j as integer), 1) when '0' then 48 when 'A' then 65 else 97 end
                + (
                    ascii(substr("b", cast(j as integer), 1))
                    - case substr("form_b", cast(j as integer), 1) when '0' then 48 when 'A' then 65 else 97 end
                    + cast(concat('0x', substr(digest, cast((j - 1) % 21 * 3 + 1 as integer), 3)) as integer)
                ) % case substr("form_b", cast(j as integer), 1) when '0' then 10 else 26 end
            as integer))
        ), 'string_agg', ''), '') as b
    from d1
),
d2 as (
    select *, sha256(unhex($mask_run_outer) || unhex(sha256(unhex($mask_run_inner) || encode(concat(tweak, ':', round, ':', form, ':', b))))) as digest
    from (select *, 2 as round from r1)
),
r2 as (
    select
        value, tweak, form, form_a, form_b,
        coalesce(list_aggregate(list_transform(
            range(1, length("a") + 1),
            lambda j: chr(cast(
                case substr("form_a", cast(j as integer), 1) when '0' then 48 when 'A' then 65 else 97 end
                + (
                    ascii(substr("a", cast(j as integer), 1))
                    - case substr("form_a", cast(j as integer), 1) when '0' then 48 when 'A' then 65 else 97 end
                    + cast(concat('0x', substr(digest, cast((j - 1) % 21 * 3 + 1 as integer), 3)) as integer)
                ) % case substr("form_a", cast(j as integer), 1) when '0' then 10 else 26 end
            as integer))
        ), 'string_agg', ''), '') as a,
        b
    from d2
),
-- 7 more turns, 869ea4ac
d10 as (
    select *, sha256(unhex($mask_run_outer) || unhex(sha256(unhex($mask_run_inner) || encode(concat(tweak, ':', round, ':', form, ':', b))))) as digest
    from (select *, 10 as round from r9)
),
r10 as (
    -- 14 lines as in templates/masking/like.sql, masks, tokens of patient
    from d10
),
whole as (select value, tweak, concat(a, b) as signs from r10),
-- 11 lines of masking/_like.sql.j2, 5c9abe6e

select p.value, p.token, p.tweak, k.value is null as settled
from permuted p
left join known k on k.value = p.token

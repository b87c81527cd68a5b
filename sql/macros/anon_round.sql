-- A number rounded to the nearest multiple of a base; halves go away from zero.
--
-- value    a number, up to 9e18 times the base; NULL stays NULL
-- base     above 0
-- returns  a number
--
-- example  select anon_round(1234, 50) as income;
create or replace temp macro anon_round(value, base) as
    case
        when _anon_positive('anon_round', 'base', base) is null then null
        -- (whole numbers are exact: a double has 53 bits only)
        when _anon_is_whole(value) and _anon_is_whole(base)
        then cast(_anon_rounded(try_cast(value as hugeint), try_cast(base as hugeint)) as bigint) * base
        else cast(round(value / base) as bigint) * base
    end;

comment on macro anon_round is 'Nearest multiple of a base: anon_round(value, base)';

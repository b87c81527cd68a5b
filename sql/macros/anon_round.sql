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
        else cast(round(value / base) as bigint) * base
    end;

comment on macro anon_round is 'Nearest multiple of a base: anon_round(value, base)';

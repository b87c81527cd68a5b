-- The beginning of a code, the rest filled up. The length of the code stays visible.
--
-- value    a text, or a number that is taken as text; NULL stays NULL
-- keep     characters to keep, 0 or more; a shorter code stays as it is
-- fill     the character that stands for each one left out
-- returns  text, as in `213**`
--
-- example  select anon_prefix('21345', 3) as zip;
create or replace temp macro anon_prefix(value, keep, fill := '*') as
    case
        when coalesce(length(fill) <> 1, true) then error('anon_prefix: fill: must be one character')
        when _anon_at_least('anon_prefix', 'keep', keep, 0) is null then null
        else left(cast(value as varchar), cast(keep as bigint))
            || repeat(fill, cast(greatest(length(cast(value as varchar)) - keep, 0) as bigint))
    end;

comment on macro anon_prefix is
    'Beginning of a code, the rest filled up: anon_prefix(value, keep, fill := ''*'')';

-- The interval of a number: as wide as all others, counted from an origin, correct below it.
-- Whole numbers get a closed interval, `[30, 39]`; others one without its upper end, `[30, 40)`.
--
-- value    a number; NULL, infinity and NaN stay what they are
-- width    how wide the intervals are, above 0
-- origin   where one of them begins
-- returns  the interval as text
--
-- example  select anon_interval(age, 10) as age from adult;
create or replace temp macro anon_interval(value, width, origin := 0) as
    case
        when _anon_positive('anon_interval', 'width', width) is null
            or _anon_given('anon_interval', 'origin', origin) is null
        then null
        when _anon_is_whole(value) and _anon_is_whole(width) and _anon_is_whole(origin)
        then '[' || _anon_whole_floor(value, width, origin) || ', '
            || (_anon_whole_floor(value, width, origin) + width - 1) || ']'
        when not isfinite(try_cast(value as double)) then cast(value as varchar)
        else '[' || _anon_floor(value, width, origin) || ', ' || (_anon_floor(value, width, origin) + width) || ')'
    end;

comment on macro anon_interval is
    'Interval of a number as text: anon_interval(value, width, origin := 0)';

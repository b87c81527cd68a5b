-- The calendar period of a date or timestamp, as a closed interval of dates. The day of a
-- timestamp with time zone is that of the session's time zone.
--
-- value    a date or timestamp; NULL stays NULL
-- period   'day', 'week' (from Monday), 'month', 'quarter', 'year' or 'decade'
-- returns  the interval as text, as in `[1979-01-01, 1979-12-31]`
--
-- example  select anon_date_interval(date '1979-05-23', 'quarter') as born;
create or replace temp macro anon_date_interval(value, period) as
    case
        when _anon_calendar(period) is null then null
        else '[' || cast(date_trunc(_anon_calendar(period), cast(value as date)) as date)
            || ', '
            || cast(date_trunc(_anon_calendar(period), cast(value as date)) + _anon_length(period) - interval 1 day as date)
            || ']'
    end;

comment on macro anon_date_interval is
    'Calendar period of a date as text: anon_date_interval(value, period)';

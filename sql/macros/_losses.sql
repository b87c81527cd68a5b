-- What a cell loses by being published as an interval or as a set (normalized certainty penalty;
-- Xu et al. 2006).

-- An interval of the given width, a share of the column's range. Where it mixes with NULL, that
-- counts as one more of the `size` values of the domain.
create or replace temp macro _anon_interval_loss(width, mixed, size) as
    case when mixed then (width * (size - 1) + 1) / size else width end;

-- A set of so many of the `size` categories; a single one loses nothing.
create or replace temp macro _anon_set_loss(members, size) as
    case when members > 1 then members / cast(size as double) else 0 end;

-- A number of many digits, or a moment, as a whole number in the smallest unit of its type, so that
-- differences are exact; NULL for other types and for infinite moments. An unsigned number is
-- moved, since half of them are too large for a signed one.
create or replace temp macro _anon_exact(expression) as
    replace(
        'case when typeof(#) in (''BIGINT'', ''UBIGINT'', ''HUGEINT'') then try_cast(# as hugeint)'
        || ' when typeof(#) = ''UHUGEINT'' then coalesce('
        || 'try_cast(# as hugeint) - 170141183460469231731687303715884105727 - 1,'
        || ' try_cast(try_cast(# as uhugeint) - 170141183460469231731687303715884105728::uhugeint as hugeint))'
        || ' when starts_with(typeof(#), ''DECIMAL'') then try_cast(replace(cast(# as varchar), ''.'', '''') as hugeint)'
        || ' when typeof(#) = ''DATE'' then cast(86400000000 as hugeint)'
        || ' * date_diff(''day'', date ''2000-01-01'', try_cast(# as date))'
        || ' when typeof(#) = ''TIMESTAMP_NS'' then try_cast(epoch_ns(try_cast(# as timestamp_ns)) as hugeint)'
        || ' when starts_with(typeof(#), ''TIMESTAMP'') then try_cast(epoch_us(' || _anon_instant('#') || ') as hugeint) end',
        '#',
        expression
    );

-- The loss of one column's cells, as the text of a query that returns n (rows) and ncp by class.
-- Values that are infinite have no place in the range; a class that reaches one spans all of it.
-- The range of numbers that are too far apart for whole numbers is halved, so that it is finite.
create or replace temp macro _anon_column_loss(macro_name, name, class) as
    'with parts as (select class, value, label, n, ' || _anon_kind(macro_name, name, 'value')
    || ' as kind from (select ' || _anon_name(class) || ' as class, ' || _anon_name(name) || ' as value, '
    || _anon_label(_anon_name(name)) || ' as label, count(*) as n from _anon_source group by all)), '
    || 'moments as (select *, case kind when ''numeric'' then try_cast(value as double) when ''date'' then'
    || ' case when isinf(' || _anon_instant('value') || ') then case when ' || _anon_instant('value')
    || ' > timestamp ''2000-01-01'' then ''infinity''::double else ''-infinity''::double end else 0 end end'
    || ' as found from parts), '
    || 'exactly as (select *, case when isfinite(found) then ' || _anon_exact('value')
    || ' end as exact from moments), '
    || 'placed as (select *, case when kind = ''date'' and isfinite(found) then cast(exact as double)'
    || ' else found end as place from exactly), '
    || 'domain as (select count(distinct label) + max(case when label is null then 1 else 0 end) as size,'
    || ' min(place / 2) filter (where isfinite(place)) as first_place,'
    || ' max(place / 2) filter (where isfinite(place)) as last_place,'
    || ' min(exact) as first_exact, max(exact) as last_exact,'
    || ' max(cast(exact as double)) / 2 - min(cast(exact as double)) / 2 < 4e37 as near from placed), '
    || 'boxes as (select class, cast(sum(n) as bigint) as n, max(kind) as kind, count(*) as members,'
    || ' min(place) as lo, max(place) as hi, min(exact) as low, max(exact) as high from placed group by class) '
    || 'select n, case when kind = ''categorical'' then _anon_set_loss(members, size)'
    || ' when lo is null or first_place is null then 0'
    || ' when lo = hi and low is not distinct from high then 0'
    || ' when not isfinite(lo) or not isfinite(hi) then 1'
    || ' when near then cast(high - low as double) / cast(last_exact - first_exact as double)'
    || ' else (hi / 2 - lo / 2) / (last_place - first_place) end as ncp from boxes cross join domain';

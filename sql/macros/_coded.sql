-- The rows of a table with their quasi-identifiers as codes, as query text: the table's columns,
-- `_anon_codes` (a list: 0 is NULL, then 1, 2, ... in the order in which the column is cut) and
-- `_anon_places` (a list of {code, share, size, ordered}). Numbers and dates are cut by value, and
-- `share` is where in the column's range a value lies, 0 to 1; categories are cut with the most
-- frequent value first, and ties in the order of their bytes.
create or replace temp macro _anon_coded(macro_name, tbl, given, quasi) as coalesce(
    _anon_with(macro_name, tbl, given)
    || _anon_free(macro_name, ['class_id', '_anon_codes', '_anon_places'])
    || array_to_string(
        list_transform(
            quasi, lambda name, i: ', ' || _anon_domain(macro_name, name, cast(i as varchar))
        ),
        ''
    )
    || ' select r.*, ['
    || array_to_string(list_transform(quasi, lambda name, i: 'd' || i || '.code'), ', ')
    || '] as _anon_codes, ['
    || array_to_string(
        list_transform(
            quasi,
            lambda name, i: replace('{code: d#.code, share: d#.share, size: d#.size, ordered: d#.ordered}', '#', cast(i as varchar))
        ),
        ', '
    )
    || '] as _anon_places from _anon_source r'
    || array_to_string(
        list_transform(
            quasi,
            lambda name, i: replace(' join _anon_domain_# d# on d#.value is not distinct from r.', '#', cast(i as varchar))
                || _anon_name(name)
                || replace(' and d#.label is not distinct from ', '#', cast(i as varchar))
                || _anon_label('r.' || _anon_name(name))
        ),
        ''
    )
    || ' where (select free from _anon_free)',
    error(macro_name || ': an argument is NULL (allowed: the name of a table, a list of its columns)')
);

-- The domain of one column, as the text of two common table expressions. The arithmetic of
-- `share` is that of the compiled algorithm, so that equal cuts are equal in both: values are
-- halved, so that the width of a domain of doubles cannot overflow.
create or replace temp macro _anon_domain(macro_name, name, i) as
    '_anon_values_' || i || ' as (select value, label, count(*) as n, '
    || _anon_kind(macro_name, name, 'value')
    || ' as kind from (select ' || _anon_name(name) || ' as value, '
    || _anon_label(_anon_name(name))
    || ' as label from _anon_source) group by value, label), '
    || '_anon_coded_' || i || ' as (select *, '
    || 'case when value is null then 0 else row_number() over (partition by value is null'
    || ' order by case when ordered then value end, n desc, label) end as code, '
    || 'count(*) over () as size'
    || ' from (select *, kind <> ''categorical'' as ordered,'
    || ' case when kind = ''numeric'' then try_cast(value as double) end as number,'
    || ' case when kind = ''date'' then ' || _anon_instant('value') || ' end as instant'
    || ' from _anon_values_' || i || ')), '
    || '_anon_domain_' || i || ' as (select *, case'
    || ' when kind = ''numeric'' then (number / 2 - min(number) over () / 2)'
    || ' / nullif(max(number) over () / 2 - min(number) over () / 2, 0)'
    || ' when kind = ''date'' then cast(date_diff(''second'', min(instant) over (), instant) as double)'
    || ' / nullif(date_diff(''second'', min(instant) over (), max(instant) over ()), 0)'
    || ' else (code - min(code) over ()) / nullif(cast(max(code) over () - min(code) over () as double), 0)'
    || ' end as share from _anon_coded_' || i || ')';

-- A date or time as a moment in UTC, whatever the session's time zone; NULL for other types.
create or replace temp macro _anon_instant(expression) as
    'case when typeof(' || expression || ') = ''TIMESTAMP WITH TIME ZONE'''
    || ' then make_timestamp(epoch_us(try_cast(' || expression || ' as timestamptz)))'
    || ' else try_cast(' || expression || ' as timestamp) end';

-- The kind of a column by its type; `expression` is SQL text, as in the one below.
create or replace temp macro _anon_kind(macro_name, name, expression) as
    'case when regexp_full_match(typeof(' || expression || '), ''U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL\(.*\)'') then ''numeric'''
    || ' when regexp_full_match(typeof(' || expression || '), ''DATE|TIMESTAMP(_S|_MS|_NS)?|TIMESTAMP WITH TIME ZONE'') then ''date'''
    || ' when regexp_full_match(typeof(' || expression || '), ''VARCHAR|BOOLEAN|UUID|ENUM\((.|\n)*\)|TIME|"NULL"'') then ''categorical'' else error('
    || _anon_text(macro_name || ': quasi: the column ' || name || ' is nested or binary (allowed: numbers, dates, text, boolean, uuid, enum; hint: unnest or cast it in a view)')
    || ') end';

-- A value as text that is compared byte by byte, so that a column's own collation has no say.
-- The two zeros of a floating point column are one value.
create or replace temp macro _anon_label(expression) as
    'coalesce(nullif(cast(' || expression || ' as varchar) collate "binary", ''-0.0''), case when '
    || expression || ' is not null then ''0.0'' end)';

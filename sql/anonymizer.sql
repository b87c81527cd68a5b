-- Macros for DuckDB: check, generalize and partition tables of people without leaving SQL.
-- Load them with `duckdb -init anonymizer.sql`, or with `.read anonymizer.sql` in the shell.
-- They are temporary: a database that is open is not changed. The comment above each one
-- says what it does and what it needs. Generated from sql/macros by tools/make_macros.py.

-- What all table macros share: names and lists of columns are checked here, and nowhere else.
-- The private macros return SQL text, which a table macro hands to query(); identifiers and
-- texts are quoted on the way, so that a name may have any characters.

-- A name as an identifier.
create or replace temp macro _anon_name(name) as
    '"' || replace(name, '"', '""') || '"';

-- A name as the engine compares it: without regard to the case of A to Z.
create or replace temp macro _anon_fold(name) as
    translate(name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');

-- A text as a literal.
create or replace temp macro _anon_text(value) as
    '''' || replace(value, '''', '''''') || '''';

-- A table as it is written in FROM: one to three names, each quoted where it holds a dot or a quote.
create or replace temp macro _anon_table(macro_name, tbl) as (
    case
        when coalesce(
            array_to_string(regexp_extract_all(tbl, '"(?:[^"]|"")+"|[^".]+'), '.') <> tbl
            or len(regexp_extract_all(tbl, '"(?:[^"]|"")+"|[^".]+')) > 3,
            true
        ) or tbl = ''
        then error(macro_name || ': tbl: is not the name of a table (allowed: name, schema.name, catalog.schema.name; a part that holds a dot or a quote stands in double quotes; hint: give a query or a file a name with CREATE VIEW)')
        when starts_with(_anon_fold(replace(tbl, '"', '')), '_anon_')
        then error(macro_name || ': tbl: names that begin with _anon_ are taken by the macros (hint: put the schema before it)')
        else array_to_string(
            list_transform(
                regexp_extract_all(tbl, '"(?:[^"]|"")+"|[^".]+'),
                lambda part: case when starts_with(part, '"') then part else '"' || part || '"' end
            ),
            '.'
        )
    end
);

-- A list of columns: not empty, no NULL, none twice.
create or replace temp macro _anon_names(macro_name, argument, names) as (
    case
        when coalesce(len(names), 0) = 0
        then error(macro_name || ': ' || argument || ': is empty (allowed: a list of one or more columns of the table)')
        when len(list_filter(names, lambda name: name is null or name = '')) > 0
        then error(macro_name || ': ' || argument || ': holds a NULL or an empty text (allowed: names of columns of the table)')
        when len(list_distinct(list_transform(names, lambda name: _anon_fold(name)))) < len(names)
        then error(macro_name || ': ' || argument || ': names a column twice (allowed: every column once)')
        else names
    end
);

-- A whole number of at least `least`.
create or replace temp macro _anon_at_least(macro_name, argument, given, least) as (
    case
        when given is null or given < least or given <> floor(given)
        then error(macro_name || ': ' || argument || ': must be a whole number of at least ' || least || ', not ' || coalesce(given::varchar, 'NULL'))
        else given
    end
);

-- One of the allowed words.
create or replace temp macro _anon_one_of(macro_name, argument, given, allowed) as (
    case
        when coalesce(not list_contains(allowed, given), true)
        then error(macro_name || ': ' || argument || ': is not one of the allowed words (allowed: ' || array_to_string(allowed, ', ') || ')')
        else given
    end
);

-- The columns of one argument, each with the argument's name.
create or replace temp macro _anon_columns(macro_name, argument, names) as
    list_transform(
        _anon_names(macro_name, argument, names::varchar[]),
        lambda name: {'argument': argument, 'name': name}
    );

-- WITH RECURSIVE of a query over columns of a table, as text that a SELECT can follow: `_anon_source` has
-- every requested column (and the others), and stops the query with a message where the table
-- lacks one. `given` is what _anon_columns returns, for several arguments concatenated.
create or replace temp macro _anon_with(macro_name, tbl, given) as
    'with recursive _anon_given(argument, name) as (values '
    || array_to_string(
        list_transform(
            given, lambda g: '(' || _anon_text(struct_extract(g, 'argument')) || ', ' || _anon_text(struct_extract(g, 'name')) || ')'
        ),
        ', '
    )
    || '), _anon_found as (select column_name from (describe from '
    || _anon_table(macro_name, tbl)
    || ')), _anon_fine as (select case when count(*) > 0 then error('
    || _anon_text(macro_name || ': ')
    || ' || min(argument) || '': the table has no column '' || string_agg(name, '', '' order by name)'
    || ' || '' (allowed: '' || (select string_agg(column_name, '', '') from _anon_found) || '')'')'
    || ' else true end as fine from _anon_given'
    || ' where _anon_fold(name) not in (select _anon_fold(column_name) from _anon_found)),'
    -- a column that the table lacks is NULL here, so that this check reports it and not the binder
    || ' _anon_source as (select * from (from '
    || _anon_table(macro_name, tbl)
    || ' union all by name select '
    || array_to_string(
        list_transform(
            list_sort(list_distinct(list_transform(given, lambda g: _anon_fold(struct_extract(g, 'name'))))),
            lambda name: 'null as ' || _anon_name(name)
        ),
        ', '
    )
    || ' where false) where (select fine from _anon_fine))';

-- A further common table expression that stops the query where the table has a column whose name
-- the result needs; to be read by a condition.
create or replace temp macro _anon_free(macro_name, names) as
    ', _anon_free as (select case when count(*) > 0 then error('
    || _anon_text(macro_name || ': tbl: the table has a column named ')
    || ' || string_agg(column_name, '', '' order by column_name)'
    || ' || '', which the result adds (hint: rename it in a view)'') else true end as free from _anon_found'
    || ' where _anon_fold(column_name) in ('
    || array_to_string(list_transform(names, lambda name: _anon_text(_anon_fold(name))), ', ')
    || '))';

-- An empty result of that many columns. It makes sure that the check runs even if the planner sees that
-- the query cannot return rows of the table, as with a column that the table lacks.
create or replace temp macro _anon_else_checked(columns) as
    ' union all select ' || array_to_string(list_transform(range(columns), lambda i: 'null'), ', ')
    || ' where not (select fine from _anon_fine)';

-- The whole query: `selected` from the columns of a table.
create or replace temp macro _anon_query(macro_name, tbl, given, selected) as coalesce(
    _anon_with(macro_name, tbl, given) || ' select ' || selected || ' from _anon_source',
    error(macro_name || ': an argument is NULL (allowed: the name of a table, a list of its columns)')
);

-- An empty text if the check of an argument passes: part of the query, so that it runs before a row is read.
create or replace temp macro _anon_checked(checked) as
    left(cast(checked as varchar), 0);

-- The columns of a list as one value: rows are in one class where it is equal, NULL being a value.
create or replace temp macro _anon_row(names) as
    'row(' || array_to_string(list_transform(names, lambda name: _anon_name(name)), ', ') || ')';

-- The same with the columns' names, so that they can be unfolded again.
create or replace temp macro _anon_struct(names) as
    'struct_pack('
    || array_to_string(
        list_transform(names, lambda name: _anon_name(name) || ' := ' || _anon_name(name)), ', '
    )
    || ')';

-- A share: above 0, at most 1.
create or replace temp macro _anon_share(macro_name, argument, given) as (
    case
        when given is null or not (given > 0 and given <= 1)
        then error(macro_name || ': ' || argument || ': must be a fraction (allowed: above 0, at most 1), not ' || coalesce(given::varchar, 'NULL'))
        else given
    end
);

-- What the scalar macros share: checks of their arguments, and values as published text.

-- A number above 0.
create or replace temp macro _anon_positive(macro_name, argument, given) as (
    case
        when given is null or not given > 0
        then error(macro_name || ': ' || argument || ': must be a number above 0, not ' || coalesce(given::varchar, 'NULL'))
        else given
    end
);

-- Something other than NULL.
create or replace temp macro _anon_given(macro_name, argument, given) as
    coalesce(given, error(macro_name || ': ' || argument || ': is NULL (allowed: a value of the column''s type)'));

-- A secret: long enough not to be guessed. The message does not show it.
create or replace temp macro _anon_secret(macro_name, secret) as (
    case
        when coalesce(length(secret) < 32, true)
        then error(macro_name || ': secret: is too short (allowed: 32 characters or more; hint: openssl rand -hex 32)')
        else secret
    end
);

-- Is the value of a type of whole numbers?
create or replace temp macro _anon_is_whole(value) as
    regexp_full_match(typeof(value), 'U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)');

-- How many times a whole number holds a base above 0, rounded; halves go away from zero.
create or replace temp macro _anon_rounded(value, base) as
    -- (a base that is none is told elsewhere; the engine may compute what is not asked for)
    sign(value) * (
        abs(value) // nullif(base, 0)
        + case when abs(value) % nullif(base, 0) >= base - abs(value) % nullif(base, 0) then 1 else 0 end
    );

-- The lowest number of the interval of a value; counted from the origin, also below it.
create or replace temp macro _anon_floor(value, width, origin) as
    value - (((value - origin) % width) + width) % width;

-- The same of whole numbers: the ends of an interval may be beyond the type of its values.
create or replace temp macro _anon_whole_floor(value, width, origin) as
    _anon_floor(try_cast(value as hugeint), nullif(try_cast(width as hugeint), 0), try_cast(origin as hugeint));

-- A period of the calendar, and how long it lasts.
create or replace temp macro _anon_calendar(period) as
    _anon_one_of('anon_date_interval', 'period', period, ['day', 'week', 'month', 'quarter', 'year', 'decade']);

create or replace temp macro _anon_length(period) as (
    case period
        when 'day' then interval 1 day
        when 'week' then interval 7 days
        when 'month' then interval 1 month
        when 'quarter' then interval 3 months
        when 'year' then interval 1 year
        else interval 10 years
    end
);

-- A ZIP code as text; a number has lost the zeros it began with.
create or replace temp macro _anon_zip(zip) as
    case
        when _anon_is_whole(zip) and length(cast(zip as varchar)) < 5 then lpad(cast(zip as varchar), 5, '0')
        when _anon_is_whole(zip) and length(cast(zip as varchar)) between 6 and 8
        then lpad(cast(zip as varchar), 9, '0')
        else trim(cast(zip as varchar))
    end;

-- 64 bytes, as 128 hexadecimal digits, each byte's digits exchanged one for one: what an exclusive
-- or with a constant byte does.
create or replace temp macro _anon_xor(digits, high, low) as
    unhex(array_to_string(
        list_transform(
            range(64),
            lambda i: translate(substring(digits, 2 * i + 1, 1), '0123456789ABCDEF', high)
                || translate(substring(digits, 2 * i + 2, 1), '0123456789ABCDEF', low)
        ),
        ''
    ));

-- The key of an HMAC as one block of 64 bytes; a longer one is hashed first (RFC 2104).
create or replace temp macro _anon_block(secret) as
    rpad(
        upper(case when octet_length(encode(secret)) > 64 then sha256(encode(secret)) else hex(encode(secret)) end),
        128,
        '0'
    );

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

-- Cells of classes: one column, as the text of a query that returns class and cell.
create or replace temp macro _anon_cell(macro_name, name, class) as
    'with parts as (select class, value, label, ' || _anon_kind(macro_name, name, 'value')
    || ' <> ''categorical'' as ordered from (select distinct '
    || _anon_name(class) || ' as class, ' || _anon_name(name) || ' as value, '
    || _anon_label(_anon_name(name)) || ' as label from _anon_source)), '
    || 'whole as (select count(distinct label) as size from parts), '
    || 'boxes as (select class, min(value) as lo, max(value) as hi, bool_or(ordered) as ordered,'
    || ' bool_or(value is null) as mixes, min(label) as label,'
    || ' list_sort(list(distinct label) filter (where label is not null)) as labels'
    || ' from parts group by class) '
    || 'select class, case when lo is null then null'
    || ' when ordered then case when lo = hi then ' || _anon_shown('lo')
    || ' else ''['' || ' || _anon_shown('lo') || ' || '', '' || ' || _anon_shown('hi') || ' || '']'' end'
    || ' when len(labels) = 1 then ' || _anon_category('labels[1]')
    || ' when len(labels) = (select size from whole) then ''*'''
    || ' else ''{'' || array_to_string(list_transform(labels, lambda label: ' || _anon_category('label')
    || '), '', '') || ''}'' end || case when mixes then '' or NULL'' else '''' end as cell from boxes';

-- An ordered value as text; moments in UTC, whatever the session's time zone.
create or replace temp macro _anon_shown(expression) as
    'case when typeof(' || expression || ') = ''TIMESTAMP WITH TIME ZONE'' then cast('
    || _anon_instant(expression) || ' as varchar) || ''+00'' else ' || _anon_label(expression) || ' end';

-- A category as it is written in a cell: in double quotes where it could be misread.
create or replace temp macro _anon_category(expression) as
    replace(
        'case when # in ('''', ''*'', ''NULL'') or regexp_matches(#, ''[][,{}"]'')'
        || ' or starts_with(#, '' '') or ends_with(#, '' '') or ends_with(#, '' or NULL'')'
        || ' then ''"'' || replace(#, ''"'', ''""'') || ''"'' else # end',
        '#',
        expression
    );

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
    || 'whole as (select count(distinct label) + max(case when label is null then 1 else 0 end) as size,'
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
    || ' else (hi / 2 - lo / 2) / (last_place - first_place) end as ncp from boxes cross join whole';

-- The steps of a hierarchy: one or more numbers above 0 that go from fine to coarse.
create or replace temp macro _anon_steps(macro_name, argument, steps) as (
    case
        when coalesce(len(steps), 0) = 0
        then error(macro_name || ': ' || argument || ': is empty (allowed: a list with one level or more)')
        when len(list_filter(steps, lambda step: step is null or not step > 0)) > 0
        then error(macro_name || ': ' || argument || ': holds a NULL, or a number that is not above 0')
        when len(list_filter(range(2, len(steps) + 1), lambda i: steps[i] <= steps[i - 1])) > 0
        then error(macro_name || ': ' || argument || ': must go from the finest level to the coarsest, each level once')
        else steps
    end
);

-- Widths of which each is a multiple of the one before.
create or replace temp macro _anon_nested(macro_name, argument, widths) as (
    case
        when len(list_filter(range(2, len(widths) + 1), lambda i: widths[i] % widths[i - 1] <> 0)) > 0
        then error(macro_name || ': ' || argument || ': levels would not nest (allowed: each a multiple of the one before)')
        else widths
    end
);

-- An age, and one category for all ages over 89 (HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(C)).
--
-- age      in years; NULL stays NULL
-- returns  text: the age, or `90+`
--
-- example  select anon_age89(age) as age from adult;
create or replace temp macro anon_age89(age) as
    case when age >= 90 then '90+' else cast(age as varchar) end;

comment on macro anon_age89 is 'An age, all over 89 as one category: anon_age89(age)';

-- The largest share that one sensitive value has of a class (Wong et al. 2006), NULLs left out.
--
-- tbl        name of a table or view
-- quasi      its quasi-identifiers, a list of columns
-- sensitive  the column to protect
-- returns    one row: alpha; infinity if all values of a class are NULL: no rule holds there
-- empty      NULL
--
-- example    from anon_alpha('adult', ['age', 'sex'], 'occupation');
create or replace temp macro anon_alpha(tbl varchar, quasi varchar[], sensitive varchar) as table
with source as (
    from query(
        _anon_query(
            'anon_alpha',
            tbl,
            _anon_columns('anon_alpha', 'quasi', quasi)
            || _anon_columns('anon_alpha', 'sensitive', [sensitive]),
            _anon_row(quasi) || ' as q, ' || _anon_name(sensitive) || ' as s'
        )
    )
),
counts as (
    select q, case when s is null then 0 else count(*) end as n
    from source
    group by q, s
),
classes as (
    select case when sum(n) > 0 then max(n) / cast(sum(n) as double) else cast('inf' as double) end as share
    from counts
    group by q
)
select max(share) as alpha
from classes;

comment on macro table anon_alpha is
    'Largest share of one sensitive value in a class: from anon_alpha(table, [columns], sensitive column)';

-- Bottom-coding: values below a bound become one category.
--
-- value    a number, date or text; NULL stays NULL
-- bottom   the first value above the category
-- returns  text: the value, or `< 18`
--
-- example  select anon_bottom_code(age, 18) as age from adult;
create or replace temp macro anon_bottom_code(value, bottom) as
    case
        when value < _anon_given('anon_bottom_code', 'bottom', bottom) then '< ' || bottom
        else cast(value as varchar)
    end;

comment on macro anon_bottom_code is
    'Values below a bound as one category: anon_bottom_code(value, bottom)';

-- Bucketize one column (local bucketization; Li and He 2022, Algorithm 2): every row keeps its other
-- columns, and the values of the column are dealt anew within buckets of at least l different
-- values. Buckets hold values that are near in order: the column is halved at its median as long as
-- both halves can be dealt, and a piece of n values is dealt over n / l buckets.
-- Rows come in an order drawn with the secret, as are ties and places in a bucket: equal table and
-- secret, equal result. Use a fresh secret for every release. NULLs are dealt over all buckets.
--
-- tbl        name of a table or view
-- sensitive  the column whose values are dealt
-- l          fewest different values of a bucket, 2 or more; a value that more than one of l rows
--            has is an error
-- secret     text of 32 characters or more
-- returns    every row, the column with the dealt value, and <column>_bucket, dense from 1
-- empty      no rows
--
-- example    from anon_bucketize('visits', 'disease', 2, 'f0e1d2c3b4a5968778695a4b3c2d1e0f');
create or replace temp macro anon_bucketize(tbl varchar, sensitive varchar, l, secret varchar) as table
from query(
    _anon_with('anon_bucketize', tbl, _anon_columns('anon_bucketize', 'sensitive', [sensitive]))
    || _anon_free('anon_bucketize', [sensitive || '_bucket', '_anon_value', '_anon_draw', '_anon_row'])
    || ', _anon_limit(l) as (select ' || _anon_at_least('anon_bucketize', 'l', l, 2)
    || '), _anon_drawn as (select *, ' || _anon_name(sensitive) || ' as _anon_value, md5_number(concat('
    || _anon_text(_anon_secret('anon_bucketize', secret))
    || ', '':'', to_json(_anon_row))) as _anon_draw from _anon_source _anon_row where (select free from _anon_free))'
    || $$,
-- exact duplicates are distinguished by a number: which of them gets
-- which makes no difference
_anon_rows as materialized (
    select * exclude (_anon_draw), row_number() over (order by _anon_draw) as _anon_row, _anon_draw
    from (
        select * replace (md5_number(concat(
            hex(_anon_draw), ':', row_number() over (partition by _anon_draw)
        )) as _anon_draw)
        from _anon_drawn
    )
),
_anon_ranked as materialized (
    select
        _anon_row as id,
        _anon_draw as draw,
        _anon_value as value,
        row_number() over (partition by _anon_value is null order by _anon_value, _anon_draw) - 1 as place
    from _anon_rows
),
_anon_counts as (
    select row_number() over (order by value) as code, cast(count(*) as bigint) as n, min(place) as start
    from _anon_ranked
    where value is not null
    group by value
),
_anon_total as (
    select
        case
            when max(n) * (select l from _anon_limit) > sum(n)
            then error('anon_bucketize: l: one value is too frequent for it (allowed: at most ' || cast(floor(sum(n) / max(n)) as bigint) || ')')
            when count(*) = 0 and (select count(*) from _anon_rows) > 0
            then error('anon_bucketize: sensitive: the column is NULL in all rows')
            else cast(coalesce(sum(n), 0) as bigint)
        end as n
    from _anon_counts
),
-- the number of a piece is the position where it begins
_anon_pieces(code, n, start, piece, piece_n) using key (code) as (
    select code, n, start, cast(0 as bigint), (select n from _anon_total) from _anon_counts
    union all (
        with sided as (
            -- the lower median is the first value up to which there is at least half of the piece
            select *, 2 * (start - piece) < piece_n as small from _anon_pieces
        ),
        halves as (
            select piece, small, min(start) as start, cast(sum(n) as bigint) as n
            from sided
            group by piece, small
            having max(n) * (select l from _anon_limit) <= sum(n)
        ),
        chosen as (select piece from halves group by piece having count(*) = 2)
        select s.code, s.n, s.start, h.start, h.n
        from sided s
        join chosen c on c.piece = s.piece
        join halves h on h.piece = s.piece and h.small = s.small
    )
),
_anon_quotas as (
    select piece, buckets, cast(sum(buckets) over (order by piece) - buckets as bigint) as first
    from (
        select distinct piece, cast(floor(piece_n / (select l from _anon_limit)) as bigint) as buckets
        from _anon_pieces
    )
),
_anon_placed as (
    select r.id, r.draw, r.value, q.first + (r.place - q.piece) % q.buckets as bucket
    from _anon_ranked r
    join _anon_pieces p on r.value is not null and r.place >= p.start and r.place < p.start + p.n
    join _anon_quotas q on q.piece = p.piece
    where (select n from _anon_total) > 0
    union all
    select id, draw, value, place % (select cast(sum(buckets) as bigint) from _anon_quotas)
    from _anon_ranked
    where value is null and (select n from _anon_total) > 0
),
_anon_seats as (
    select
        id,
        value,
        bucket,
        row_number() over (partition by bucket order by md5_number(concat(hex(draw), ':row')), id) as seat,
        row_number() over (partition by bucket order by md5_number(concat(hex(draw), ':value')), id) as card
    from _anon_placed
),
_anon_numbers as (
    select bucket, row_number() over (order by md5_number(concat(hex(min(draw)), ':bucket')), bucket) as number
    from _anon_placed
    group by bucket
),
_anon_dealt as (
    select s.id, c.value, n.number
    from _anon_seats s
    join _anon_seats c on c.bucket = s.bucket and c.card = s.seat
    join _anon_numbers n on n.bucket = s.bucket
)
select r.* exclude (_anon_value, _anon_draw, _anon_row) replace (d.value as $$
    || _anon_name(sensitive) || '), d.number as ' || _anon_name(sensitive || '_bucket')
    || ' from _anon_rows r join _anon_dealt d on d.id = r._anon_row order by r._anon_row'
);

comment on macro table anon_bucketize is
    'Values of a column permuted within buckets of l different values: from anon_bucketize(table, column, l, secret)';

-- The published cells of classes: every quasi-identifier as the text that covers its values in the class. A
-- single value stays as it is; numbers and dates become `[30, 39]`; categories become a set,
-- `{Divorced, Widowed}`, or `*` where it is the whole column; ` or NULL` is added to either
-- where the class mixes with NULL. Categories that could be misread are put in double quotes.
--
-- tbl      name of a table or view, as made by anon_mondrian
-- quasi    its quasi-identifiers, a list of columns
-- class    the column that identifies the class
-- returns  every row, with text in the columns of the list
-- empty    no rows
--
-- example  from anon_cells('classes', ['age', 'sex']);
create or replace temp macro anon_cells(tbl varchar, quasi varchar[], class varchar := 'class_id') as table
from query(
    _anon_with(
        'anon_cells', tbl, _anon_columns('anon_cells', 'quasi', quasi) || _anon_columns('anon_cells', 'class', [class])
    )
    || array_to_string(
        list_transform(
            quasi,
            lambda name, i: ', _anon_cells_' || i || ' as (' || _anon_cell('anon_cells', name, class) || ')'
        ),
        ''
    )
    || ' select r.* replace ('
    || array_to_string(
        list_transform(quasi, lambda name, i: 'c' || i || '.cell as ' || _anon_name(name)), ', '
    )
    || ') from _anon_source r'
    || array_to_string(
        list_transform(
            quasi,
            lambda name, i: ' join _anon_cells_' || i || ' c' || i || ' on c' || i
                || '.class is not distinct from r.' || _anon_name(class)
        ),
        ''
    )
);

comment on macro table anon_cells is
    'Ranges and sets that classes publish: from anon_cells(table, [columns], class := ''class_id'')';

-- The classes of a table: the rows with equal values in the given columns, NULL being a value.
--
-- tbl      name of a table or view
-- quasi    its quasi-identifiers, a list of columns
-- returns  class_id (dense, in the order of the columns), rows, and the columns of the list
-- empty    no rows
--
-- example  from anon_classes('adult', ['age', 'sex']);
create or replace temp macro anon_classes(tbl varchar, quasi varchar[]) as table
with source as (
    from query(
        _anon_query(
            'anon_classes',
            tbl,
            _anon_columns('anon_classes', 'quasi', quasi),
            _anon_struct(quasi) || ' as q'
        )
    )
),
classes as (select q, count(*) as n from source group by q)
select row_number() over (order by q) as class_id, n as rows, unnest(q)
from classes
order by class_id;

comment on macro table anon_classes is
    'Classes of equal quasi-identifiers with their sizes: from anon_classes(table, [columns])';

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

-- The discernibility of a table (Bayardo and Agrawal 2005): the sum of the squared sizes of its
-- classes, so every row costs the size of its class; and a suppressed row costs as much as there
-- are rows in all.
--
-- tbl         name of a table or view
-- quasi       its quasi-identifiers, or its class number, a list of columns
-- suppressed  rows that were left out of the table
-- returns     one row: c_dm
-- empty       0
--
-- example     from anon_discernibility('adult', ['age', 'sex', 'race']);
create or replace temp macro anon_discernibility(tbl varchar, quasi varchar[], suppressed := 0) as table
with source as (
    from query(
        _anon_query(
            'anon_discernibility',
            tbl,
            _anon_columns('anon_discernibility', 'quasi', quasi),
            _anon_row(quasi) || ' as q'
            || _anon_checked(_anon_at_least('anon_discernibility', 'suppressed', suppressed, 0))
        )
    )
),
classes as (select count(*) as n from source group by q)
select cast(
    coalesce(sum(cast(n as hugeint) * n), 0) + suppressed * (coalesce(sum(n), 0) + suppressed) as hugeint
) as c_dm
from classes;

comment on macro table anon_discernibility is
    'Sum of the squared class sizes: from anon_discernibility(table, [columns], suppressed := 0)';

-- A lower bound of enhanced identity-reserved l-diversity (Wang et al. 2018), for a table with
-- several rows per person: in every class, at least so many different values are needed to meet
-- each person's set of values. Two bounds that need no search, the larger counts: the values of the
-- persons who have only one; and the fewest values whose holders could be all persons. The true l
-- can be larger. Persons without a value are left out, as are NULLs.
--
-- tbl        name of a table or view
-- quasi      its quasi-identifiers, a list of columns
-- sensitive  the column to protect
-- person     the column that identifies the person; a NULL is nobody
-- returns    one row: l, the bound for the worst class; 0 where nobody in a class has a value
-- empty      NULL
--
-- example    from anon_eir_l_bound('visits', ['age', 'sex'], 'disease', 'patient');
create or replace temp macro anon_eir_l_bound(
    tbl varchar, quasi varchar[], sensitive varchar, person varchar
) as table
with source as (
    from query(
        _anon_query(
            'anon_eir_l_bound',
            tbl,
            _anon_columns('anon_eir_l_bound', 'quasi', quasi)
            || _anon_columns('anon_eir_l_bound', 'sensitive', [sensitive])
            || _anon_columns('anon_eir_l_bound', 'person', [person]),
            _anon_row(quasi) || ' as q, ' || _anon_name(sensitive) || ' as s, ' || _anon_name(person) || ' as p'
        )
    )
),
classes as (select distinct q from source),
held as (select distinct q, s, p from source where s is not null and p is not null),
people as (select q, p, count(*) as different, min(s) as one from held group by q, p),
singles as (
    select q, count(*) as persons, count(distinct one) filter (where different = 1) as values_of_one
    from people
    group by q
),
reach as (
    select
        q,
        row_number() over w as taken,
        sum(n) over (w rows unbounded preceding) as persons
    from (select q, s, count(*) as n from held group by q, s)
    window w as (partition by q order by n desc, s)
),
covers as (
    select r.q, min(r.taken) as fewest
    from reach r
    join singles u on u.q = r.q
    where r.persons >= u.persons
    group by r.q
)
select min(coalesce(greatest(u.values_of_one, v.fewest), 0)) as l
from classes c
left join singles u on u.q = c.q
left join covers v on v.q = c.q;

comment on macro table anon_eir_l_bound is
    'Lower bound of enhanced identity-reserved l: from anon_eir_l_bound(table, [columns], sensitive column, person column)';

-- A generalization hierarchy of dates: every level has longer calendar periods, as
-- anon_date_interval makes them; the last level is `*`.
-- Keep it as a table, and a policy can name it: `hierarchy: {table: birth_levels}`.
--
-- tbl      name of a table or view
-- col      its column of dates or timestamps
-- periods  from fine to coarse, out of 'day', 'month', 'quarter', 'year', 'decade'
-- returns  value, level_1, level_2, ...: one row per value, NULL left out, in the order of values
-- empty    no rows
--
-- example  from anon_hierarchy_dates('visits', 'admitted', ['month', 'year']);
create or replace temp macro anon_hierarchy_dates(tbl varchar, col varchar, periods varchar[]) as table
from query(
    _anon_with('anon_hierarchy_dates', tbl, _anon_columns('anon_hierarchy_dates', 'col', [col]))
    || ' select value'
    || array_to_string(
        list_transform(
            periods,
            lambda period, i: ', anon_date_interval(value, ' || _anon_text(
                _anon_one_of('anon_hierarchy_dates', 'periods', period, ['day', 'month', 'quarter', 'year', 'decade'])
            ) || ') as level_' || i
        ),
        ''
    )
    || _anon_checked(_anon_steps(
        'anon_hierarchy_dates',
        'periods',
        list_transform(periods, lambda period: list_position(['day', 'month', 'quarter', 'year', 'decade'], period))
    ))
    || ', ''*'' as level_' || (coalesce(len(periods), 0) + 1)
    || ' from (select distinct ' || _anon_name(col) || ' as value from _anon_source where '
    || _anon_name(col) || ' is not null' || _anon_else_checked(1) || ') order by value'
);

comment on macro table anon_hierarchy_dates is
    'Hierarchy of dates by calendar periods: from anon_hierarchy_dates(table, column, [periods])';

-- A generalization hierarchy of numbers: every level has wider intervals, as anon_interval makes
-- them; the last level is `*`.
-- Keep it as a table, and a policy can name it: `hierarchy: {table: age_levels}`.
--
-- tbl      name of a table or view
-- col      its column of numbers
-- widths   of the intervals, from the finest level to the coarsest, each a multiple of the one
--          before, so that the levels nest
-- origin   where an interval of every level begins
-- returns  value, level_1, level_2, ...: one row per value, NULL left out, in the order of values
-- empty    no rows
--
-- example  from anon_hierarchy_intervals('adult', 'age', [5, 10, 20]);
create or replace temp macro anon_hierarchy_intervals(tbl varchar, col varchar, widths, origin := 0) as table
from query(
    _anon_with('anon_hierarchy_intervals', tbl, _anon_columns('anon_hierarchy_intervals', 'col', [col]))
    || ' select value'
    || array_to_string(
        list_transform(
            _anon_nested('anon_hierarchy_intervals', 'widths', _anon_steps('anon_hierarchy_intervals', 'widths', widths)),
            lambda width, i: ', anon_interval(value, ' || width || ', ' || _anon_given('anon_hierarchy_intervals', 'origin', origin) || ') as level_' || i
        ),
        ''
    )
    || ', ''*'' as level_' || (coalesce(len(widths), 0) + 1)
    || ' from (select distinct ' || _anon_name(col) || ' as value from _anon_source where '
    || _anon_name(col) || ' is not null' || _anon_else_checked(1) || ') order by value'
);

comment on macro table anon_hierarchy_intervals is
    'Hierarchy of numbers by intervals: from anon_hierarchy_intervals(table, column, [widths], origin := 0)';

-- A generalization hierarchy of codes: every level keeps fewer characters from the beginning, the
-- rest become `*` up to the length of the longest code; the last level is `*`.
-- Keep it as a table, and a policy can name it: `hierarchy: {table: zip_levels}`.
--
-- tbl      name of a table or view
-- col      its column of codes; numbers are taken as text
-- keep     characters that each level keeps, from the finest to the coarsest
-- returns  value, level_1, level_2, ...: one row per value, NULL left out, in the order of values
-- empty    no rows
--
-- example  from anon_hierarchy_prefix('adult', 'education', [5, 3]);
create or replace temp macro anon_hierarchy_prefix(tbl varchar, col varchar, keep) as table
from query(
    _anon_with('anon_hierarchy_prefix', tbl, _anon_columns('anon_hierarchy_prefix', 'col', [col]))
    || ' select value'
    || array_to_string(
        list_transform(
            _anon_steps('anon_hierarchy_prefix', 'keep', list_reverse(cast(keep as bigint[]))),
            lambda kept, i: replace(
                ', case when length(label) < # then label else left(label, #) || repeat(''*'', longest - #) end as level_',
                '#',
                cast(keep[i] as varchar)
            ) || i
        ),
        ''
    )
    || ', ''*'' as level_' || (coalesce(len(keep), 0) + 1)
    || ' from (select value, label, greatest(max(length(label)) over (), ' || coalesce(keep[1], 0) || ') as longest'
    || ' from (select distinct ' || _anon_name(col) || ' as value, ' || _anon_label(_anon_name(col))
    || ' as label from _anon_source where ' || _anon_name(col) || ' is not null' || _anon_else_checked(2) || ')) order by label'
);

comment on macro table anon_hierarchy_prefix is
    'Hierarchy of codes by their beginnings: from anon_hierarchy_prefix(table, column, [characters])';

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

-- The k of a table (Samarati and Sweeney 1998): the rows of its smallest class.
--
-- tbl      name of a table or view
-- quasi    its quasi-identifiers, a list of columns
-- returns  one row: k
-- empty    NULL
--
-- example  from anon_k('adult', ['age', 'sex', 'race']);
create or replace temp macro anon_k(tbl varchar, quasi varchar[]) as table
with source as (
    from query(
        _anon_query(
            'anon_k',
            tbl,
            _anon_columns('anon_k', 'quasi', quasi),
            _anon_row(quasi) || ' as q'
        )
    )
),
classes as (select count(*) as n from source group by q)
select min(n) as k
from classes;

comment on macro table anon_k is
    'Rows of the smallest class: from anon_k(table, [columns])';

-- The l-diversity of a table in its three forms (Machanavajjhala et al. 2006), each for its worst
-- class. A NULL among the sensitive values counts towards none of them.
--
-- tbl        name of a table or view
-- quasi      its quasi-identifiers, a list of columns
-- sensitive  the column to protect
-- l          the l of the recursive form
-- returns    one row: distinct_l, the fewest different values; entropy_l, the least exp(entropy),
--            to 12 decimals: logarithms are rounded, and equal shares of 5 values have 5;
--            recursive_c: the table is recursively (c, l)-diverse for every c above it ('inf':
--            for none)
-- empty      NULL, NULL, NULL
--
-- example    from anon_l('adult', ['age', 'sex'], 'occupation', l := 3);
create or replace temp macro anon_l(tbl varchar, quasi varchar[], sensitive varchar, l := 2) as table
with source as (
    from query(
        _anon_query(
            'anon_l',
            tbl,
            _anon_columns('anon_l', 'quasi', quasi)
            || _anon_columns('anon_l', 'sensitive', [sensitive]),
            _anon_row(quasi) || ' as q, ' || _anon_name(sensitive) || ' as s' || _anon_checked(_anon_at_least('anon_l', 'l', l, 1))
        )
    )
),
classes as (select q, count(s) as n from source group by q),
counts as (select q, count(*) as n from source where s is not null group by q, s),
ranked as (select q, n, row_number() over (partition by q order by n desc) as place from counts),
sums as (
    select
        q,
        count(*) as different,
        sum(n * ln(n)) as weighted,
        max(n) as most,
        coalesce(sum(n) filter (where place >= l), 0) as tail
    from ranked
    group by q
),
judged as (
    select
        coalesce(u.different, 0) as different,
        case when c.n > 0 then round(exp(ln(c.n) - u.weighted / c.n), 12) else 0 end as effective,
        case when u.tail > 0 then u.most / cast(u.tail as double) else cast('inf' as double) end as outweighs
    from classes c
    left join sums u on u.q = c.q
)
select min(different) as distinct_l, min(effective) as entropy_l, max(outweighs) as recursive_c
from judged;

comment on macro table anon_l is
    'Distinct, entropy and recursive l-diversity: from anon_l(table, [columns], sensitive column, l := 2)';

-- Partition a table into classes of at least k rows (Mondrian; LeFevre et al. 2006, strict), every
-- class cut where that saves most of the information (normalized certainty penalty; Xu et al.
-- 2006) or in the middle of its widest column, until no cut leaves k rows on both sides.
-- The classes are those of the algorithm `mondrian` of the Python package with `compare: 1` and
-- without hierarchies.
-- One recursive statement: made for up to some ten thousand rows.
--
-- The result still holds the raw values: publish ranges over each class (anon_cells).
--
-- tbl      name of a table or view
-- quasi    its quasi-identifiers, a list of columns; of equally good cuts, that of the earlier
--          column is taken
-- k        fewest rows of a class; more than there are rows is an error
-- split    'loss' or 'median'
-- returns  every row of the table with its class_id, dense from 1
-- empty    no rows
--
-- example  from anon_mondrian('adult', ['age', 'sex', 'education'], 5);
create or replace temp macro anon_mondrian(tbl varchar, quasi varchar[], k, split := 'loss') as table
with recursive coded as materialized (
    from query(
        _anon_coded('anon_mondrian', tbl, _anon_columns('anon_mondrian', 'quasi', quasi), quasi)
        || _anon_checked(_anon_at_least('anon_mondrian', 'k', k, 1))
        || _anon_checked(_anon_one_of('anon_mondrian', 'split', split, ['loss', 'median']))
    )
),
units as (
    select row_number() over (order by _anon_codes) as unit, _anon_codes as codes, count(*) as n
    from coded
    group by _anon_codes
),
limits as (
    select
        case
            when sum(n) < k
            then error('anon_mondrian: k: the table has fewer rows than k (allowed: at most ' || sum(n) || ')')
            -- after so many levels a class is cut in the middle, or rare values could be peeled
            -- off one at a time
            else 2 * ceil(log2(greatest(sum(n) / k, 2))) + 8
        end as loss_levels
    from units
),
places as (
    select distinct
        attribute, place.code as code, place.share as share, place.ordered as ordered,
        case
            when isnan(place.share)
            then error('anon_mondrian: quasi: the column ' || quasi[attribute]
                || ' holds NaN or infinite values (hint: make them NULL, or cast the column to text)')
            else place.size
        end as size
    from (
        select distinct unnest(_anon_places) as place, generate_subscripts(_anon_places, 1) as attribute
        from coded
    )
),
-- a class owns as many positions as it has units, and its number is the first of them:
-- of two halves the left keeps it, the right starts after the units of the left
partition(unit, class_id, class_rows, level, n, codes) using key (unit) as (
    select unit, cast(1 as bigint), cast(sum(n) over () as bigint), 0, n, codes
    from units
    union all (
        with histogram as (
            select class_id, attribute, code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
            from (
                select class_id, level, n, unnest(codes) as code, generate_subscripts(codes, 1) as attribute
                from partition
                where class_rows >= 2 * k
            )
            group by class_id, attribute, code
        ),
        placed as (
            select h.class_id, h.attribute, h.code, h.level, h.n, h.units, p.share, p.size, p.ordered
            from histogram h
            join places p on p.attribute = h.attribute and p.code = h.code
        ),
        -- a column with one value in a class cannot be cut there
        totals as (
            select
                class_id, attribute,
                cast(sum(n) as bigint) as n_all,
                count(*) as values_all,
                min(code) as first_code,
                max(code) as last_code,
                min(share) as first_share,
                max(share) as last_share
            from placed
            group by class_id, attribute
            having count(*) > 1
        ),
        running as (
            select
                p.class_id, p.attribute, p.code, p.level, p.share, p.size, p.ordered, p.n, p.units,
                t.n_all, t.values_all, t.first_code, t.last_code, t.first_share, t.last_share,
                cast(sum(p.n) over below as bigint) as n_left,
                cast(sum(p.units) over below as bigint) as units_left,
                row_number() over below as values_left,
                lead(p.share) over below as next_share
            from placed p
            join totals t on t.class_id = p.class_id and t.attribute = p.attribute
            window below as (
                partition by p.class_id, p.attribute order by p.code
                rows between unbounded preceding and current row
            )
        ),
        -- the loss of a side is that of the column that is cut
        losses as (
            select
                *,
                case
                    when ordered
                    then _anon_interval_loss(coalesce(last_share - first_share, 0), first_code = 0, size)
                    else _anon_set_loss(values_all, size)
                end as loss_all,
                case
                    when ordered
                    then _anon_interval_loss(coalesce(share - first_share, 0), first_code = 0 and code > 0, size)
                    else _anon_set_loss(values_left, size)
                end as loss_left,
                case
                    when ordered then coalesce(last_share - next_share, 0)
                    else _anon_set_loss(values_all - values_left, size)
                end as loss_right
            from running
        ),
        gains as (
            select
                class_id, attribute, code, ordered, false as single, level, units_left, n_left, n_all,
                case
                    when split = 'loss'
                    then n_all * loss_all - n_left * loss_left - (n_all - n_left) * loss_right
                    else coalesce(last_share - first_share, 0)
                end as gain
            from losses
            where n_left >= k
                and n_all - n_left >= k
                and code < last_code
                and (split = 'loss' or (2 * n_left >= n_all and 2 * (n_left - n) < n_all))
            union all
            -- one category against all others; those with the first and the last one are among the cuts above
            select
                class_id, attribute, code, ordered, true, level, units, n, n_all,
                n_all * loss_all - (n_all - n) * _anon_set_loss(values_all - 1, size)
            from losses
            where split = 'loss'
                and not ordered
                and code > first_code
                and code < last_code
                and n >= k
                and n_all - n >= k
                and level < (select loss_levels from limits)
        ),
        merits as (
            select
                class_id, attribute, code, single, units_left, n_left,
                case
                    when split = 'median' then cast(gain as decimal(18, 8))
                    -- a thin slice of a range leaves fewer rows in classes too small to be cut again
                    when level < (select loss_levels from limits)
                    then cast(
                        gain / sqrt(case when ordered then least(n_left, n_all - n_left) else n_all end) as decimal(18, 8)
                    )
                    else least(n_left, n_all - n_left)
                end as merit
            from gains
            where split = 'median' or cast(gain as decimal(18, 8)) > 0
        ),
        best as (select class_id, max(merit) as merit from merits group by class_id),
        cuts as (
            select m.*
            from merits m
            join best b on b.class_id = m.class_id and b.merit = m.merit
            qualify row_number() over (partition by m.class_id order by m.attribute, m.code, m.single) = 1
        )
        select
            unit,
            case when is_left then class_id else class_id + units_left end,
            case when is_left then n_left else class_rows - n_left end,
            level + 1,
            n,
            codes
        from (
            select
                o.*, t.units_left, t.n_left,
                case
                    when t.single then o.codes[t.attribute] = t.code else o.codes[t.attribute] <= t.code
                end as is_left
            from partition o
            join cuts t on t.class_id = o.class_id
        )
    )
)
select r.* exclude (_anon_codes, _anon_places), m.class_id
from coded r
join (select codes, dense_rank() over (order by class_id) as class_id from partition) m on m.codes = r._anon_codes
where (select loss_levels from limits) > 0;

comment on macro table anon_mondrian is
    'Classes of at least k rows that lose least: from anon_mondrian(table, [columns], k, split := ''loss'')';

-- The information that classes lose (normalized certainty penalty; Xu et al. 2006): for numbers and
-- dates the share of the column's range that a class spans, for categories the share of the
-- column's values that it holds; a single value loses nothing. NULL is one more category.
--
-- tbl         name of a table or view, as made by anon_mondrian
-- quasi       its quasi-identifiers, a list of columns with their raw values
-- class       the column that identifies the class
-- suppressed  rows that were left out of the table; each cell of theirs loses 1
-- returns     one row: ncp, the mean over all cells; ncp_sum; cells
-- empty       NULL, 0.0, 0
--
-- example     from anon_ncp('classes', ['age', 'sex']);
create or replace temp macro anon_ncp(
    tbl varchar, quasi varchar[], class varchar := 'class_id', suppressed := 0
) as table
with losses as (
    from query(
        _anon_with(
            'anon_ncp', tbl, _anon_columns('anon_ncp', 'quasi', quasi) || _anon_columns('anon_ncp', 'class', [class])
        )
        || ' '
        || array_to_string(
            list_transform(quasi, lambda name: 'select * from (' || _anon_column_loss('anon_ncp', name, class) || ')'),
            ' union all '
        )
        || _anon_checked(_anon_at_least('anon_ncp', 'suppressed', suppressed, 0))
    )
),
figures as (
    select
        cast(coalesce(sum(n), 0) + suppressed * len(quasi) as bigint) as cells,
        cast(coalesce(sum(n * cast(ncp as decimal(18, 15))), 0) as double) + suppressed * len(quasi) as ncp_sum
    from losses
)
select ncp_sum / nullif(cells, 0) as ncp, ncp_sum, cells
from figures;

comment on macro table anon_ncp is
    'Mean loss of the cells of classes: from anon_ncp(table, [columns], class := ''class_id'', suppressed := 0)';

-- The k of a table with several rows per person: the persons of its smallest class.
--
-- tbl      name of a table or view
-- quasi    its quasi-identifiers, a list of columns
-- person   the column that identifies the person; a NULL is nobody
-- returns  one row: k
-- empty    NULL
--
-- example  from anon_person_k('visits', ['age', 'sex'], 'patient');
create or replace temp macro anon_person_k(tbl varchar, quasi varchar[], person varchar) as table
with source as (
    from query(
        _anon_query(
            'anon_person_k',
            tbl,
            _anon_columns('anon_person_k', 'quasi', quasi)
            || _anon_columns('anon_person_k', 'person', [person]),
            _anon_row(quasi) || ' as q, ' || _anon_name(person) || ' as p'
        )
    )
),
classes as (select count(distinct p) as n from source group by q)
select min(n) as k
from classes;

comment on macro table anon_person_k is
    'Persons of the smallest class: from anon_person_k(table, [columns], person column)';

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

-- A keyed pseudonym: HMAC-SHA-256 of the value's text. The same value and secret give the same
-- pseudonym, so that tables can be joined; whoever has the secret can reverse it by trying values.
-- Pseudonymous data are not anonymous. Keep the secret out of scripts: getvariable('secret').
--
-- value    any value; NULL stays NULL
-- secret   text of 32 characters or more
-- returns  64 hexadecimal digits
--
-- example  select anon_pseudonym('Ann Smith', 'f0e1d2c3b4a5968778695a4b3c2d1e0f') as person;
create or replace temp macro anon_pseudonym(value, secret) as
    case
        -- (asked by itself: DuckDB takes an expression with a NULL in it for NULL, without its error)
        when _anon_secret('anon_pseudonym', secret) is null then null
        else sha256(
            _anon_xor(_anon_block(secret), '54761032DCFE98BA', 'CDEF89AB45670123')
            || unhex(sha256(
                _anon_xor(_anon_block(secret), '32107654BA98FEDC', '67452301EFCDAB89')
                || encode(cast(value as varchar))
            ))
        )
    end;

comment on macro anon_pseudonym is 'Keyed pseudonym (HMAC-SHA-256): anon_pseudonym(value, secret)';

-- The risk that a row is recognised by somebody who knows the given columns of its person
-- (the prosecutor's risk: one divided by the size of the row's class; El Emam 2013).
--
-- tbl        name of a table or view
-- quasi      its quasi-identifiers, a list of columns
-- threshold  a row is at risk where its risk is above it, a fraction
-- returns    one row: rows, classes, uniques, highest (risk of a row), average (over the rows),
--            at_risk (rows above the threshold) and their share
-- empty      0, 0, 0, NULL, NULL, 0, NULL
--
-- example    from anon_risk('adult', ['age', 'sex', 'race'], threshold := 0.2);
create or replace temp macro anon_risk(tbl varchar, quasi varchar[], threshold := 0.2) as table
with source as (
    from query(
        _anon_query(
            'anon_risk',
            tbl,
            _anon_columns('anon_risk', 'quasi', quasi),
            _anon_row(quasi) || ' as q' || _anon_checked(_anon_share('anon_risk', 'threshold', threshold))
        )
    )
),
classes as (select count(*) as n from source group by q)
select
    cast(coalesce(sum(n), 0) as bigint) as rows,
    count(n) as classes,
    count(*) filter (where n = 1) as uniques,
    1 / cast(min(n) as double) as highest,
    count(n) / cast(nullif(sum(n), 0) as double) as average,
    cast(coalesce(sum(n) filter (where n * threshold < 1), 0) as bigint) as at_risk,
    coalesce(sum(n) filter (where n * threshold < 1), 0) / cast(nullif(sum(n), 0) as double) as share_at_risk
from classes;

comment on macro table anon_risk is
    'Re-identification risk by the given columns: from anon_risk(table, [columns], threshold := 0.2)';

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

-- The t-closeness of a table (Li et al. 2007): the largest distance of a class from the whole table.
-- NULL is a category of its own (the first in order).
--
-- tbl        name of a table or view
-- quasi      its quasi-identifiers, a list of columns
-- sensitive  the column to protect
-- returns    one row: t_equal, by the equal ground distance; t_ordered, by the ordered one, in
--            the order of the column's type.
-- empty      NULL, NULL
--
-- example    from anon_t('adult', ['age', 'sex'], 'education');
create or replace temp macro anon_t(tbl varchar, quasi varchar[], sensitive varchar) as table
with source as (
    from query(
        _anon_query(
            'anon_t',
            tbl,
            _anon_columns('anon_t', 'quasi', quasi)
            || _anon_columns('anon_t', 'sensitive', [sensitive]),
            _anon_row(quasi) || ' as q, ' || _anon_name(sensitive) || ' as s'
        )
    )
),
counts as (select q, s, count(*) as n from source group by q, s),
totals as (select q, sum(n) as total from counts group by q),
reference as (select s, sum(n) as m from counts group by s),
cumulated as (
    select
        s,
        m,
        row_number() over w as place,
        sum(m) over (w rows unbounded preceding) as upto
    from reference
    window w as (order by s nulls first)
),
-- `area` is the sum of the cumulative counts up to a place
places as (select *, sum(upto) over (order by place rows unbounded preceding) as area from cumulated),
whole as (select count(*) as m, max(upto) as everything, max(area) as area from places),
steps as (
    select
        c.q,
        c.n,
        t.total,
        p.m,
        p.place,
        p.area - p.upto as before,
        sum(c.n) over (w rows unbounded preceding) as reached,
        lead(p.place) over w as next_place,
        lead(p.area - p.upto) over w as next_before,
        row_number() over w as number
    from counts c
    join totals t on t.q = c.q
    join places p on p.s is not distinct from c.s
    window w as (partition by c.q order by p.place)
),
-- between two values of a class its cumulative share is constant: one run for each value
runs as (
    select
        q,
        n,
        r.m,
        total,
        place,
        before,
        e.everything,
        reached * e.everything as level,
        reached * e.everything // total as level_in_table,
        coalesce(next_place, e.m + 1) - 1 as last_place,
        coalesce(next_before, e.area) as last_area,
        case when number = 1 then before * total else 0 end as ahead
    from steps r
    cross join whole e
),
-- the last place at which the table has not yet overtaken the class
crossed as (
    select r.*, least(greatest(coalesce(p.place, 0), r.place - 1), r.last_place) as crossing
    from runs r
    asof left join places p on r.level_in_table >= p.upto
),
distances as (
    select
        c.q,
        min(total * everything) + sum(abs(n * everything - c.m * total) - c.m * total) as apart,
        min(total * everything) as unit,
        sum(
            ahead
            + (crossing - c.place + 1) * level - total * (coalesce(p.area, 0) - before)
            + total * (last_area - coalesce(p.area, 0)) - (last_place - crossing) * level
        ) as area
    from crossed c
    left join places p on p.place = c.crossing
    group by c.q
)
select
    max(apart / cast(2 * unit as double)) as t_equal,
    max(case when e.m > 1 then d.area / cast(unit * (e.m - 1) as double) else 0 end) as t_ordered
from distances d
cross join whole e;

comment on macro table anon_t is
    't-closeness by equal and by ordered distance: from anon_t(table, [columns], sensitive column)';

-- Top-coding: values from a bound on become one category.
--
-- value    a number, date or text; NULL stays NULL
-- top      the first value of the category
-- returns  text: the value, or `>= 90`
--
-- example  select anon_top_code(age, 90) as age from adult;
create or replace temp macro anon_top_code(value, top) as
    case
        when value >= _anon_given('anon_top_code', 'top', top) then '>= ' || top
        else cast(value as varchar)
    end;

comment on macro anon_top_code is 'Values from a bound on as one category: anon_top_code(value, top)';

-- How many rows are unique: no other row has the same values in the given columns.
--
-- tbl      name of a table or view
-- quasi    its quasi-identifiers, a list of columns
-- returns  one row: uniques, rows, and share
-- empty    0, 0, NULL
--
-- example  from anon_uniques('adult', ['age', 'sex', 'race']);
create or replace temp macro anon_uniques(tbl varchar, quasi varchar[]) as table
with source as (
    from query(
        _anon_query(
            'anon_uniques',
            tbl,
            _anon_columns('anon_uniques', 'quasi', quasi),
            _anon_row(quasi) || ' as q'
        )
    )
),
classes as (select count(*) as n from source group by q)
select
    count(*) filter (where n = 1) as uniques,
    cast(coalesce(sum(n), 0) as bigint) as rows,
    count(*) filter (where n = 1) / cast(nullif(sum(n), 0) as double) as share
from classes;

comment on macro table anon_uniques is
    'Unique rows: from anon_uniques(table, [columns])';

-- The first three digits of a US ZIP code, and 000 where fewer than 20,001 people live
-- (HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(B)). Check the list against the current census:
-- the one here, of the census of 2000, is the one in the guidance of the US Department of Health
-- and Human Services (2012).
--
-- zip      a ZIP code: text of 5 or 9 digits, or a number; anything else becomes 000, NULL stays
-- sparse   the areas of three digits that become 000
-- returns  text of three digits
--
-- example  select anon_zip3('02139') as zip;
create or replace temp macro anon_zip3(
    zip,
    sparse := [
        '036', '059', '063', '102', '203', '556', '692', '790', '821', '823', '830', '831', '878',
        '879', '884', '890', '893'
    ]
) as
    case
        when sparse is null then error('anon_zip3: sparse: is NULL (allowed: a list of texts of three digits)')
        when zip is null then null
        when not regexp_full_match(_anon_zip(zip), '[0-9]{5}(-?[0-9]{4})?') then '000'
        when list_contains(sparse, left(_anon_zip(zip), 3)) then '000'
        else left(_anon_zip(zip), 3)
    end;

comment on macro anon_zip3 is
    'First three digits of a ZIP code, 000 where few people live: anon_zip3(zip, sparse := [...])';

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

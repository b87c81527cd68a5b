-- Cells of classes: one column, as the text of a query that returns class and cell.
create or replace temp macro _anon_cell(macro_name, name, class) as
    'with parts as (select class, value, label, ' || _anon_kind(macro_name, name, 'value')
    || ' <> ''categorical'' as ordered from (select distinct '
    || _anon_name(class) || ' as class, ' || _anon_name(name) || ' as value, '
    || _anon_label(_anon_name(name)) || ' as label from _anon_source)), '
    || 'total as (select count(distinct label) as size from parts), '
    || 'boxes as (select class, min(value) as lo, max(value) as hi, bool_or(ordered) as ordered,'
    || ' bool_or(value is null) as mixes, min(label) as label,'
    || ' list_sort(list(distinct label) filter (where label is not null)) as labels'
    || ' from parts group by class) '
    || 'select class, case when lo is null then null'
    || ' when ordered then case when lo = hi then ' || _anon_shown('lo')
    || ' else ''['' || ' || _anon_shown('lo') || ' || '', '' || ' || _anon_shown('hi') || ' || '']'' end'
    || ' when len(labels) = 1 then ' || _anon_category('labels[1]')
    || ' when len(labels) = (select size from total) then ''*'''
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

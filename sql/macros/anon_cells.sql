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

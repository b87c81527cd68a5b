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

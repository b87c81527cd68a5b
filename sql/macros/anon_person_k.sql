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

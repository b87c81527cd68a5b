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
person_values as (select distinct q, s, p from source where s is not null and p is not null),
people as (select q, p, count(*) as different, min(s) as one from person_values group by q, p),
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
    from (select q, s, count(*) as n from person_values group by q, s)
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

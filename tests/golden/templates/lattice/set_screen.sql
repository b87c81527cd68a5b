-- full_domain_sets, sizes of classes: As `screen`, for the classes in every set of columns: the figures of the worst set, and whether a node is worth a closer look. A row whose class is too small in any set is not published.
create or replace table anon_scratch.main.lattice_screened as
with sets_of_columns(set_number, m0) as (
    values
    (0, 130079),
    (1, 131040)
),
asked as (
    select b.number, s.set_number, b.m0 & s.m0 as m0
    from anon_scratch.main.lattice_batch b
    cross join sets_of_columns s
),
classes as (
    select a.number, a.set_number, cast(sum(t.n) as bigint) as n
    from anon_scratch.main.lattice_tuples t
    cross join asked a
    group by a.number, a.set_number, t.w0 & a.m0
),
of_sets as (
    -- 7 lines as in plans/full_domain.sql, sizes of classes
    group by number, set_number
),
counted as (
    select number, max(classes) as classes, min(smallest) as smallest, max(small) as small, max(squares) as squares
    from of_sets
    -- 6 lines as in plans/full_domain.sql, sizes of classes

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
    -- 4 lines of the template, 6b693167
    from anon_scratch.main.lattice_tuples t
    cross join asked a
    group by a.number, a.set_number, t.w0 & a.m0
-- 6 lines of the template, 87b7ed27
        cast(coalesce(sum(n) filter (where n < 2), 0) as bigint) as small,
        -- 10 lines of the template, eb834b46
from anon_scratch.main.lattice_batch b
join counted c on c.number = b.number
cross join anon_scratch.main.lattice_limits l

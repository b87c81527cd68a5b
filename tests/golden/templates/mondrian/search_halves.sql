-- mondrian_identity_reserved, undecided halves: Whether the halves that counts leave undecided satisfy l: no column has a hitting set of fewer than l values.
create or replace table anon_scratch.main.halves_searched as
with recursive problems as (
    select row_number() over () as problem, *
    from (
-- 4 lines as in templates/mondrian/undecided_halves.sql, mondrian_identity_reserved, undecided halves
    group by t.offer, t.class_id, t.rank
    having count(*) = 2 and not bool_or(v.fails)
),
known as (
    select class_id, min(rank) as rank from judged where holds group by class_id
)
select j.class_id, j.offer, v.grp, s.col, list(s.codes) as sets
from judged j
left join known k on k.class_id = j.class_id
-- 6 lines as in templates/mondrian/undecided_halves.sql, mondrian_identity_reserved, undecided halves
    -- 16 lines of persons/_search.sql.j2, 1d897f35
            -- 4 lines as in templates/persons/search_groups.sql, mondrian_identity_reserved, undecided groups
-- 4 lines of persons/_search.sql.j2, c2145b94
-- 4 lines of the template, 9979cd64

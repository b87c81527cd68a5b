-- full_domain_distortion, hierarchy_1.sets: The hierarchy of values that are merged into sets: one row per value and level.
create or replace table anon_scratch.main.hierarchy_1 as
with levels as (
    select unnest(generate_series(1, max(joined))) as level
    from anon_scratch.main.members_1
-- 4 lines of the template, 1eb5b2d4
        try_cast(m.value as INTEGER) as value,
        -- 10 lines of the template, 186da26e
    from anon_scratch.main.members_1 as m
    -- 11 lines of the template, 2e561acf
            when count(*) = 1 then min(case when regexp_matches(text, '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(text, '"', '""') || '"' else text end)
            else '{' || string_agg(case when regexp_matches(text, '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(text, '"', '""') || '"' else text end, ', ' order by text) || '}'
        -- 12 lines of the template, 700c2b6b
    cast(null as INTEGER) as lo,
    cast(null as INTEGER) as hi
from anon_scratch.main.values_1 as v
inner join cut as c on v.value = c.value
inner join nodes as n on c.level = n.level and c.place = n.place

-- full_domain_ncp, levels of age: {% if ordered %}
        n.level = 5 as whole
        , x.first_place
        , x.last_place
-- full_domain_ncp, levels of age: {% if ordered %}
        , case when whole then 1
            else coalesce((least(cast(hi as double), last_place) - greatest(cast(lo as double), first_place)) / nullif(last_place - first_place, 0), 0)
        end as ncp
-- full_domain_ncp, levels of born: {% if ordered and not bounded %}
extents as (
    select level, node, min(try_cast(value as DATE)) as lo, max(try_cast(value as DATE)) as hi from anon_scratch.main.listed_2
    group by level, node
),
-- full_domain_ncp, levels of born: {% if nulls %}
union all
select d.code, v.level, 0, 0, 0, 0
from anon_scratch.main.domain_2 d
cross join (select unnest(range(1, 2)) as level) v
where d.code = 0
union all
select d.code, 2, coalesce(w.node, 0), 1000000000000, 1000000000000, cast(1000000000000 as bigint) * 2
from anon_scratch.main.domain_2 d
left join lost w on w.level = 2
where d.code = 0
max(n.leaves) over () + 1  -- full_domain_ncp, levels of ward: , {% if declared %}max(n.leaves) over (){% if nulls %} + 1{% endif %}{% else %}x.size{% endif %} as size
-- 5 branches as in the template, d104af76

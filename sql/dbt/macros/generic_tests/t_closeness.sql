{#- Classes farther than t from the whole relation in a sensitive column (Li et al. 2007). NULL is a
    category, the first in order. `distance`: equal (default), or ordered by the column's type. -#}
{% test t_closeness(model, t, sensitive=none, column_name=none, quasi=none, class_id=none, distance="equal") %}
{{ anonymizer.anon_number("t_closeness", "t", t, 0, whole=false, most=1) }}
{%- if distance not in ["equal", "ordered"] -%}
  {{ anonymizer.anon_fail("t_closeness", "distance", "is not a distance", "equal, ordered") }}
{%- endif -%}
{%- if (sensitive or column_name) is none -%}
  {{ anonymizer.anon_fail("t_closeness", "sensitive", "is needed", "a column, or the test on a column") }}
{%- endif %}
{%- set bound = anonymizer.anon_fraction(t) %}
with classed as (
{{ anonymizer.anon_classed("t_closeness", model, quasi, class_id, {"sensitive": sensitive or column_name}) }}
),
-- numbers instead of values, NULL being one of them: joins of equal numbers are fast everywhere
numbered as (
    select
        class_id,
        dense_rank() over (order by class_id) as class_number,
        dense_rank() over (order by case when sensitive is null then 0 else 1 end, sensitive) as place
    from classed
),
reference as (select place, count(*) as m from numbered group by place),
totals as (
    select class_id, class_number, count(*) as units from numbered group by class_id, class_number
),
counts as (select class_number, place, count(*) as n from numbered group by class_number, place),
whole as (select cast(sum(m) as bigint) as everything, count(*) as categories from reference),
-- every category of every class, also those that a class lacks; differences of shares in whole numbers
gaps as (
    select
        t.class_id, t.class_number, t.units, r.place,
        cast(coalesce(c.n, 0) as {{ anonymizer.anon_whole() }}) * w.everything
            - cast(r.m as {{ anonymizer.anon_whole() }}) * t.units as gap
    from totals t
    cross join reference r
    cross join whole w
    left join counts c on c.class_number = t.class_number and c.place = r.place
),
moved as (
    select
        class_id, class_number, units,
        {% if distance == "equal" %}abs(gap){% else %}abs(sum(gap) over (partition by class_number order by place)){% endif %} as moved
    from gaps
),
distances as (
    select
        class_id,
        min(units) as units,
        cast(sum(moved) as {{ anonymizer.anon_whole() }}) as moved,
        cast(min(units) as {{ anonymizer.anon_whole() }}) * min(w.everything) * {% if distance == "equal" %}2{% else %}greatest(min(w.categories) - 1, 1){% endif %} as farthest
    from moved
    cross join whole w
    group by class_number, class_id
)
select class_id, units, cast(moved as {{ anonymizer.anon_real() }}) / cast(farthest as {{ anonymizer.anon_real() }}) as achieved
from distances
where moved * {{ bound[1] }} > farthest * {{ bound[0] }}
{% endtest %}

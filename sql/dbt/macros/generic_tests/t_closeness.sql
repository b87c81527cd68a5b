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
with classed as (
{{ anonymizer.anon_classed("t_closeness", model, quasi, class_id, {"sensitive": sensitive or column_name}) }}
),
reference as (
    select sensitive, count(*) as m, row_number() over (order by sensitive nulls first) as place
    from classed
    group by sensitive
),
totals as (select class_id, count(*) as units from classed group by class_id),
whole as (select cast(sum(m) as bigint) as everything, count(*) as categories from reference),
-- every category of every class, also those that a class lacks; differences of shares in whole numbers
gaps as (
    select
        t.class_id, t.units, r.place,
        cast(count(c.class_id) as hugeint) * w.everything - cast(r.m as hugeint) * t.units as gap
    from totals t
    cross join reference r
    cross join whole w
    left join classed c on c.class_id is not distinct from t.class_id and c.sensitive is not distinct from r.sensitive
    group by t.class_id, t.units, r.place, r.m, w.everything
),
moved as (
    select
        class_id, units,
        {% if distance == "equal" %}abs(gap){% else %}abs(sum(gap) over (partition by class_id order by place)){% endif %} as moved
    from gaps
),
distances as (
    select
        class_id,
        min(units) as units,
        sum(moved) / (cast(min(units) as double) * min(w.everything) * {% if distance == "equal" %}2{% else %}greatest(min(w.categories) - 1, 1){% endif %}) as achieved
    from moved
    cross join whole w
    group by class_id
)
select class_id, units, achieved
from distances
where achieved > {{ t }} + 1e-12
{% endtest %}

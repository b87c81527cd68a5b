{#- Classes that are not l-diverse in a sensitive column (Machanavajjhala et al. 2006); a NULL counts
    towards nothing. `kind`: distinct (default), entropy, or recursive, which needs `c`. -#}
{% test l_diversity(model, l, sensitive=none, column_name=none, quasi=none, class_id=none, kind="distinct", c=none) %}
{{ anonymizer.anon_number("l_diversity", "l", l, 1, whole=(kind != "entropy")) }}
{%- if kind not in ["distinct", "entropy", "recursive"] -%}
  {{ anonymizer.anon_fail("l_diversity", "kind", "is not a kind", "distinct, entropy, recursive") }}
{%- endif -%}
{%- if kind == "recursive" -%}{{ anonymizer.anon_number("l_diversity", "c", c, 0, whole=false) }}{%- endif -%}
{%- if (sensitive or column_name) is none -%}
  {{ anonymizer.anon_fail("l_diversity", "sensitive", "is needed", "a column, or the test on a column") }}
{%- endif %}
with classed as (
{{ anonymizer.anon_classed("l_diversity", model, quasi, class_id, {"sensitive": sensitive or column_name}) }}
),
counts as (
    select class_id, sensitive, count(*) as n
    from classed
    group by class_id, sensitive
),
ranked as (
    select
        class_id,
        case when sensitive is null then 0 else n end as n,
        n as units,
        row_number() over (partition by class_id, sensitive is null order by n desc) as place
    from counts
),
classes as (
    select
        class_id,
        sum(units) as units,
        cast(sum(case when n > 0 then 1 else 0 end) as bigint) as different,
        ln(nullif(cast(sum(n) as {{ anonymizer.anon_real() }}), 0))
            - sum(case when n > 0 then n * ln(cast(n as {{ anonymizer.anon_real() }})) end) / nullif(sum(n), 0) as entropy,
        cast(max(n) as bigint) as most,
        cast(coalesce(sum(case when n > 0 and place >= {{ l if l is integer else 1 }} then n end), 0) as bigint) as tail
    from ranked
    group by class_id
)
select class_id, cast(units as bigint) as units, {% if kind == "distinct" %}different{% elif kind == "entropy" %}coalesce(exp(entropy), 0){% else %}cast(most as {{ anonymizer.anon_real() }}) / nullif(tail, 0){% endif %} as achieved
from classes
where
    {% if kind == "distinct" -%}
    different < {{ l }}
    {%- elif kind == "entropy" -%}
    coalesce(entropy, -1) < ln(cast({{ l }} as {{ anonymizer.anon_real() }})) - {{ anonymizer.anon_entropy_tolerance() }}
    {%- else -%}
    {%- set bound = anonymizer.anon_fraction(c) %}
    not (tail > 0 and cast(most as {{ anonymizer.anon_whole() }}) * {{ bound[1] }} < cast(tail as {{ anonymizer.anon_whole() }}) * {{ bound[0] }})
    {%- endif %}

{% endtest %}

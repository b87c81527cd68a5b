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
{{ anonymizer.anon_judged("t_closeness", model, quasi, class_id, sensitive or column_name, "t_" ~ distance, none, anonymizer.anon_fraction(t), dense=(distance == "ordered")) }}
{% endtest %}

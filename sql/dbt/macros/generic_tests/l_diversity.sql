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
{{ anonymizer.anon_judged("l_diversity", model, quasi, class_id, sensitive or column_name, {"distinct": "distinct_l", "entropy": "entropy_l", "recursive": "recursive_cl"}[kind], l, anonymizer.anon_fraction(c)) }}
{% endtest %}

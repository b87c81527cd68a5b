{#- Types of the tests' own numbers, which adapters call by different names. Another adapter takes the
    defaults, or a macro of its own, as in `snowflake__anon_whole`. -#}

{#- Whole numbers of products of two counts of rows. -#}
{% macro anon_whole() -%}{{ return(adapter.dispatch("anon_whole", "anonymizer")()) }}{%- endmacro %}
{% macro default__anon_whole() -%}numeric(38, 0){%- endmacro %}
{% macro duckdb__anon_whole() -%}hugeint{%- endmacro %}

{#- Shares, of double precision. -#}
{% macro anon_real() -%}{{ return(adapter.dispatch("anon_real", "anonymizer")()) }}{%- endmacro %}
{% macro default__anon_real() -%}double precision{%- endmacro %}
{% macro duckdb__anon_real() -%}double{%- endmacro %}

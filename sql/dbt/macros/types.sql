{#- What adapters write in different ways. Types of the tests' own numbers: another adapter takes the
    defaults, or a macro of its own, as in `snowflake__anon_whole`. -#}

{#- Whole numbers of products of two counts of rows. -#}
{% macro anon_whole() -%}{{ return(adapter.dispatch("anon_whole", "anonymizer")()) }}{%- endmacro %}
{% macro default__anon_whole() -%}numeric(38, 0){%- endmacro %}
{% macro duckdb__anon_whole() -%}hugeint{%- endmacro %}
{% macro spark__anon_whole() -%}decimal(38, 0){%- endmacro %}
{% macro bigquery__anon_whole() -%}bignumeric{%- endmacro %}

{#- Numbers with twelve decimals. -#}
{% macro anon_decimal() -%}{{ return(adapter.dispatch("anon_decimal", "anonymizer")()) }}{%- endmacro %}
{% macro default__anon_decimal() -%}decimal(38, 12){%- endmacro %}
{% macro bigquery__anon_decimal() -%}bignumeric{%- endmacro %}

{#- Shares, of double precision. -#}
{% macro anon_real() -%}{{ return(adapter.dispatch("anon_real", "anonymizer")()) }}{%- endmacro %}
{% macro default__anon_real() -%}double precision{%- endmacro %}
{% macro duckdb__anon_real() -%}double{%- endmacro %}
{% macro spark__anon_real() -%}double{%- endmacro %}
{% macro bigquery__anon_real() -%}float64{%- endmacro %}

{#- Texts of any length. -#}
{% macro anon_text() -%}{{ return(adapter.dispatch("anon_text", "anonymizer")()) }}{%- endmacro %}
{% macro default__anon_text() -%}varchar{%- endmacro %}
{% macro redshift__anon_text() -%}varchar(65535){%- endmacro %}
{% macro spark__anon_text() -%}string{%- endmacro %}
{% macro bigquery__anon_text() -%}string{%- endmacro %}

{#- What ends a query with a message where it is cast to a number. Spark makes NULL of such a text,
    unless it follows the standard. -#}
{% macro anon_failing(message) -%}{{ return(adapter.dispatch("anon_failing", "anonymizer")(message)) }}{%- endmacro %}
{% macro default__anon_failing(message) -%}'{{ message }}'{%- endmacro %}
{% macro spark__anon_failing(message) -%}raise_error('{{ message }}'){%- endmacro %}

{#- Texts in the order of their code points, which is that of most adapters. -#}
{% macro anon_by_code_point(label) -%}{{ return(adapter.dispatch("anon_by_code_point", "anonymizer")(label)) }}{%- endmacro %}
{% macro default__anon_by_code_point(label) -%}{{ label }}{%- endmacro %}
{% macro postgres__anon_by_code_point(label) -%}{{ label }} collate "C"{%- endmacro %}

{#- Columns by which rows are put into classes, each with its text, which is compared by code point:
    under a collation of the column values may be equal that are not. The two zeros of a floating
    point column are one value. -#}
{% macro anon_exactly(names) -%}{{ return(adapter.dispatch("anon_exactly", "anonymizer")(names)) }}{%- endmacro %}
{% macro default__anon_exactly(names) -%}
  {%- for name in names %}{{ adapter.quote(name) }}{{ ", " if not loop.last }}{% endfor -%}
{%- endmacro %}
{% macro duckdb__anon_exactly(names) -%}
  {%- for name in names -%}
  {{ adapter.quote(name) }}, coalesce(nullif(cast({{ adapter.quote(name) }} as varchar), '-0.0'), '0.0') collate "binary"{{ ", " if not loop.last }}
  {%- endfor -%}
{%- endmacro %}
{% macro postgres__anon_exactly(names) -%}
  {%- for name in names -%}
  {{ adapter.quote(name) }}, coalesce(nullif(cast({{ adapter.quote(name) }} as text) collate "C", '-0'), '0') collate "C"{{ ", " if not loop.last }}
  {%- endfor -%}
{%- endmacro %}

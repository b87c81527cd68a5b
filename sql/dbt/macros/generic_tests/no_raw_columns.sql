{#- Columns that a release must not have: those of `columns`, and those of the relation `raw` except
    the ones `allowed`. Names are compared without regard to case; no row is read. -#}
{% test no_raw_columns(model, columns=none, raw=none, allowed=none) %}
{%- if not columns and raw is none -%}
  {{ anonymizer.anon_fail("no_raw_columns", "columns", "is needed, or raw", "columns: a list of names; raw: a relation") }}
{%- endif -%}
{%- for argument, given in {"columns": columns, "allowed": allowed}.items() if given is string or given is mapping -%}
  {{ anonymizer.anon_fail("no_raw_columns", argument, "is no list", "a list of names") }}
{%- endfor -%}
{%- set forbidden = (columns or []) | map("lower") | list -%}
{%- set found = [] -%}
{%- if execute -%}
  {%- if raw is not none -%}
    {%- if raw is string -%}
      {{ anonymizer.anon_fail("no_raw_columns", "raw", "is a text", "ref('...') or source('...')") }}
    {%- endif -%}
    {{ anonymizer.anon_there("no_raw_columns", "raw", raw) }}
    {%- for column in adapter.get_columns_in_relation(raw) if column.name | lower not in (allowed or []) | map("lower") | list -%}
      {%- do forbidden.append(column.name | lower) -%}
    {%- endfor -%}
  {%- endif -%}
  {{ anonymizer.anon_there("no_raw_columns", "model", model) }}
  {%- for column in adapter.get_columns_in_relation(model) if column.name | lower in forbidden -%}
    {%- do found.append(column.name) -%}
  {%- endfor -%}
{%- endif -%}
{%- for name in found %}
select {{ dbt.string_literal(dbt.escape_single_quotes(name)) }} as column_name
{% if not loop.last %}union all{% endif %}
{%- else %}
select null as column_name from (select 1 as nothing) as no_rows where 1 = 0
{%- endfor %}
{% endtest %}

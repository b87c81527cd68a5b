{#- On other adapters dbt cannot call Python: the release is a step of the build, between two of dbt's. -#}
{% materialization anonymized, default %}
  {%- do exceptions.raise_compiler_error(
      model.name ~ ": the materialization anonymized runs on dbt-duckdb, and not on " ~ adapter.type()
      ~ " (hint: make it a table, let `anonymizer run` publish it between two steps of dbt, and name the"
      ~ " release as a source: docs/how-to/dbt-postgres.md)"
  ) -%}
{% endmaterialization %}

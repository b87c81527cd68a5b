{#- The materialization `anonymized`: the model's SQL is the source, and what is published is a view
    over a frozen table of rows that an independent check has passed. The Python package
    `sql-anonymizer` does it in the process of dbt, on dbt's own connection; rows stay in DuckDB.

    config  policy  a policy file, from the project's folder, or the policy itself, without
                    `source` and with no name, schema or database under `publish`
    meta    anonymizer  of a column: its entry under `columns` of the policy

    A guarantee that does not hold fails the model and leaves the old release as it is. -#}
{% materialization anonymized, adapter="duckdb", supported_languages=["sql"] %}
  {%- set target_relation = this.incorporate(type="view") -%}
  {%- set columns = {} -%}
  {%- for name, column in (model.columns or {}).items() -%}
    {%- set meta = (column.config or {}).get("meta") or column.meta or {} -%}
    {%- if "anonymizer" in meta -%}
      {%- do columns.update({column.name: meta["anonymizer"]}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set given = {
      "model": model.name,
      "database": this.database,
      "schema": this.schema,
      "name": this.identifier,
      "query": compiled_code,
      "policy": config.get("policy"),
      "columns": columns,
      "full_refresh": should_full_refresh(),
      "compiled": model.compiled_path,
  } -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}
  {#- the release is published in a transaction of its own, which cannot be inside another -#}
  {%- do adapter.ensure_transaction() -%}
  {%- do adapter.commit() -%}

  {%- set contract = config.get("contract") -%}
  {%- if contract and contract.enforced -%}
    {%- do exceptions.raise_compiler_error(
        model.name ~ ": contract: enforced is not offered: cells have other types than the columns of the"
        ~ " model (hint: leave it out; the release is verified before it is published)"
    ) -%}
  {%- endif -%}

  {% call statement("anonymized", language="python") -%}
try:
    from anonymizer.dbt_release import publish
except ImportError:

    def publish(given, session):
        session.execute(
            "set variable anonymizer_outcome = 'the package sql-anonymizer is not installed beside dbt"
            " (hint: install it into the environment of dbt, as its README says)'"
        )


class dbtObj:
    def __init__(self, load_df_function):
        pass


def model(dbt, session):
    publish({{ tojson(tojson(given)) }}, session)


def materialize(df, con):
    pass
  {%- endcall %}

  {#- anything but `published` stops the model here: an exception in Python would be a traceback -#}
  {%- set outcome = run_query("select getvariable('anonymizer_outcome')").columns[0].values()[0] -%}
  {%- if outcome != "published" -%}
    {%- do exceptions.raise_compiler_error(outcome or "nothing was published") -%}
  {%- endif -%}
  {#- the message of the node, and of run_results.json -#}
  {%- set report = fromjson(run_query("select getvariable('anonymizer_report')").columns[0].values()[0]) -%}
  {%- for warning in report.warnings -%}
    {%- do exceptions.warn(model.name ~ ": " ~ warning) -%}
  {%- endfor -%}
  {%- do store_raw_result("main", message=report.message, code="OK", rows_affected=report.rows) -%}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {%- do apply_grants(target_relation, config.get("grants"), should_revoke=True) -%}
  {%- do persist_docs(target_relation, model) -%}
  {%- do adapter.ensure_transaction() -%}
  {%- do adapter.commit() -%}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({"relations": [target_relation]}) }}
{% endmaterialization %}

{#- What the tests share: arguments are checked here, and an error names the test, the argument and
    what is allowed. It is raised when the test runs, so that the rest of the project is not held up. -#}

{% macro anon_fail(test, argument, problem, allowed) -%}
  {%- if execute -%}
  {{ exceptions.raise_compiler_error(test ~ ": " ~ argument ~ ": " ~ problem ~ " (allowed: " ~ allowed ~ ")") }}
  {%- endif -%}
{%- endmacro %}

{#- A number of at least `least`, a whole one where it says so. -#}
{% macro anon_number(test, argument, given, least, whole=true, most=none) -%}
  {%- set allowed = ("a whole number" if whole else "a number") ~ " from " ~ least ~ ("" if most is none else " to " ~ most) -%}
  {%- if given is not number or given is boolean or (whole and given is not integer) or given < least or (most is not none and given > most) -%}
    {{ anonymizer.anon_fail(test, argument, "is " ~ (given if given is number else "not a number"), allowed) }}
  {%- endif -%}
{%- endmacro %}

{#- A bound as two whole numbers, of which it is the quotient: as it is written, up to 18 decimals (from
    1 on 18 digits), and what is beyond is cut off. The package's verifiers read bounds in the same way. -#}
{% macro anon_fraction(given) -%}
  {%- if given is not number -%}{{ return([0, 1]) }}{%- endif -%}
  {%- if given >= 10 ** 12 -%}{{ return([10 ** 12, 1]) }}{%- endif -%}
  {%- set written = (given | string | lower).split("e") -%}
  {%- set parts = written[0].split(".") -%}
  {%- set digits = (parts[0] ~ (parts[1] if parts | length > 1 else "")).rstrip("0") or "0" -%}
  {%- set point = parts[0] | length + (written[1] | int if written | length > 1 else 0) -%}
  {%- set most = 18 - (given | int | string | length if given >= 1 else 0) -%}
  {%- set scale = [[digits | length - point, 0] | max, most] | min -%}
  {%- set kept = [point + scale, 0] | max -%}
  {{ return([("0" ~ (digits ~ "0" * kept)[:kept]) | int, 10 ** scale]) }}
{%- endmacro %}

{#- A relation that is there: one that is missing has no columns, and would pass where none may be. -#}
{% macro anon_there(test, argument, relation) -%}
  {%- if execute and not adapter.get_columns_in_relation(relation) -%}
    {{ anonymizer.anon_fail(test, argument, "there is no relation " ~ relation, "one that is built before the test") }}
  {%- endif -%}
{%- endmacro %}

{#- The columns that the test reads, each of which the relation has to have: under the same name, as
    quoted names are compared by most engines. A test with a `where` reads a query, whose columns the
    engine checks. -#}
{% macro anon_needs(test, model, given) -%}
  {%- if execute and model is not string -%}
    {%- set found = adapter.get_columns_in_relation(model) | map(attribute="name") | list -%}
    {%- set any_case = target.type in ("duckdb", "spark", "databricks") -%}
    {%- set known = found | map("lower") | list if any_case else found -%}
    {%- for argument, names in given.items() -%}
      {%- for name in names if name is not none and (name | lower if any_case else name) not in known -%}
        {{ anonymizer.anon_fail(test, argument, "the relation has no column " ~ name, found | join(", ")) }}
      {%- endfor -%}
    {%- endfor -%}
  {%- endif -%}
{%- endmacro %}

{#- What a failing test calls a class: the number in the release, or a group of equal values that no
    release knows by this number. -#}
{% macro anon_number_of(class_id) -%}
class_id{% if class_id is none %} as group_number{% endif %}
{%- endmacro %}

{#- Every row with its class: the number in the column `class_id`, or one that is made from its values
    in the columns of `quasi`, NULL being a value. -#}
{% macro anon_classed(test, model, quasi, class_id, columns) -%}
  {%- if (not quasi) == (class_id is none) -%}
    {{ anonymizer.anon_fail(test, "quasi", "is needed, or class_id, and not both", "quasi: a list of columns; class_id: one column") }}
  {%- endif -%}
  {%- if quasi is string -%}
    {{ anonymizer.anon_fail(test, "quasi", "is one text", "a list of columns") }}
  {%- endif -%}
  {%- set given = {"quasi": quasi or [], "class_id": [class_id]} -%}
  {%- for argument, name in columns.items() %}{% do given.update({argument: [name]}) %}{% endfor -%}
  {{ anonymizer.anon_needs(test, model, given) }}
select
    {% if class_id is not none -%}
    {{ adapter.quote(class_id) }} as class_id
    {%- else -%}
    dense_rank() over (order by {{ anonymizer.anon_exactly(quasi or []) }}) as class_id
    {%- endif %}
    {%- for alias, name in columns.items() %},
    {{ adapter.quote(name) }} as {{ alias }}
    {%- endfor %}

from {{ model }}
{%- endmacro %}

{#- The classes that break a rule on the values of a sensitive column, judged by its parts in
    rules.sql over one row per class and value; a dense rule has a row for every value. -#}
{% macro anon_judged(test, model, quasi, class_id, sensitive, rule, l, bound, dense=false) -%}
with classed as (
{{ anonymizer.anon_classed(test, model, quasi, class_id, {"sensitive": sensitive}) }}
),
-- numbers instead of values, 0 being NULL: joins of equal numbers are fast everywhere
numbered as (
    select
        class_id,
        dense_rank() over (order by class_id) as class_number,
        case when sensitive is null then 0 else dense_rank() over (order by case when sensitive is null then 1 else 0 end, sensitive) end as value
    from classed
),
reference as (
    select
        value,
        count(*) as q,
        cast(sum(count(*)) over () as bigint) as q_size,
        cast(sum(case when value > 0 then count(*) else 0 end) over () as bigint) as q_known,
        cast(sum(case when value > 0 then 1 else 0 end) over () as bigint) as m
    from numbered
    group by value
),
counts as (select class_number, class_id, value, count(*) as n from numbered group by class_number, class_id, value),
layer_0 as (
    {% if dense -%}
    select t.class_number, t.class_id, coalesce(c.n, 0) as n, r.*
    from (select distinct class_number, class_id from counts) t
    cross join reference r
    left join counts c on c.class_number = t.class_number and c.value = r.value
    {%- else -%}
    select c.class_number, c.class_id, c.n, r.*
    from counts c
    join reference r on r.value = c.value
    {%- endif %}

),
{%- set last = namespace(layer=0) %}
{%- for depth in range(2) %}
{%- set columns = anonymizer.anon_rule(rule, "layer " ~ depth, l, bound) | trim %}
{%- if columns %}
{%- set last.layer = depth + 1 %}
layer_{{ depth + 1 }} as (select *, {{ columns }} from layer_{{ depth }}),
{%- endif %}
{%- endfor %}
judged as (
    select
        class_id,
        cast(sum(n) as bigint) as units,
        {{ anonymizer.anon_rule(rule, "achieved", l, bound) | trim }} as achieved,
        {{ anonymizer.anon_rule(rule, "holds", l, bound) | trim }} as holds
    from layer_{{ last.layer }}
    group by class_number, class_id
)
select {{ anonymizer.anon_number_of(class_id) }}, units, achieved
from judged
where not holds
{%- endmacro %}

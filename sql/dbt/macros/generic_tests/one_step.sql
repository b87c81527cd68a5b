{#- Totals that, less their shown parts, leave 1 to n - 1 for the hidden ones: a reader computes that by one
    subtraction. A hidden part has a row without a figure, and counts at least one. It is necessary and not
    enough: `anonymizer assess --counts` finds what several subtractions show. -#}
{% test one_step(model, by, n, measure, total="(all)") %}
{{ anonymizer.anon_number("one_step", "n", n, 2) }}
{%- if by is string or by is not iterable or not by -%}
  {{ anonymizer.anon_fail("one_step", "by", "is no list", "a list of columns") }}
{%- endif -%}
{{ anonymizer.anon_needs("one_step", model, {"by": by, "measure": [measure]}) }}
{%- set mark = "'" ~ (total | replace("'", "''")) ~ "'" %}
{% for column in by %}
select
    {{ loop.index }} as direction,
    whole.figure - coalesce(sum(part.figure), 0) as remaining,
    count(*) - count(part.figure) as hidden
from (
    select {% for name in by %}{{ adapter.quote(name) }} as g{{ loop.index }}, {% endfor %}{{ adapter.quote(measure) }} as figure
    from {{ model }}
    where {{ adapter.quote(column) }} = {{ mark }} and {{ adapter.quote(measure) }} is not null
) as whole
join (
    select {% for name in by %}{{ adapter.quote(name) }} as g{{ loop.index }}, {% endfor %}{{ adapter.quote(measure) }} as figure
    from {{ model }}
    where {{ adapter.quote(column) }} <> {{ mark }} and {{ adapter.quote(column) }} <> '(other)'
) as part on {% for name in by if name != column %}part.g{{ by.index(name) + 1 }} = whole.g{{ by.index(name) + 1 }}{% if not loop.last %} and {% endif %}{% else %}true{% endfor %}

group by {% for name in by %}whole.g{{ loop.index }}, {% endfor %}whole.figure
having count(*) > count(part.figure)
    and whole.figure - coalesce(sum(part.figure), 0) - (count(*) - count(part.figure) - 1) < {{ n }}
{% if not loop.last %}union all{% endif %}
{% endfor %}
{% endtest %}

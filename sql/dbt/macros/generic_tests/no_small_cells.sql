{#- Published counts of 1 to n - 1. A hidden count is NULL. -#}
{% test no_small_cells(model, n, measure) %}
{{ anonymizer.anon_number("no_small_cells", "n", n, 2) }}
{{ anonymizer.anon_needs("no_small_cells", model, {"measure": [measure]}) }}
select {{ adapter.quote(measure) }} as cell
from {{ model }}
where {{ adapter.quote(measure) }} > 0 and {{ adapter.quote(measure) }} < {{ n }}
{% endtest %}

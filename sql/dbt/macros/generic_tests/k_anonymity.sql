{#- Classes with fewer rows than k (Samarati and Sweeney 1998). -#}
{% test k_anonymity(model, k, quasi=none, class_id=none) %}
{{ anonymizer.anon_number("k_anonymity", "k", k, 1) }}
with classed as (
{{ anonymizer.anon_classed("k_anonymity", model, quasi, class_id, {}) }}
)
select class_id, count(*) as units
from classed
group by class_id
having count(*) < {{ k }}
{% endtest %}

{#- Classes with fewer rows than k (Samarati and Sweeney 1998). -#}
{% test k_anonymity(model, k, quasi=none, class_id=none) %}
{{ anonymizer.anon_number("k_anonymity", "k", k, 1) }}
with classed as (
{{ anonymizer.anon_classed("k_anonymity", model, quasi, class_id, {}) }}
)
select {{ anonymizer.anon_number_of(class_id) }}, {{ anonymizer.anon_rule("k_anonymity", "achieved", k) | trim }} as units
from (select class_id, 1 as n from classed) as rows_of_classes
group by class_id
having not ({{ anonymizer.anon_rule("k_anonymity", "holds", k) | trim }})
{% endtest %}

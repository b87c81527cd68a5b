{#- Classes with fewer persons than k, in a table with several rows per person. NULL is nobody. -#}
{% test person_k_anonymity(model, k, person, quasi=none, class_id=none) %}
{{ anonymizer.anon_number("person_k_anonymity", "k", k, 1) }}
with classed as (
{{ anonymizer.anon_classed("person_k_anonymity", model, quasi, class_id, {"person": person}) }}
)
select class_id, count(*) as units, count(distinct person) as persons
from classed
group by class_id
having count(distinct person) < {{ k }}
{% endtest %}

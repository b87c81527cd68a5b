{#- Classes with fewer persons than k, in a table with several rows per person. NULL is nobody. -#}
{% test person_k_anonymity(model, k, person, quasi=none, class_id=none) %}
{{ anonymizer.anon_number("person_k_anonymity", "k", k, 1) }}
with classed as (
{{ anonymizer.anon_classed("person_k_anonymity", model, quasi, class_id, {"person": person}) }}
)
select {{ anonymizer.anon_number_of(class_id) }}, cast(sum(units) as bigint) as units, {{ anonymizer.anon_rule("k_anonymity", "achieved", k) | trim }} as persons
from (
    select class_id, count(*) as units, case when person is null then 0 else 1 end as n
    from classed
    group by class_id, person
) as persons_of_classes
group by class_id
having not ({{ anonymizer.anon_rule("k_anonymity", "holds", k) | trim }})
{% endtest %}

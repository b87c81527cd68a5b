-- privacyfrost_full_domain, levels of classes: {% if partial %} ... {% else %}
with best as (
    select
        max(case when attribute = 0 then 4 - depth end) as l1,
        max(case when attribute = 1 then 5 - depth end) as l2
    from anon_scratch.main.search_state
)
select d.class_id, b.*
from (select distinct class_id from anon_scratch.main.divided_classes) d
cross join best b

-- name: rows
-- The release without classes: every row, shuffled by its draw.
create or replace table {{ release | ident }} as
select
    {% for expression, name in columns %}
    {{ expression }} as {{ name }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ coded | ident }} r
{% if persons %}
join {{ persons | ident }} p on p.person = r.person
{% endif %}
{% if ordered %}
order by r.draw
{% endif %}

-- name: rows
-- The release: every published row with the cells of its class, shuffled by its draw.
create or replace table {{ release | ident }} as
select
    {% for expression, name in columns %}
    {{ expression }} as {{ name }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ coded | ident }} r
{% if units %}
join {{ units | ident }} u on {% for key in keys %}u.{{ key }} = r.{{ key }}{% if not loop.last %} and {% endif %}{% endfor %}

join {{ members | ident }} m on m.unit = u.unit
{% else %}
join {{ members | ident }} m on {% for key in keys %}m.{{ key }} = r.{{ key }}{% if not loop.last %} and {% endif %}{% endfor %}

{% endif %}
join {{ cells | ident }} c on c.class_id = m.class_id
{% if persons %}
join {{ persons | ident }} p on p.person = r.person
{% endif %}
{% for b in buckets_used %}
left join {{ b.dealt | ident }} {{ b.alias }} on {{ b.alias }}.row_id = r.row_id
{% endfor %}
{% if order %}
order by {{ order }}
{% endif %}

-- name: rows.spark
-- The release as on the other engines. Tuples are joined with their classes before the rows are:
-- two joins of the rows, both with tables too large to broadcast, would shuffle every row twice.
create or replace table {{ release | ident }} as
select
    {% for expression, name in columns %}
    {{ expression }} as {{ name }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ coded | ident }} r
join (
    select {% for key in keys %}u.{{ key }}, {% endfor %}m.class_id
    from {{ units | ident }} u
    join {{ members | ident }} m on m.unit = u.unit
) u on {% for key in keys %}u.{{ key }} = r.{{ key }}{% if not loop.last %} and {% endif %}{% endfor %}

join {{ cells | ident }} c on c.class_id = u.class_id
{% if persons %}
join {{ persons | ident }} p on p.person = r.person
{% endif %}
{% for b in buckets_used %}
left join {{ b.dealt | ident }} {{ b.alias }} on {{ b.alias }}.row_id = r.row_id
{% endfor %}
{% if order %}
order by {{ order }}
{% endif %}

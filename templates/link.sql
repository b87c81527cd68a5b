-- name: published
-- The release: the rows of the link in their order, without the references to their originals.
-- parameters: columns: their names; written: those that are numbers of texts in the link, and published as texts
create or replace table {{ release | ident }} as
select {% for name in columns %}{% if name in written %}cast({{ name | ident }} as varchar) as {{ name | ident }}{% else %}{{ name | ident }}{% endif %}{% if not loop.last %}, {% endif %}{% endfor %}

from {{ link | ident }}

-- name: classes
-- The class of every unit under the keys of the unit, for which the rows are looked up: nothing else
-- of the units is needed any more.
create or replace table {{ classes | ident }} as
select {% for key in keys %}u.{{ key }}, {% endfor %}m.class_id
from {{ units | ident }} u
join {{ members | ident }} m on m.unit = u.unit

-- name: texts
-- The distinct texts of a column's cells as an enumeration type: rows then carry a number, which is
-- sorted, joined and grouped in half the time of the text.
create or replace type {{ texts | ident }} as enum (
    select distinct {{ name }} as text from {{ cells | ident }} where {{ name }} is not null
    order by text
)

-- name: numbered_cells
-- The cells of classes, with their texts converted to the types of the texts of their columns.
create or replace table {{ cells | ident }} as
select * replace ({% for name, texts in named %}cast({{ name }} as {{ texts | ident }}) as {{ name }}{% if not loop.last %}, {% endif %}{% endfor %})
from {{ cells | ident }}

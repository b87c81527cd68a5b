-- name: listed
-- The domain of a column as the policy lists it: values that may occur, whatever the data.
-- parameters: typed: the text in the column's type
create or replace table {{ domain | ident }} as
select distinct text, {{ typed }} as {{ value }}
from (
    values
    {% for text in texts %}
    (cast({{ text | lit }} as varchar)){% if not loop.last %},{% endif %}

    {% endfor %}
) as given(text)

-- name: leaves
-- The domain of a column whose hierarchy is in a file or table: the values that it lists, besides
-- those that are none of the column's type, such as a heading.
create or replace table {{ domain | ident }} as
select distinct {{ typed }} as {{ value }}
from {{ listed | ident }}
where {{ typed }} is not null

-- name: values
-- The values for which a hierarchy is built: those of the domain, and not of the data.
create or replace table {{ values | ident }} as
select distinct {{ value }} as value, cast(1 as bigint) as n
from {{ domain | ident }}
where {{ value }} is not null

-- name: mistyped
-- Values of a domain that are none of the column's type.
select count(*)
from {{ domain | ident }}
where text is not null and {{ value }} is null
having count(*) > 0

-- name: outside
-- Rows whose value is not in the domain.
-- parameters: nulls: whether NULL is
select count(*)
from {{ snapshot | ident }} as s
where
    {% if nulls %}s.{{ value }} is not null and {% endif %}not exists (select 1 from {{ domain | ident }} as d where d.{{ value }} = s.{{ value }})
having count(*) > 0

-- name: size
-- Domains whose cross has too many groups.
select {% for domain in domains %}cast((select count(*) from {{ domain | ident }}) as double){% if not loop.last %} * {% endif %}{% endfor %} as members
where {% for domain in domains %}cast((select count(*) from {{ domain | ident }}) as double){% if not loop.last %} * {% endif %}{% endfor %} > {{ most | lit }}

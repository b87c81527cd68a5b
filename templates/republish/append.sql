-- name: all_units
-- All units, put aside while the new ones are partitioned.
create or replace table {{ all_units | ident }} as
select * from {{ units | ident }}

-- name: members
-- The final nodes as classes of units.
create or replace table {{ members | ident }} as
select u.unit, g.class_id
from {{ groups | ident }} g
join {{ units | ident }} u on u.row_id = g.id

-- name: staying
-- The persons who stay, with the earlier class that they continue. Of a group with the same history,
-- either nobody leaves or at least k leave and at least k stay: of those who could stay, some or all
-- are left out, the same ones in every release.
-- parameters: whole: whether a group of which somebody has gone leaves as a whole, since those who have
-- gone would have to keep the rules of columns by themselves; kept: columns with rules, of which a group
-- that stays has enough values in common with all of its classes so far
create or replace table {{ staying | ident }} as
with present as (
    select distinct h.person, h.lineage, h.grp, h.persons
    from {{ coded | ident }} r
    join {{ digests | ident }} d on d.row_ref = r.row_ref
    join {{ history | ident }} h on h.person = d.person
),
counts as (
    select *, count(*) over (partition by grp) as here, row_number() over (partition by grp order by person) as place
    from present
){% for one in kept %},
{{ one.name }} as (
    -- the values that the group has now, of those that its classes had in every release
    select c.grp, count(distinct v.text) as n
    from (select distinct grp from {{ history_common | ident }} where facet = {{ one.column | lit }}) g
    join {{ history_common | ident }} c on c.grp = g.grp and c.facet = {{ one.column | lit }}
    left join (
        select distinct p.grp, {{ one.text }} as text
        from {{ coded | ident }} r
        join {{ digests | ident }} d on d.row_ref = r.row_ref
        join present p on p.person = d.person
    ) v on v.grp = c.grp and v.text = c.text
    group by c.grp
){% endfor %}

select person, lineage
from counts
{% if whole %}
{% for one in kept %}
left join {{ one.name }} on {{ one.name }}.grp = counts.grp
{% endfor %}
where here = persons{% for one in kept %} and coalesce({{ one.name }}.n >= {{ one.least | lit }}, true){% endfor %}

{% else %}
where case when here = persons then here else least(here, persons - {{ k | lit }}) end >= {{ k | lit }}
    and (here = persons or place <= persons - {{ k | lit }})
{% endif %}

-- name: standing_rows
-- Rows with the earlier class that they continue, if any, and the class of equal rows (`near`).
-- Persons who cannot stay are left out.
create or replace table {{ standing | ident }} as
with standing as (
    select {% for column in columns %}r.{{ column }}, {% endfor %}d.person as whose, s.lineage as earlier
    from {{ coded | ident }} r
    join {{ digests | ident }} d on d.row_ref = r.row_ref
    left join {{ history | ident }} h on h.person = d.person
    left join {{ staying | ident }} s on s.person = d.person
    where h.person is null or s.person is not null
),
tuples as (
    select {% for a in attributes %}{{ a.c }}, {% endfor %}min(earlier) as lineage
    from standing
    where earlier is not null
    group by {% for a in attributes %}{{ a.c }}{% if not loop.last %}, {% endif %}{% endfor %}

)
select s.*, t.lineage as near
from standing s
left join tuples t on {% for a in attributes %}t.{{ a.c }} = s.{{ a.c }}{% if not loop.last %} and {% endif %}{% endfor %}


-- name: newcomers
-- The new persons with the class that they may join (`joining`), or all who are to make new ones, with
-- their values of columns that have rules.
create or replace table {{ newcomers | ident }} as
{% if joining %}
select near as class_id, whose as number{% for value in values %}, {{ value }}{% endfor %}

from {{ standing | ident }}
where earlier is null and near is not null
{% else %}
select lineage as class_id, d.person as number{% for value in values %}, r.{{ value }}{% endfor %}

from {{ coded | ident }} r
join {{ digests | ident }} d on d.row_ref = r.row_ref
where lineage = 0
{% endif %}

-- name: lineages
-- Rows with the earlier class that they continue: persons who stay keep theirs, and k or more new
-- persons with the same quasi-identifiers as its rows join it, if they keep the rules of columns
-- (0: a class is still to be found).
create or replace table {{ coded | ident }} as
with joining as (
    select near
    from {{ standing | ident }}
    where earlier is null and near is not null{% if values %} and near not in (select class_id from {{ failing | ident }}){% endif %}

    group by near
    having count(distinct whose) >= {{ k | lit }}
)
select {% for column in columns %}f.{{ column }}, {% endfor %}coalesce(f.earlier, j.near, 0) as lineage
from {{ standing | ident }} f
left join joining j on j.near = f.near

-- name: arriving_units
-- The units without a class, if they are enough for one of their own and keep the rules of columns, in
-- every n-th release of the view (`wait`); otherwise none, and they wait for a later release.
create or replace table {{ units | ident }} as
select *
from {{ all_units | ident }}
where lineage = 0
    and (select sum(n) from {{ all_units | ident }} where lineage = 0) >= {{ k | lit }}
    {% if values %}
    and not exists (select 1 from {{ failing | ident }})
    {% endif %}
    {% if wait > 1 %}
    and coalesce((select max(releases) from {{ history_releases | ident }}), 0) % {{ wait | lit }} = 0
    {% endif %}

-- name: restore_units
-- All units again.
create or replace table {{ units | ident }} as
select * from {{ all_units | ident }}

-- name: continue_classes
-- Earlier classes with those who stayed and those who joined; their numbers are negative.
insert into {{ members | ident }}
select unit, -dense_rank() over (order by lineage)
from {{ all_units | ident }}
where lineage > 0

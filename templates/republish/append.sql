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
)
select person, lineage
from counts
where case when here = persons then here else least(here, persons - {{ k | lit }}) end >= {{ k | lit }}
    and (here = persons or place <= persons - {{ k | lit }})

-- name: lineages
-- Rows with the earlier class that they continue: persons who stay keep theirs, and k or more new
-- persons with the same quasi-identifiers as its rows join it (0: a class is still to be found).
-- Persons who cannot stay are left out.
create or replace table {{ coded | ident }} as
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

),
found as (
    select s.*, t.lineage as near
    from standing s
    left join tuples t on {% for a in attributes %}t.{{ a.c }} = s.{{ a.c }}{% if not loop.last %} and {% endif %}{% endfor %}

),
joining as (
    select near
    from found
    where earlier is null and near is not null
    group by near
    having count(distinct whose) >= {{ k | lit }}
)
select {% for column in columns %}f.{{ column }}, {% endfor %}coalesce(f.earlier, j.near, 0) as lineage
from found f
left join joining j on j.near = f.near

-- name: arriving_units
-- The units without a class, if they are enough for one of their own; otherwise none, and they wait
-- for a later release.
create or replace table {{ units | ident }} as
select *
from {{ all_units | ident }}
where lineage = 0 and (select sum(n) from {{ all_units | ident }} where lineage = 0) >= {{ k | lit }}

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

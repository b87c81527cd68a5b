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
-- parameters: whole: whether those who have gone, and who goes along, have to keep the rules of columns by
-- themselves; kept: columns with rules, of which a group that stays has enough values in common with all of
-- its classes so far; divides: whether part of a group may go. Who goes along is drawn, whatever their values
-- are: as few as it takes until all who go have enough values, by what the ledger has of the group; most: if
-- not as many are enough, all go
create or replace table {{ staying | ident }} as
with present as (
    select h.person, h.lineage, h.grp, h.persons, min(r.draw) as draw
    from {{ coded | ident }} r
    join {{ digests | ident }} d on d.row_ref = r.row_ref
    join {{ history | ident }} h on h.person = d.person
    group by h.person, h.lineage, h.grp, h.persons
),
counts as (
    select
        *,
        count(*) over (partition by grp) as here,
        row_number() over (partition by grp order by {% if whole %}draw, {% endif %}person) as place
    from present
){% for one in kept %},
own_{{ one.name }} as (
    select p.person, p.grp, min({{ one.text }}) as text
    from {{ coded | ident }} r
    join {{ digests | ident }} d on d.row_ref = r.row_ref
    join present p on p.person = d.person
    group by p.person, p.grp
),
{{ one.name }} as (
    -- the values that the group has now, of those that its classes had in every release
    select c.grp, count(distinct v.text) as n
    from {{ history_common | ident }} c
    left join own_{{ one.name }} v on v.grp = c.grp and v.text = c.text
    where c.facet = {{ one.column | lit }}
    group by c.grp
){% endfor %}
{% if whole and divides %},
parts as (
    -- by how many go along with those who have gone
    select distinct c.grp, n.along
    from (select distinct grp, here, persons from counts where here < persons) c
    join (select place as along from counts union select 0) n
        on n.along >= {{ k | lit }} - (c.persons - c.here) and n.along <= c.here - {{ k | lit }}
        and n.along <= {{ most | lit }}
){% for one in kept %},
left_{{ one.name }} as (
    select p.grp, p.along, v.text, count(*) as n
    from parts p
    join counts c on c.grp = p.grp and c.place > p.along
    join own_{{ one.name }} v on v.person = c.person
    where v.text is not null
    group by p.grp, p.along, v.text
),
going_{{ one.name }} as (
    select
        p.grp,
        p.along,
        count(*) filter (where k.n > coalesce(l.n, 0)) as going,
        count(*) filter (where l.n > 0 and m.text is not null) as remaining,
        count(*) filter (where l.n > k.n) as changed
    from parts p
    join {{ history_counts | ident }} k on k.grp = p.grp and k.facet = {{ one.column | lit }} and k.text is not null
    left join left_{{ one.name }} l on l.grp = p.grp and l.along = p.along and l.text = k.text
    left join {{ history_common | ident }} m on m.grp = p.grp and m.facet = k.facet and m.text = k.text
    group by p.grp, p.along
),
unlike_{{ one.name }} as (
    -- (a value that nobody had: it has changed)
    select distinct l.grp, l.along
    from left_{{ one.name }} l
    left join {{ history_counts | ident }} k on k.grp = l.grp and k.facet = {{ one.column | lit }} and k.text = l.text
    where k.text is null
){% endfor %},
chosen as (
    select p.grp, min(p.along) as along
    from parts p
    {% for one in kept %}
    join going_{{ one.name }} on going_{{ one.name }}.grp = p.grp and going_{{ one.name }}.along = p.along
        and going_{{ one.name }}.going >= {{ one.least | lit }} and going_{{ one.name }}.remaining >= {{ one.least | lit }}
        and going_{{ one.name }}.changed = 0
    left join unlike_{{ one.name }} on unlike_{{ one.name }}.grp = p.grp and unlike_{{ one.name }}.along = p.along
    {% endfor %}
    {% if kept %}
    where {% for one in kept %}unlike_{{ one.name }}.grp is null{% if not loop.last %} and {% endif %}{% endfor %}

    {% endif %}
    group by p.grp
)
{% endif %}

select counts.person, counts.lineage
from counts
{% if whole %}
{% for one in kept %}
left join {{ one.name }} on {{ one.name }}.grp = counts.grp
{% endfor %}
{% if divides %}
left join chosen on chosen.grp = counts.grp
{% endif %}
where here = persons{% for one in kept %} and coalesce({{ one.name }}.n >= {{ one.least | lit }}, true){% endfor %}
{% if divides %}

    or here < persons and place > chosen.along
{% endif %}

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

-- name: outlook
-- What a release would change of the last one of its view, in persons: who has gone, who goes along with
-- them, who is left out because values have changed, who still is, who comes back, who is new and of
-- them joins a class; then the releases of the view, those since new classes were made, and whether the
-- others who are new break a rule. The shares are of those who would leave, by chance, if as many leave as
-- have gone now, in each of n releases: of a group with the same history k go, or all if not as many are left.
-- parameters: spans: each n; divides: whether part of a group may go
with present as (
    select distinct person from {{ digests | ident }}
),
earlier as (
    select
        h.person,
        h.latest = 1 as latest,
        h.grp,
        p.person is not null as here,
        s.person is not null as stays,
        count(*) over (partition by h.grp) as persons,
        count(p.person) over (partition by h.grp) as remaining
    from {{ history | ident }} h
    left join present p on p.person = h.person
    left join {{ staying | ident }} s on s.person = h.person
),
counts as (
    select
        count(*) filter (where latest) as last_release,
        count(distinct case when latest then grp end) as groups,
        count(*) filter (where latest and not here) as gone,
        count(*) filter (where latest and here and not stays and remaining < persons) as along,
        count(*) filter (where latest and here and not stays and remaining = persons) as changed,
        count(*) filter (where not latest and here and not stays) as still_out,
        count(*) filter (where not latest and stays) as back
    from earlier
),
arriving as (
    select f.whose, max(c.lineage) as lineage
    from {{ standing | ident }} f
    join {{ coded | ident }} c on c.row_ref = f.row_ref
    where f.earlier is null
    group by f.whose
),
new_ones as (
    select count(*) as arriving, count(*) filter (where lineage > 0) as joining from arriving
),
shares as (
    select {% for n in spans %}coalesce(avg((1 - power(1 - c.gone / cast(c.last_release as double), {{ n | lit }} * e.persons)){% if divides %} * case when e.persons >= 2 * {{ k | lit }} then {{ k | lit }} / cast(e.persons as double) else 1 end{% endif %}), 0) as {{ ("share_" ~ n) | ident }}{% if not loop.last %}, {% endif %}{% endfor %}

    from earlier e
    cross join counts c
    where e.latest
),
series as (
    select max(releases) as releases, max(since_placed) as since_placed from {{ history_releases | ident }}
)
select c.*, n.*, r.*, {% if values %}(select count(*) from {{ failing | ident }}){% else %}0{% endif %} as failing, s.*
from counts c
cross join new_ones n
cross join series r
cross join shares s

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

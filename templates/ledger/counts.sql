-- name: _counted
-- Keyed digests of groups and of cells of a table of counts: its labels are not stored.
{% macro group(texts) -%}
md5_number(concat($ledger_key, ':group'{% for text in texts %}, ':', strlen({{ text }}), ':', {{ text }}{% endfor %}))
{%- endmacro %}

-- name: counted_persons
-- The finest group of every person of a table of counts.
{% from "ledger/_digests" import person with context %}
{% from "ledger/_counted" import group %}
create or replace table {{ counted | ident }} as
select {{ person() }} as person, {{ group(labels) }} as atom
from (
    select {{ own }} as {{ identity }}{% for text in texts %}, {{ text }} as {{ labels[loop.index0] }}{% endfor %}

    from (select distinct person, {{ values | join }} from {{ snapshot | ident }}) as s
) as o

-- name: counted_cells
-- The rows of the written release in which every finest group is. A cell has the same digest in all
-- releases, as it is made of the columns that it distinguishes. Kinds: 0 a cell that is listed
-- without a figure, 1 with its figure, 2 the figure of all that is left out.
-- parameters: dimensions: columns with their labels by level; groupings: the published totals
{% from "ledger/_counted" import group %}
create or replace table {{ cells | ident }} as
with placed as (
    select
        {{ group(labels) }} as atom,
        s.left_out
        {% for d in dimensions %}
        , case g.{{ d.number }}{% for name in d.names %} when {{ loop.index0 | lit }} then s.{{ name }}{% endfor %} else '(all)' end as {{ d.label }}
        , g.{{ d.number }}
        {% endfor %}
    from {{ split | ident }} as s
    cross join (values {% for levels in groupings %}({{ levels | join }}){% if not loop.last %}, {% endif %}{% endfor %}) as g({% for d in dimensions %}{{ d.number }}{% if not loop.last %}, {% endif %}{% endfor %})
)
select
    p.atom,
    md5_number(concat($ledger_key, ':cell'{% for d in dimensions %}, case when p.{{ d.number }} < {{ d.levels | lit }} then concat({{ headings[loop.index0] | lit }}, p.{{ d.number }}, ':', strlen(p.{{ d.label }}), ':', p.{{ d.label }}) else '' end{% endfor %})) as cell,
    case when r.status = 'shown' then 1 else 0 end as kind
from placed as p
join {{ release | ident }} as r on {% for d in dimensions %}r.{{ d.name | ident }} = p.{{ d.label }}{% if d.level %} and r.{{ d.level | ident }} = p.{{ d.number }}{% endif %}{% if not loop.last %} and {% endif %}{% endfor %}

where not p.left_out or r.status = 'hidden'
union all
select {{ group(labels) }}, md5_number(concat($ledger_key, ':other')), 2
from {{ split | ident }} as s
where s.left_out and exists (select 1 from {{ release | ident }} where status = 'other')

-- name: joint_groups
-- The persons of all releases by their finest groups in each of them, or their absence.
-- parameters: releases: numbers, the new one is 0
create or replace table {{ joint | ident }} as
with placed as (
    select person{% for number in releases %}, max(atom) filter (where release = {{ number | lit }}) as {{ places[loop.index0] }}{% endfor %}

    from (
        select 0 as release, person, atom from {{ counted | ident }}
        union all
        select release, person, atom from {{ old_counted | ident }} where release in ({{ listed | join }})
    )
    group by person
)
select row_number() over () as joint, {{ places | join }}, count(*) as persons
from placed
group by {{ places | join }}

-- name: joint_cells
-- The cells of all releases in which every joint group is, with a number for each.
create or replace table {{ joint_cells | ident }} as
with found as (
    {% for number in releases %}
    select {{ number | lit }} as release, j.joint, j.persons, c.cell, c.kind
    from {{ joint | ident }} as j
    join {% if number %}{{ old_cells | ident }}{% else %}{{ cells | ident }}{% endif %} as c on c.atom = j.{{ places[loop.index0] }}{% if number %} and c.release = {{ number | lit }}{% endif %}

    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
)
select *, dense_rank() over (order by release, cell) as number
from found

-- name: joint_classes
-- The joint groups that are in the same figures of all releases: no figure shows how many of a
-- class are in which of its groups. `listed`: 1 if a release shows that somebody is in the group.
create or replace table {{ classes | ident }} as
with told as (
    select
        joint,
        max(case when kind < 2 then 1 else 0 end) as listed,
        list(number order by number) filter (where kind > 0) as figures
    from {{ joint_cells | ident }}
    group by joint
)
select j.joint, j.persons, coalesce(t.listed, 0) as listed, dense_rank() over (order by t.figures) as class
from {{ joint | ident }} as j
left join told as t using (joint)

-- name: joint_changes
-- Figures that the new release and an earlier one show: how many there are, and how many differ by
-- fewer than n persons who have all come, or all gone.
with shown as (
    select * from {{ joint_cells | ident }} where kind > 0
),
common as (
    select distinct o.release, o.cell
    from shown as o
    where o.release > 0 and o.cell in (select cell from shown where release = 0)
),
moved as (
    select b.release, b.cell, s.joint, s.persons, sum(case when s.release = 0 then 1 else -1 end) as way
    from common as b
    join shown as s on s.cell = b.cell and s.release in (0, b.release)
    group by all
    having way <> 0
),
differing as (
    select cell from moved group by release, cell having count(distinct way) = 1 and sum(persons) < {{ n | lit }}
)
select (select count(distinct cell) from common), (select count(distinct cell) from differing)

-- name: joint_needs
-- The classes: their persons, how many of their groups somebody is in, and how many persons a table
-- must have in the class so that each of its small groups may have n; NULL if none is small.
select
    class,
    cast(sum(persons) as bigint) as persons,
    cast(min(least) as bigint) as least,
    max(case when persons < {{ n | lit }} then {{ n | lit }} + least - listed end) as need
from (select *, sum(listed) over (partition by class) as least from {{ classes | ident }})
group by class
order by class

-- name: joint_figures
-- The figures that the classes are in.
select distinct c.class, f.number
from {{ joint_cells | ident }} as f
join {{ classes | ident }} as c using (joint)
where f.kind > 0
order by all

-- name: joint_proof
-- What the tables of whole numbers fail to prove: groups whose figures differ within a class, tables
-- with too few persons somewhere, figures that they do not give, and small joint groups that reach n
-- in none of them. All of it follows from the groups of persons and the cells of each release.
with placed as (
    select j.joint, j.persons, c.class{% for place in places %}, j.{{ place }}{% endfor %}

    from {{ joint | ident }} as j
    join {{ classes | ident }} as c using (joint)
),
cells as (
    {% for number in releases %}
    select {{ number | lit }} as release, p.joint, p.class, p.persons, c.cell, c.kind
    from placed as p
    join {% if number %}{{ old_cells | ident }}{% else %}{{ cells | ident }}{% endif %} as c on c.atom = p.{{ places[loop.index0] }}{% if number %} and c.release = {{ number | lit }}{% endif %}

    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
existing as (
    select joint, class, persons, case when joint in (select joint from cells where kind < 2) then 1 else 0 end as listed
    from placed
),
sizes as (
    select class, count(*) as joints, sum(persons) as persons, sum(listed) as least
    from existing
    group by class
),
figures as (
    select release, cell, class, count(*) as joints, sum(persons) as persons
    from cells
    where kind > 0
    group by all
),
mixed as (
    select 1 from figures as f join sizes as s using (class) where f.joints <> s.joints
),
tables as (
    -- the true table is one of them
    select witness, class, figure from {{ witnesses | ident }}
    union all
    select 0, class, persons from sizes
),
wrong as (
    select 1
    from (select distinct witness from tables) as w
    cross join sizes as s
    left join tables as t on t.witness = w.witness and t.class = s.class
    group by w.witness, s.class
    having count(t.figure) <> 1 or min(t.figure - s.least) < 0
),
disagreeing as (
    select 1
    from figures as f
    join tables as t using (class)
    group by t.witness, f.release, f.cell
    having sum(t.figure) <> sum(f.persons)
),
uncovered as (
    select 1
    from existing as e
    join sizes as s using (class)
    join tables as t using (class)
    where e.persons < {{ n | lit }}
    group by e.joint
    having max(t.figure - (s.least - e.listed)) < {{ n | lit }}
)
select
    (select count(*) from mixed),
    (select count(*) from wrong),
    (select count(*) from disagreeing),
    (select count(*) from uncovered)

-- name: values_by_unit
-- How many persons of each unit have each value of a sensitive column of another table.
create or replace table {{ cells | ident }} as
select o.unit, f.value, count(distinct r.person) as n
from {{ kept | ident }} r
join {{ owners | ident }} o on o.owner = r.person
join {{ reference | ident }} f on f.original is not distinct from r.{{ column }}
group by o.unit, f.value

-- name: remaining
-- The rows of a table that are left, with the class and number of their person.
-- parameters: owner: the row of the person; source: number of the table, where `gone` lists rows of several
create or replace table {{ remaining | ident }} as
select k.*{% if source is not none %}, k.rowid as row_ref{% endif %}, m.class_id, o.person as number
from {{ kept | ident }} k
join {{ owners | ident }} o on o.owner = {{ owner }}
join {{ members | ident }} m on m.unit = o.unit
{% if gone is not none %}
anti join {{ gone | ident }} g on g.row_ref = k.rowid{% if source is not none %} and g.source = {{ source | lit }}{% endif %}

{% endif %}

-- name: no_failing
-- The empty table of classes that break a rule.
create or replace table {{ failing | ident }} as
select class_id, 0 as classes from {{ members | ident }} where false

-- name: failing
-- The classes that break a rule of a sensitive column by the rows that are left.
-- parameters: pairs: rules on pairs of persons and values, not on counts of values; dense: a row for
-- every value in every class; runs: sums are taken between the values that a class has
insert into {{ failing | ident }}
with present as (
    select r.class_id, f.value, {% if pairs %}r.number as person, count(*) as n{% else %}count(distinct r.number) as n{% endif %}

    from {{ remaining | ident }} r
    join {{ reference | ident }} f on f.original is not distinct from r.{{ column }}
    group by r.class_id, f.value{% if pairs %}, r.number{% endif %}

),
layer_0 as (
    {% if pairs %}
    select * from present
    {% elif dense %}
    select c.class_id, coalesce(p.n, 0) as n, f.*
    from (select distinct class_id from present) c
    cross join {{ reference | ident }} f
    left join present p on p.class_id = c.class_id and p.value = f.value
    {% else %}
    select p.class_id, p.n, f.*
    from present p
    join {{ reference | ident }} f on f.value = p.value
    {% endif %}
),
{% for layer in layers %}
layer_{{ loop.index | lit }} as (
    select *{% for name, expression in layer %}, {{ expression }} as {{ name | ident }}{% endfor %}

    from layer_{{ loop.index0 | lit }}
),
{% endfor %}
classes as (
    select count(distinct class_id) as classes from {{ members | ident }}
),
broken as (
    select class_id
    from layer_{{ layers | length | lit }}
    group by class_id
    having not ({{ holds }})
)
select b.class_id, c.classes from broken b cross join classes c

-- name: merged
-- Merge every class that breaks a rule with the one before it (the first with the next): the tree
-- numbers classes so that neighbours were parted last.
create or replace table {{ members | ident }} as
with classes as (
    select class_id, class_id in (select class_id from {{ failing | ident }}) as fails, row_number() over (order by class_id) as place
    from (select distinct class_id from {{ members | ident }})
),
starts as (
    select class_id, place = 1 or not (fails or (place = 2 and lag(fails) over (order by place))) as begins
    from classes
),
groups as (
    select class_id, max(case when begins then class_id end) over (order by class_id rows unbounded preceding) as merged
    from starts
)
select m.unit, g.merged as class_id
from {{ members | ident }} m
join groups g on g.class_id = m.class_id

-- name: to_merge
-- How many classes broke a rule and were merged with others.
select count(*) from {{ failing | ident }} where classes > 1

-- name: holdings
-- The values of every person in the sensitive columns of all tables: every (person, value) pair
-- once, with the number of its records.
create or replace table {{ holdings | ident }} as
{% for table, person, column, values in columns %}
select o.unit, o.person, {{ column.index | lit }} as col, v.value, count(*) as n
from (select *{% if person == "rowid" %}, rowid as person{% endif %} from {{ table | ident }}) r
join {{ owners | ident }} o on o.owner = r.person
join {{ values | ident }} v on v.original is not distinct from r.{{ column.s }}
group by all
{% if not loop.last %}
union all
{% endif %}
{% endfor %}

-- name: choices
-- Every set of rows that may be known, with the persons who hold it, in the classes where no set has
-- too few persons.
-- parameters: events: rows of a set
{% from "schema/_joined" import ones, pairs, threes with context %}
create or replace table {{ choices | ident }} as
with sound as materialized (
    select h.* from {{ value_counts | ident }} h
    anti join {{ broken | ident }} b on b.class_id = h.class_id
),
sets as (
    {% if shared %}
    {{ ones("sound" | ident, false) }}
    {% if events > 1 %}
    union all
    {{ pairs("sound" | ident, false) }}
    {% endif %}
    {% if events > 2 %}
    union all
    {{ threes("sound" | ident, false) }}
    {% endif %}
    {% else %}
    select class_id, cell as one, cast(null as bigint) as two, cast(null as bigint) as three, person from sound
    {% if events > 1 %}
    union all
    select class_id, cell, cell, null, person from sound where n >= 2
    union all
    select a.class_id, a.cell, b.cell, null, a.person
    from sound a
    join sound b on b.class_id = a.class_id and b.person = a.person and b.cell > a.cell
    {% endif %}
    {% if events > 2 %}
    union all
    select class_id, cell, cell, cell, person from sound where n >= 3
    union all
    select a.class_id, a.cell, a.cell, b.cell, a.person
    from sound a
    join sound b on b.class_id = a.class_id and b.person = a.person and b.cell <> a.cell
    where a.n >= 2
    union all
    select a.class_id, a.cell, b.cell, c.cell, a.person
    from sound a
    join sound b on b.class_id = a.class_id and b.person = a.person and b.cell > a.cell
    join sound c on c.class_id = a.class_id and c.person = a.person and c.cell > b.cell
    {% endif %}
    {% endif %}
)
select *, dense_rank() over (order by class_id, one, two, three{% if shared %}, shared{% endif %}) as candidates from sets

-- name: left_out
-- The rows that are left out so far: those of the rounds before, and those that are suppressed now.
-- parameters: event_rows: none after the search
create or replace table {{ left_out | ident }} as
select source, row_ref from {{ removed | ident }}
{% if event_rows is not none %}
union all
select source, row_ref from {{ event_rows | ident }} where step > top
union all
select source, row_ref from {{ placed | ident }} where step > top
{% endif %}

-- name: broken_rules
-- The sets of rows whose holders break a rule join those that too few persons hold.
insert into {{ broken | ident }}
select distinct c.class_id, c.one, c.two, c.three{% if shared %}, c.shared{% endif %}

from {{ choices | ident }} c
semi join {{ failing | ident }} f on f.class_id = c.candidates

-- name: choices_of_numbers
-- The persons of a class with equal numbers of rows, table by table, as they would remain.
{% from "schema/_vectors" import vectors with context %}
create or replace table {{ choices | ident }} as
with {{ vectors() }}
select
    class_id, person,
    dense_rank() over (order by class_id{% for n in counts %}, {{ n }}{% endfor %}) as candidates
from vectors

-- name: failing_classes
-- The classes where persons with equal numbers of rows break a rule.
insert into {{ failing | ident }}
select distinct c.class_id, (select count(distinct class_id) from {{ members | ident }})
from {{ choices | ident }} c
semi join {{ failing_choices | ident }} f on f.class_id = c.candidates

-- name: candidate_rows
-- The rows of a table as seen by an observer who knows a set of rows: those of everybody who has it.
-- parameters: columns
create or replace table {{ among | ident }} as
select c.candidates as class_id, r.number{% for column in columns %}, r.{{ column }}{% endfor %}

from {{ choices | ident }} c
join {{ remaining | ident }} r on r.number = c.person

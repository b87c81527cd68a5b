-- name: below
-- How many classes are smaller than required.
select count(*)
from (
    select class_id
    from (select class_id, {{ measured }} as n from {{ classes | ident }})
    group by class_id
    having not {{ holds }}
)

-- name: units
-- The units that may be singled out: classes (with their rows), or the persons in every class.
create or replace table {{ units | ident }} as
{% if by_person %}
select distinct dense_rank() over (order by m.person) as unit, {% for name in quasi %}c.{{ name }}, {% endfor %}cast(1 as bigint) as n
from {{ members | ident }} m
join {{ classes | ident }} c on c.class_id = m.class_id
where m.person is not null
{% else %}
select class_id as unit, {{ quasi | join }}, n from {{ classes | ident }}
{% endif %}

-- name: no_singles
-- The empty table of units that are singled out.
create or replace table {{ singles | ident }} as
select cast(0 as integer) as columns, cast(0 as bigint) as left_out, cast(0 as bigint) as unit where false

-- name: singles
-- The units that are unique in one of these combinations of columns.
insert into {{ singles | ident }}
select distinct cast({{ columns | lit }} as integer), left_out, unit
from {{ groups | ident }}
where size = 1

-- name: minimal
-- Combinations that single somebody out while no smaller part of them does, with how many (the
-- minimal sample uniques of SUDA2, Manning et al. 2008).
create or replace table {{ minimal | ident }} as
select s.columns, s.left_out, s.unit
from {{ singles | ident }} s
where not exists (
    select 1
    from {{ singles | ident }} p
    where p.unit = s.unit and p.columns = s.columns - 1 and (p.left_out & s.left_out) = s.left_out
)

-- name: minimal_counts
-- How many are singled out by each minimal combination.
select left_out, count(*) as singled_out from {{ minimal | ident }} group by left_out order by left_out

-- name: columns
-- For each column, how many units have it in a minimal combination; and how many have any minimal
-- combination.
with persons as (select unit, bit_or({{ everything | lit }} - left_out) as used from {{ minimal | ident }} group by unit)
select count(*){% for bit in bits %}, count(*) filter (where used & {{ bit | lit }} > 0){% endfor %} from persons

-- name: groups
-- The groups that some combinations of columns make. `left_out` has a bit for every column that is
-- not in the combination, the first column highest.
create or replace table {{ groups | ident }} as
{% for left_out, columns in combined %}
{% if not loop.first %}
union all
{% endif %}
select
    cast({{ left_out | lit }} as bigint) as left_out,
    {% if by_person %}
    count(distinct unit) as size,
    {% else %}
    cast(sum(n) as bigint) as size,
    {% endif %}
    min(unit) as unit
from {{ units | ident }}
group by {{ columns | join }}
{% endfor %}

-- name: subsets
-- For each combination of columns: its groups, its smallest group, and who is alone in a group.
select
    left_out,
    count(*) as classes,
    min(size) as k,
    count(distinct unit) filter (where size = 1) as singled_out,
    cast(sum(size) as bigint) as units
from {{ groups | ident }}
group by left_out
order by left_out

-- name: class_sizes
-- How many classes there are of each size.
select {{ unit }} as size, count(*) as classes
from {{ classes | ident }}
where {{ unit }} > 0
group by {{ unit }}
order by {{ unit }}

-- name: population
-- For every class, the members of the population with its quasi-identifiers; population groups that
-- the table lacks have n = 0.
create or replace table {{ matched | ident }} as
with groups as (
    select
        {% for value, name in keys %}
        {{ value }} as {{ name }},
        {% endfor %}
        {% if person %}count(distinct {{ person }}){% else %}count(*){% endif %} as members
    from {{ relation }}
    group by {{ quasi | join }}
)
select c.class_id, coalesce(c.{{ unit }}, 0) as n, coalesce(g.members, 0) as members
from {{ classes | ident }} c
full join groups g
    on {% for name in quasi %}{% if not loop.first %} and {% endif %}c.{{ name }} is not distinct from g.{{ name }}{% endfor %}

-- name: population_figures
-- k-map, bounds of presence, journalist and marketer risk against the population.
select
    cast(coalesce(sum(members), 0) as bigint) as size,
    min({{ k_map }}) filter (where n > 0) as k_map,
    min({{ least }}) filter (where members > 0) as presence_min,
    max({{ most }}) as presence_max,
    count(*) filter (where n = 1 and members = 1) as uniques,
    cast(coalesce(sum(n) filter (where n > members), 0) as bigint) as unmatched_units,
    count(*) filter (where n > 0) as classes,
    cast(coalesce(sum(n), 0) as bigint) as units,
    cast(coalesce(sum(n) filter (where members < {{ threshold | lit }}), 0) as bigint) as units_below,
    coalesce(sum(n / cast(members as double)) filter (where n > 0 and members > 0), 0) as expected,
    cast(coalesce(sum(members) filter (where n > 0), 0) as bigint) as matching_members
from {{ matched | ident }}

-- name: _vectors
-- Common table expressions that end in `rare`: the persons whose numbers of rows, table by table,
-- too few others of their class have.
{% macro vectors() %}
{% set names %}{% for n in counts %}{{ n }}{% if not loop.last %}, {% endif %}{% endfor %}{% endset %}
counted as (
    select person, source, count(*) as n from {{ rows_left | ident }} group by person, source
),
vectors as materialized (
    select o.person, m.class_id{% for number, n in numbered %}, coalesce(max(c.n) filter (where c.source = {{ number | lit }}), 0) as {{ n }}{% endfor %}

    from {{ owners | ident }} o
    join {{ members | ident }} m on m.unit = o.unit
    left join counted c on c.person = o.person
    group by o.person, m.class_id
),
sizes as materialized (
    select class_id, {{ names }}, count(*) as persons
    from vectors
    group by class_id, {{ names }}
),
rare as materialized (
    select v.*
    from vectors v
    join sizes s on s.class_id = v.class_id{% for n in counts %} and s.{{ n }} = v.{{ n }}{% endfor %}

    where s.persons < {{ least | lit }}
)
{% endmacro %}

-- name: coded_again
-- The rows of a table with codes that enough of those have that are not left out.
-- parameters: codes: column, limit among the rows that are left, and least or greatest
create or replace table {{ coded_again | ident }} as
select k.* replace (
    {% for column, limit, cut in codes %}
    case when k.{{ column }} is not null then {{ cut }}(k.{{ column }}, {{ limit }}) end as {{ column }}{% if not loop.last %},{% endif %}

    {% endfor %}
)
from {{ kept | ident }} k
order by k.rowid

-- name: rows
-- The published rows of a table in the order of their draws, each with its original: keys are
-- numbers drawn for this release, and links are those of the rows they lead to.
-- parameters: columns: expression and name; number: of the table among those with events, or none;
-- step_levels: the levels of the columns on every step
create or replace table {{ link | ident }} as
{% if attributes %}
with steps as (
    select * from (values {% for step in step_levels %}({{ loop.index0 | lit }}, {% for level in step %}{{ level | lit }}{% if not loop.last %}, {% endif %}{% endfor %}){% if not loop.last %}, {% endif %}{% endfor %}) s(step, {% for a in attributes %}{{ a.level }}{% if not loop.last %}, {% endif %}{% endfor %})
)
{% endif %}
select
    {% for expression, name in columns %}
    {{ expression }} as {{ name }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ coded | ident }} c
join {{ kept | ident }} k on k.rowid = c.row_ref
join {{ above | ident }} u on u.{{ row_ref | ident }} = c.above
{% if attributes %}
join {{ placed | ident }} p on p.source = {{ number | lit }} and p.row_ref = c.row_ref
join steps s on s.step = p.step
{% for a in attributes %}
left join {{ a.recoding | ident }} {{ a.r }} on {{ a.r }}.code = c.{{ a.c }} and {{ a.r }}.level = s.{{ a.level }}
left join {{ a.shown | ident }} {{ a.s }} on {{ a.s }}.level = {{ a.r }}.level and {{ a.s }}.node = {{ a.r }}.node
{% endfor %}
{% endif %}
{% if gone is not none %}
anti join {{ gone | ident }} g on g.row_ref = c.row_ref
{% endif %}
order by c.draw

-- name: present
-- The codes of one event column among the rows that are published; 0 is NULL.
create or replace table {{ present | ident }} as
select distinct c.{{ code }} as code
from {{ coded | ident }} c
anti join {{ gone | ident }} g on g.row_ref = c.row_ref

-- name: nothing_removed
-- The empty table of rows that are left out.
create or replace table {{ removed | ident }} as
select 0 as source, owner as row_ref from {{ owners | ident }} where false

-- name: removed
-- All rows that are not published, by the numbers of their tables.
create or replace table {{ removed | ident }} as
{% for number, table in numbered %}
select {{ number | lit }} as source, row_ref from {{ table | ident }}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}

-- name: rows_left
-- The rows of all tables that are left, each with its person.
create or replace table {{ rows_left | ident }} as
{% for number, table in tables %}
select {{ number | lit }} as source, c.row_ref, o.person, c.draw
from {{ table | ident }} c
join {{ owners | ident }} o on o.owner = c.owner
anti join {{ removed | ident }} r on r.source = {{ number | lit }} and r.row_ref = c.row_ref
{% if not loop.last %}
union all
{% endif %}
{% endfor %}

-- name: suppressed_references
-- How many rows that counted for others refer to a suppressed row, and how many persons have
-- numbers of rows that too few others have.
-- parameters: events: whether rows of events were raised; evened: whether numbers of rows may be known;
-- judged: tables whose rows counted for rules, by number
{% from "schema/_vectors" import vectors with context %}
{% if evened %}
with {{ vectors() }}
{% endif %}
select
    {% if events %}
    (
        select count(*)
        from {{ placed | ident }} p
        semi join {{ removed | ident }} r on r.source = p.source and r.row_ref = p.row_ref
        where p.step <= p.top
    )
    {% else %}
    0
    {% endif %}
    {% if evened %}
    + (select count(*) from rare)
    {% endif %}
    {% for number, table in judged %}
    + (
        select count(*)
        from {{ table | ident }} r
        semi join {{ removed | ident }} x on x.source = {{ number | lit }} and x.row_ref = r.row_ref
    )
    {% endfor %}

-- name: excess
-- Rows to suppress so that persons have as many rows in every table as enough others of their
-- class: each person is reduced to the nearest numbers that enough persons have. Persons with no such
-- numbers below are reduced together with the next such persons, or with those that have the fewest rows.
{% from "schema/_vectors" import vectors with context %}
{% set total %}{% for n in counts %}{{ n }}{% if not loop.last %} + {% endif %}{% endfor %}{% endset %}
{% set names %}{% for n in counts %}{{ n }}{% if not loop.last %}, {% endif %}{% endfor %}{% endset %}
insert into {{ removed | ident }}
with {{ vectors() }},
lower as materialized (
    select r.class_id, r.person{% for n in counts %}, s.{{ n }}{% endfor %}

    from rare r
    join sizes s on s.class_id = r.class_id and s.persons >= {{ least | lit }}{% for n in counts %} and s.{{ n }} <= r.{{ n }}{% endfor %}

    qualify row_number() over (partition by r.person order by {% for n in counts %}s.{{ n }}{% if not loop.last %} + {% endif %}{% endfor %} desc{% for n in counts %}, s.{{ n }}{% endfor %}) = 1
),
stuck as materialized (
    select
        r.*,
        row_number() over (partition by r.class_id order by {{ total }}, {{ names }}, r.person) as place,
        count(*) over (partition by r.class_id) as many
    from rare r
    anti join lower l on l.person = r.person
),
parts as (
    select *, least((place - 1) // {{ least | lit }}, many // {{ least | lit }} - 1) as part
    from stuck
    where many >= {{ least | lit }}
),
together as (
    select class_id, part{% for n in counts %}, min({{ n }}) as {{ n }}{% endfor %}

    from parts
    group by class_id, part
),
fewest as (
    select s.class_id, {{ names }} from sizes s
    semi join stuck t on t.class_id = s.class_id and t.many < {{ least | lit }}
    where s.persons >= {{ least | lit }}
    qualify row_number() over (partition by s.class_id order by {{ total }}, {{ names }}) = 1
),
floors as (
    select f.class_id{% for n in counts %}, least(f.{{ n }}, min(t.{{ n }})) as {{ n }}{% endfor %}

    from fewest f
    join stuck t on t.class_id = f.class_id
    group by f.class_id{% for n in counts %}, f.{{ n }}{% endfor %}

),
targets as (
    select person, {{ names }} from lower
    union all
    select p.person{% for n in counts %}, t.{{ n }}{% endfor %}
 from parts p
    join together t on t.class_id = p.class_id and t.part = p.part
    union all
    select s.person{% for n in counts %}, f.{{ n }}{% endfor %}
 from stuck s
    join floors f on f.class_id = s.class_id
    where s.many < {{ least | lit }}
    union all
    select v.person{% for n in counts %}, f.{{ n }}{% endfor %}
 from fewest e
    join vectors v on v.class_id = e.class_id{% for n in counts %} and v.{{ n }} = e.{{ n }}{% endfor %}

    join floors f on f.class_id = e.class_id
),
placed as (
    select l.source, l.row_ref, l.person, row_number() over (partition by l.person, l.source order by l.draw, l.row_ref) as place
    from {{ rows_left | ident }} l
    semi join targets t on t.person = l.person
),
lowest as (
    select person{% for n in counts %}, min({{ n }}) as {{ n }}{% endfor %}
 from targets group by person
)
select p.source, p.row_ref
from placed p
join lowest t on t.person = p.person
where p.place > case p.source{% for number, n in numbered %} when {{ number | lit }} then t.{{ n }}{% endfor %} end

-- name: uneven
-- How many persons have numbers of rows that too few others of their class have.
{% from "schema/_vectors" import vectors with context %}
with {{ vectors() }}
select count(*) from rare

-- name: event_rows
-- The rows of events in the classes of their persons, before any is raised.
-- parameters: step: the first, or NULL where a row has none yet
create or replace table {{ event_rows | ident }} as
select
    e.source, e.row_ref, e.above, e.person, m.class_id, e.tuple, e.draw, l.top, l.columns,
    cast({{ step }} as integer) as step, l.cell
from {{ events | ident }} e
join {{ members | ident }} m on m.unit = e.unit
join {{ step_sequences | ident }} l on l.tuple = e.tuple and l.step = 0
anti join {{ removed | ident }} g on g.source = e.source and g.row_ref = e.row_ref

-- name: placed
-- The empty table of rows with their final steps, or all rows where no further search is needed.
-- parameters: all
create or replace table {{ placed | ident }} as
select * from {{ event_rows | ident }}{% if not all %} where false{% endif %}

-- name: place
-- Place the rows whose cells on this step have enough persons. A cell that lacks some borrows rows
-- of other persons that are placed on a lower step below it, where that loses less than raising
-- all its rows, and the cells that lend keep enough. What has no further step is suppressed.
-- parameters: step; least: persons that a cell needs; one: a whole cell; lending: whether there are lower steps
create or replace table {{ event_rows | ident }} as
with here as materialized (
    select
        k.class_id, k.person, l.cell,
        coalesce(u.lost, cast(l.columns * {{ suppressed }} as bigint)) - l.lost as spared
    from {{ event_rows | ident }} k
    join {{ step_sequences | ident }} l on l.tuple = k.tuple and l.step = {{ step | lit }}
    left join {{ step_sequences | ident }} u on u.tuple = k.tuple and u.step = {{ (step + 1) | lit }}
    where k.step is null
),
sizes as materialized (
    select class_id, cell, count(distinct person) as persons, cast(sum(spared) as hugeint) as spared
    from here
    group by class_id, cell
),
{% if lending %}
short as (
    select class_id, cell, {{ least | lit }} - persons as wanted, spared
    from sizes
    where persons < {{ least | lit }}
),
present as (
    select distinct class_id, cell, person from here
),
below as materialized (
    select k.class_id, k.person, k.cell as lower_cell, s.cell, s.wanted, s.spared, l.lost - o.lost as lost
    from {{ event_rows | ident }} k
    join {{ step_sequences | ident }} l on l.tuple = k.tuple and l.step = {{ step | lit }}
    join short s on s.class_id = k.class_id and s.cell = l.cell
    join {{ step_sequences | ident }} o on o.tuple = k.tuple and o.step = k.step
    where k.step < {{ step | lit }}
),
lenders as (
    select class_id, lower_cell, count(distinct person) - {{ least | lit }} as extra
    from below
    group by class_id, lower_cell
),
offers as (
    select b.class_id, b.cell, b.lower_cell, b.person, b.wanted, b.spared, e.extra, cast(sum(b.lost) as hugeint) as lost
    from below b
    join lenders e on e.class_id = b.class_id and e.lower_cell = b.lower_cell
    anti join present p on p.class_id = b.class_id and p.cell = b.cell and p.person = b.person
    where e.extra > 0
    group by all
),
single as (
    select * from offers
    qualify row_number() over (partition by class_id, cell, person order by lost, lower_cell) = 1
),
affordable as (
    select * from single
    qualify row_number() over (partition by class_id, lower_cell order by lost, person) <= extra
),
enough as (
    select * from affordable
    qualify row_number() over (partition by class_id, cell order by lost, person) <= wanted
),
helped as materialized (
    select class_id, cell
    from enough
    group by class_id, cell
    having count(*) = max(wanted) and sum(lost) < max(spared)
),
lent as materialized (
    select e.class_id, e.lower_cell, e.person
    from enough e
    join helped h on h.class_id = e.class_id and h.cell = e.cell
),
{% endif %}
verdicts as (
    select
        k.*, l.cell as cell_here,
        case
            when k.step is null then coalesce(s.persons >= {{ least | lit }}{% if lending %} or h.cell is not null{% endif %}, false)
            else {% if lending %}t.person is not null{% else %}false{% endif %}

        end as placed
    from {{ event_rows | ident }} k
    left join {{ step_sequences | ident }} l on l.tuple = k.tuple and l.step = {{ step | lit }}
    left join sizes s on k.step is null and s.class_id = k.class_id and s.cell = l.cell
    {% if lending %}
    left join helped h on k.step is null and h.class_id = k.class_id and h.cell = l.cell
    left join lent t on k.step is not null and t.class_id = k.class_id and t.lower_cell = k.cell and t.person = k.person
    {% endif %}
)
select
    source, row_ref, above, person, class_id, tuple, draw, top, columns,
    case when placed then {{ step | lit }} when step is null and top = {{ step | lit }} then {{ (step + 1) | lit }} else step end as step,
    case when placed then cell_here else cell end as cell
from verdicts

-- name: settled
-- The rows of the classes in which every set has enough persons are final.
insert into {{ placed | ident }}
select k.* from {{ event_rows | ident }} k
anti join {{ broken | ident }} b on b.class_id = k.class_id

-- name: value_counts
-- What each person holds: the cells of the rows that are not suppressed, with the number of rows.
create or replace table {{ value_counts | ident }} as
select class_id, person, cell, count(*) as n, max(top - step) as room
from {{ event_rows | ident }}
where step <= top
group by class_id, person, cell

-- name: lines
-- Of every row of events the row of each table above it in which rows may be shared, itself included.
-- parameters: leading: the tables with events and those above them; shared: the numbers of those
-- that rows may share
create or replace table {{ lines | ident }} as
with
{% for t in leading %}
line{{ t.number | lit }} as (
    select c.row_ref{% for n in t.places %}, {% if n == t.number %}c.row_ref as at{{ n | lit }}{% else %}a.at{{ n | lit }}{% endif %}{% endfor %}

    from {{ t.coded | ident }} c
    {% if t.above is not none %}
    join line{{ t.above | lit }} a on a.row_ref = c.above
    {% endif %}
){% if not loop.last %},{% endif %}

{% endfor %}
{% for t in leading if t.events %}
{% if not loop.first %}
union all
{% endif %}
select {{ t.number | lit }} as source, row_ref{% for n in shared %}, {% if n in t.places %}at{{ n | lit }}{% else %}nullif(row_ref, row_ref) as at{{ n | lit }}{% endif %}{% endfor %}
 from line{{ t.number | lit }}
{% endfor %}

-- name: known_rows
-- The rows that are not suppressed, nor below one that is: `line` numbers what a row shows with those above
-- it, `copy` the rows that are alike and hang on the same ones.
-- parameters: shared: numbers of the tables that rows may share; shown: those among them with events
create or replace table {{ value_counts | ident }} as
with here as (
    select
        k.class_id, k.person, k.source, k.row_ref, k.draw, k.cell, k.top - k.step as room,
        coalesce(u.lost, cast(k.columns * {{ suppressed }} as bigint)) - s.lost as dearer
        {%- for n in shared %}, l.at{{ n | lit }}{% endfor %}
        {%- for n in shown %}, e{{ n | lit }}.cell as cell{{ n | lit }}{% endfor %}

    from {{ event_rows | ident }} k
    join {{ lines | ident }} l on l.source = k.source and l.row_ref = k.row_ref
    join {{ step_sequences | ident }} s on s.tuple = k.tuple and s.step = k.step
    left join {{ step_sequences | ident }} u on u.tuple = k.tuple and u.step = k.step + 1
    {% for n in shown %}
    left join {{ event_rows | ident }} e{{ n | lit }} on e{{ n | lit }}.source = {{ n | lit }} and e{{ n | lit }}.row_ref = l.at{{ n | lit }} and e{{ n | lit }}.step <= e{{ n | lit }}.top
    {% endfor %}
    where k.step <= k.top
        {%- for n in shown %} and (l.at{{ n | lit }} is null or e{{ n | lit }}.cell is not null){% endfor %}

),
lined as (
    select *, dense_rank() over (order by class_id, cell{% for n in shown %}, cell{{ n | lit }}{% endfor %}) as line from here
)
select *, row_number() over () as number, row_number() over (partition by person, line{% for n in shared %}, at{{ n | lit }}{% endfor %} order by draw) as copy
from lined

-- name: _joined
-- Every set of one, two or three rows of a person: what their lines show, and how many of the rows
-- above them each two share, in an order that does not depend on that of equal lines; with the rows
-- themselves (`rows`), or every such set once. Of rows that are alike, as many as a set may have count.
{% macro in_common(a, b) %}({% for n in shared %}case when {{ a }}.at{{ n | lit }} = {{ b }}.at{{ n | lit }} then 1 else 0 end{% if not loop.last %} + {% endif %}{% endfor %}){% endmacro %}
{% macro after(a, b) %}{{ b }}.class_id = {{ a }}.class_id and {{ b }}.person = {{ a }}.person and ({{ b }}.line, {{ b }}.number) > ({{ a }}.line, {{ a }}.number){% endmacro %}
{% macro ones(held, rows) %}
    select {% if not rows %}distinct {% endif %}class_id, person, line as one, cast(null as bigint) as two, cast(null as bigint) as three, cast(null as integer[]) as shared{% if rows %}, [number] as numbers{% endif %}

    from {{ held }}
    where copy = 1
{% endmacro %}
{% macro pairs(held, rows) %}
    select {% if not rows %}distinct {% endif %}a.class_id, a.person, a.line as one, b.line as two, cast(null as bigint) as three, [{{ in_common("a" | ident, "b" | ident) }}] as shared{% if rows %}, [a.number, b.number] as numbers{% endif %}

    from {{ held }} a
    join {{ held }} b on {{ after("a" | ident, "b" | ident) }}
    where a.copy <= 2 and b.copy <= 2
{% endmacro %}
{% macro threes(held, rows) %}
    select {% if not rows %}distinct {% endif %}

        class_id, person, one, two, three,
        case
            when one = two and two = three then list_sort([ab, ac, bc])
            when one = two then [ab, least(ac, bc), greatest(ac, bc)]
            when two = three then [least(ab, ac), greatest(ab, ac), bc]
            else [ab, ac, bc]
        end as shared{% if rows %}, numbers{% endif %}

    from (
        select
            a.class_id, a.person, a.line as one, b.line as two, c.line as three, [a.number, b.number, c.number] as numbers,
            {{ in_common("a" | ident, "b" | ident) }} as ab, {{ in_common("a" | ident, "c" | ident) }} as ac, {{ in_common("b" | ident, "c" | ident) }} as bc
        from {{ held }} a
        join {{ held }} b on {{ after("a" | ident, "b" | ident) }}
        join {{ held }} c on {{ after("b" | ident, "c" | ident) }}
        where a.copy <= 3 and b.copy <= 3 and c.copy <= 3
    )
{% endmacro %}

-- name: broken_joined
-- The sets of rows, with those above them, that too few persons of a class hold: single rows first; of the
-- classes without any, pairs; of those without any, sets of three.
-- parameters: events: rows of a set; least: persons that have to hold one
{% from "schema/_joined" import ones, pairs, threes with context %}
create or replace table {{ broken | ident }} as
with first as materialized (
    select class_id, one, two, three, shared from ({{ ones(value_counts | ident, false) }})
    group by class_id, one, two, three, shared
    having count(*) < {{ least | lit }}
){% if events > 1 %},
sound as materialized (
    select h.* from {{ value_counts | ident }} h
    anti join first f on f.class_id = h.class_id
),
second as materialized (
    select class_id, one, two, three, shared from ({{ pairs("sound" | ident, false) }})
    group by class_id, one, two, three, shared
    having count(*) < {{ least | lit }}
){% endif %}{% if events > 2 %},
sounder as materialized (
    select h.* from sound h
    anti join second s on s.class_id = h.class_id
),
third as (
    select class_id, one, two, three, shared from ({{ threes("sounder" | ident, false) }})
    group by class_id, one, two, three, shared
    having count(*) < {{ least | lit }}
){% endif %}

select * from first
{% if events > 1 %}
union all
select * from second
{% endif %}
{% if events > 2 %}
union all
select * from third
{% endif %}

-- name: joined_cells
-- The cells that are raised as a whole: of every broken set, in the lines of its rows, the one for which
-- that loses least. A cell that too few persons have always is; else, on the last step before the root,
-- rows are raised one by one.
-- parameters: shown: tables with events that rows may share
create or replace table {{ raised_cells | ident }} as
with sets as (
    select row_number() over () as number, * from {{ broken | ident }}
),
lines as (
    select number, class_id, unnest(list_distinct([one, two, three])) as line from sets
),
cells as (
    select distinct line, cell from {{ value_counts | ident }}
    {% for n in shown %}
    union
    select distinct line, cell{{ n | lit }} from {{ value_counts | ident }} where cell{{ n | lit }} is not null
    {% endfor %}
),
parts as (
    select distinct l.number, l.class_id, c.cell
    from lines l
    join cells c on c.line = l.line
),
sizes as (
    select h.class_id, h.cell, count(distinct h.person) as persons, max(h.room) as room, sum(h.dearer) as cost
    from {{ value_counts | ident }} h
    semi join parts p on p.class_id = h.class_id and p.cell = h.cell
    group by h.class_id, h.cell
),
chosen as (
    select p.class_id, p.cell, s.room, s.persons, count(*) over (partition by p.number) as cells, t.two is null as single
    from parts p
    join sizes s on s.class_id = p.class_id and s.cell = p.cell
    join sets t on t.number = p.number
    qualify row_number() over (partition by p.number order by s.room = 0, s.cost, s.persons, p.cell) = 1
)
select distinct class_id, cell from chosen where room > 1 or (single and (cells = 1 or persons < {{ least | lit }}))

-- name: joined_items
-- Of every person who holds broken sets, in classes where no cell is raised as a whole: the rows of such
-- sets, or above these, with the cell that the fewest persons have. Where too few persons of a class
-- would have such a row then, all rows with these cells are raised.
-- parameters: events: rows of a set; shown: tables with events that rows may share
{% from "schema/_joined" import ones, pairs, threes with context %}
create or replace table {{ raised_items | ident }} as
with sets as (
    select row_number() over () as number, b.* from {{ broken | ident }} b
    anti join {{ raised_cells | ident }} r on r.class_id = b.class_id
),
held as materialized (
    select h.* from {{ value_counts | ident }} h
    semi join sets s on s.class_id = h.class_id
),
choices as (
{{ ones("held" | ident, true) }}
{% if events > 1 %}
    union all
{{ pairs("held" | ident, true) }}
{% endif %}
{% if events > 2 %}
    union all
{{ threes("held" | ident, true) }}
{% endif %}
),
members as (
    select s.number, unnest(c.numbers) as item
    from choices c
    join sets s on s.class_id = c.class_id and s.one = c.one and s.two is not distinct from c.two and s.three is not distinct from c.three and s.shared is not distinct from c.shared
),
touched as materialized (
    select m.number, h.class_id, h.person, h.source, h.row_ref, h.cell, h.room
    from members m
    join held h on h.number = m.item
    {% for n in shown %}
    union all
    select m.number, h.class_id, h.person, a.source, a.row_ref, a.cell, a.room
    from members m
    join held h on h.number = m.item
    join held a on a.source = {{ n | lit }} and a.row_ref = h.at{{ n | lit }}
    {% endfor %}
),
sizes as (
    select class_id, cell, count(distinct person) as persons from held group by class_id, cell
),
grades as (
    select class_id, person, cell, max(room) as room, count(distinct number) as broken
    from touched
    group by class_id, person, cell
),
chosen as (
    select g.class_id, g.person, g.cell
    from grades g
    join sizes s on s.class_id = g.class_id and s.cell = g.cell
    qualify row_number() over (partition by g.class_id, g.person order by g.room = 0, s.persons, g.broken desc, g.cell) = 1
),
raised as (
    select distinct t.class_id, t.person, t.source, t.row_ref, t.cell, t.room
    from touched t
    join chosen c on c.class_id = t.class_id and c.person = t.person and c.cell = t.cell
),
alone as (
    select class_id, source
    from (
        select class_id, person, source from raised where room > 0
        union all
        select class_id, person, source from held where room = 0
    )
    group by class_id, source
    having count(distinct person) < {{ least | lit }}
)
select source, row_ref from raised
union
select h.source, h.row_ref
from held h
semi join raised r on r.class_id = h.class_id and r.cell = h.cell and r.room > 0
semi join alone a on a.class_id = h.class_id and a.source = h.source

-- name: broken
-- The sets of rows that too few persons of a class hold: single cells first; of the classes without
-- any, pairs of cells, equal ones among them; of those without any, sets of three.
-- parameters: events: rows of a set; least: persons that have to hold one
-- source: Terrovitis et al. 2008, definition of k^m-anonymity
{% macro few(multiplicity) %}count(*) filter (where n >= {{ multiplicity | lit }}) between 1 and {{ (least - 1) | lit }}{% endmacro %}
create or replace table {{ broken | ident }} as
with singles as materialized (
    select class_id, cell
    from {{ value_counts | ident }}
    group by class_id, cell
    having count(*) < {{ least | lit }}
){% if events > 1 %},
sound as materialized (
    select h.* from {{ value_counts | ident }} h
    anti join singles s on s.class_id = h.class_id
),
pairs as materialized (
    select class_id, cell as one, cell as two
    from sound
    group by class_id, cell
    having {{ few(2) }}
    union all
    select a.class_id, a.cell, b.cell
    from sound a
    join sound b on b.class_id = a.class_id and b.person = a.person and b.cell > a.cell
    group by a.class_id, a.cell, b.cell
    having count(*) < {{ least | lit }}
){% endif %}{% if events > 2 %},
sounder as materialized (
    select h.* from sound h
    anti join pairs p on p.class_id = h.class_id
),
threes as (
    select class_id, cell as one, cell as two, cell as three
    from sounder
    group by class_id, cell
    having {{ few(3) }}
    union all
    select a.class_id, a.cell, a.cell, b.cell
    from sounder a
    join sounder b on b.class_id = a.class_id and b.person = a.person and b.cell <> a.cell
    where a.n >= 2
    group by a.class_id, a.cell, b.cell
    having count(*) < {{ least | lit }}
    union all
    select a.class_id, a.cell, b.cell, c.cell
    from sounder a
    join sounder b on b.class_id = a.class_id and b.person = a.person and b.cell > a.cell
    join sounder c on c.class_id = a.class_id and c.person = a.person and c.cell > b.cell
    group by a.class_id, a.cell, b.cell, c.cell
    having count(*) < {{ least | lit }}
){% endif %}

select class_id, cell as one, cast(null as bigint) as two, cast(null as bigint) as three from singles
{% if events > 1 %}
union all
select class_id, one, two, null from pairs
{% endif %}
{% if events > 2 %}
union all
select class_id, one, two, three from threes
{% endif %}

-- name: raised_cells
-- The cells that are raised as a whole: of every broken set the one with the most steps left, then
-- the one of the fewest persons. On the last step before the root rows are raised one by one.
create or replace table {{ raised_cells | ident }} as
with sets as (
    select row_number() over () as number, * from {{ broken | ident }}
),
parts as (
    select number, class_id, one as cell, two is null as single from sets
    union
    select number, class_id, two, false from sets where two is not null
    union
    select number, class_id, three, false from sets where three is not null
),
sizes as (
    select h.class_id, h.cell, count(*) as persons, max(h.room) as room
    from {{ value_counts | ident }} h
    semi join parts p on p.class_id = h.class_id and p.cell = h.cell
    group by h.class_id, h.cell
),
chosen as (
    select p.class_id, p.cell, p.single, s.room
    from parts p
    join sizes s on s.class_id = p.class_id and s.cell = p.cell
    qualify row_number() over (partition by p.number order by s.room desc, s.persons, p.cell) = 1
)
select distinct class_id, cell from chosen where single or room > 1

-- name: raised_items
-- Of every person who holds broken sets, in classes where no cell is raised as a whole: the cell
-- that is in most of them, with the rows of it that may stay.
create or replace table {{ raised_items | ident }} as
with sets as (
    select row_number() over () as number, b.* from {{ broken | ident }} b
    anti join {{ raised_cells | ident }} r on r.class_id = b.class_id
),
parts as (
    select number, class_id, cell, count(*) as multiplicity
    from (
        select number, class_id, one as cell from sets
        union all
        select number, class_id, two from sets where two is not null
        union all
        select number, class_id, three from sets where three is not null
    )
    group by number, class_id, cell
),
lengths as (
    select number, count(*) as cells from parts group by number
),
set_parts as (
    select p.number, p.class_id, p.cell, p.multiplicity, h.person, h.room
    from parts p
    join {{ value_counts | ident }} h on h.class_id = p.class_id and h.cell = p.cell and h.n >= p.multiplicity
),
holders as (
    select h.number, h.person
    from set_parts h
    join lengths l on l.number = h.number
    group by h.number, h.person, l.cells
    having count(*) = l.cells
),
sizes as (
    select class_id, cell, count(*) as persons from {{ value_counts | ident }} group by class_id, cell
),
grades as (
    select p.class_id, p.person, p.cell, max(p.room) as room, count(*) as broken, min(p.multiplicity) - 1 as stay
    from set_parts p
    join holders h on h.number = p.number and h.person = p.person
    group by p.class_id, p.person, p.cell
)
select g.class_id, g.person, g.cell, g.stay
from grades g
join sizes s on s.class_id = g.class_id and s.cell = g.cell
qualify row_number() over (partition by g.class_id, g.person order by g.room = 0, g.broken desc, s.persons, g.cell) = 1

-- name: raise
-- Raise rows of classes with broken sets by one step; above the root they are suppressed.
-- parameters: all: whether rows of the other classes stay
create or replace table {{ event_rows | ident }} as
with numbered as (
    select
        k.*,
        case when k.step <= k.top then row_number() over (partition by k.class_id, k.person, k.cell, k.step > k.top order by k.draw) end as copy
    from {{ event_rows | ident }} k
    {% if not all %}
    semi join {{ broken | ident }} b on b.class_id = k.class_id
    {% endif %}
),
marked as (
    select k.*, k.step <= k.top and (c.cell is not null or {% if shared %}i.row_ref is not null{% else %}coalesce(k.copy > i.stay, false){% endif %}) as goes
    from numbered k
    left join {{ raised_cells | ident }} c on c.class_id = k.class_id and c.cell = k.cell
    left join {{ raised_items | ident }} i on {% if shared %}i.source = k.source and i.row_ref = k.row_ref{% else %}i.class_id = k.class_id and i.person = k.person and i.cell = k.cell{% endif %}

)
select
    m.source, m.row_ref, m.above, m.person, m.class_id, m.tuple, m.draw, m.top, m.columns,
    case when goes then m.step + 1 else m.step end as step,
    case when goes then l.cell else m.cell end as cell
from marked m
left join {{ step_sequences | ident }} l on m.goes and l.tuple = m.tuple and l.step = m.step + 1

-- name: still_broken
-- How many sets of rows have too few persons.
select count(*) from {{ broken | ident }}

-- name: unpublished
-- The rows of a table that are not published: suppressed rows, omitted rows, and rows
-- that refer to them.
-- parameters: number: of the table; events: whether it has event columns; evened: whether rows may have been left out
create or replace table {{ gone | ident }} as
{% if events %}
select c.row_ref
from {{ coded | ident }} c
anti join (select row_ref from {{ placed | ident }} where source = {{ number | lit }} and step <= top) p on p.row_ref = c.row_ref
{% elif evened %}
select row_ref from {{ removed | ident }} where source = {{ number | lit }}
{% endif %}
{% if (events or evened) and above is not none %}
union
{% endif %}
{% if above is not none %}
select c.row_ref
from {{ coded | ident }} c
semi join {{ above | ident }} g on g.row_ref = c.above
{% endif %}

-- name: admitted_values
-- The values of an event column for a rule, in the worst case: a published node stands for every
-- node below it that the class publishes as well. A person with a row at the root may have any
-- value, and proves nothing: such a person has none here.
-- parameters: source: number of the table; code; height: level of the root; steps: every step with the level
-- of the column
create or replace table {{ admitted | ident }} as
with steps as (
    select * from (values {% for step, level in steps %}({{ step | lit }}, {{ level | lit }}){% if not loop.last %}, {% endif %}{% endfor %}) s(step, level)
),
cells as (
    select distinct p.class_id, p.person, r.level, r.node, r.code = 0 as missing, r.level = {{ height | lit }} as at_root
    from {{ placed | ident }} p
    join {{ coded | ident }} c on c.row_ref = p.row_ref
    join steps s on s.step = p.step
    join {{ recoding | ident }} r on r.code = c.{{ code }} and r.level = s.level
    anti join {{ gone | ident }} g on g.row_ref = p.row_ref
    where p.source = {{ source | lit }}
),
unbound as (
    select distinct class_id, person from cells where at_root
),
bound as (
    select c.* from cells c
    anti join unbound u on u.class_id = c.class_id and u.person = c.person
    where not c.missing
),
present as (
    select distinct class_id, level, node from bound
),
nested as (
    select distinct h.level, h.node, l.level as lower_level, l.node as lower_node
    from {{ recoding | ident }} h
    join {{ recoding | ident }} l on l.code = h.code and l.level < h.level
    where h.code > 0 and h.level < {{ height | lit }}
),
inside as (
    select p.class_id, p.level, p.node, n.lower_level, n.lower_node
    from present p
    join nested n on n.level = p.level and n.node = p.node
    semi join present l on l.class_id = p.class_id and l.level = n.lower_level and l.node = n.lower_node
),
lowest as (
    select p.class_id, p.level, p.node from present p
    anti join inside i on i.class_id = p.class_id and i.level = p.level and i.node = p.node
),
stands_for as (
    select class_id, level, node, level as lowest_level, node as lowest_node from lowest
    union all
    select i.class_id, i.level, i.node, i.lower_level, i.lower_node
    from inside i
    semi join lowest l on l.class_id = i.class_id and l.level = i.lower_level and l.node = i.lower_node
)
select b.class_id, b.person as number, (cast(f.lowest_level as bigint) << 40) + f.lowest_node as value
from bound b
join stands_for f on f.class_id = b.class_id and f.level = b.level and f.node = b.node
union
select class_id, person, null from cells where at_root or missing

-- name: lifted
-- The table of the persons with the columns that are lifted from others; NULL for who has no row there.
-- parameters: relation: the source as SQL; key: that of the persons as text; called: with what no name of
-- a column of the source begins
create or replace table {{ lifted | ident }} as
select p.*{% for t in tables %}{% set one = loop.index %}{% for column in t.columns %}, l{{ one | lit }}.{{ called }}_{{ loop.index | lit }} as {{ column | ident }}{% endfor %}{% endfor %}

from (select * from {{ relation }}) p
{% for t in tables %}
left join (
    -- (the rows of a person are all alike)
    select owner as {{ called }}{% for _ in t.columns %}, v{{ loop.index | lit }} as {{ called }}_{{ loop.index | lit }}{% endfor %}

    from {{ t.rows | ident }}
    qualify row_number() over (partition by owner order by owner) = 1
) l{{ loop.index | lit }} on l{{ loop.index | lit }}.{{ called }} = {{ key }}
{% endfor %}

-- name: lifted_rows
-- The columns that are lifted to the persons, for every row of their table, with the key of the person.
-- They are numbered: a column may be called as anything else here is.
-- parameters: relation: the source as SQL; link: the row's link as text; steps: source, key and link of every table on the way to the persons
create or replace table {{ rows | ident }} as
select a{{ steps | length | lit }}.up as owner{% for _ in columns %}, a0.v{{ loop.index | lit }}{% endfor %}

from (select {{ link }} as up{% for column in columns %}, {{ column | ident }} as v{{ loop.index | lit }}{% endfor %} from {{ relation }}) a0
{% for table, key, further in steps %}
join (select {{ key }} as own, {{ further }} as up from {{ table }}) a{{ loop.index | lit }} on a{{ loop.index | lit }}.own = a{{ loop.index0 | lit }}.up
{% endfor %}

-- name: lifted_differ
-- Columns that differ between the rows of a person, NULL being a value, with the number of such persons.
{% for _ in columns %}
select {{ loop.index0 | lit }} as place, count(*) as persons
from (
    select owner from {{ rows | ident }}
    where owner is not null
    group by owner
    having count(distinct v{{ loop.index | lit }}) + max(case when v{{ loop.index | lit }} is null then 1 else 0 end) > 1
)
having count(*) > 0
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
order by place

-- name: together
-- Which published cells of an event column admit one and the same value: for every published value,
-- the labels of its nodes that are published. Sets that are part of others are left out, so that
-- nothing shows whether such a value exists. A cell that admits everything is in no set.
-- parameters: cell: the published column
with published as (
    select distinct cast({{ cell }} as varchar) as label from {{ link | ident }}
),
admitting as (
    select distinct r.code, s.label
    from {{ present | ident }} p
    join {{ recoding | ident }} r on r.code = p.code
    join {{ shown | ident }} s on s.level = r.level and s.node = r.node
    semi join published l on l.label = s.label
    where p.code > 0 and s.label <> '*'
),
sets as (
    select distinct labels
    from (select list(label order by label) as labels from admitting group by code)
),
members as (
    select labels, unnest(labels) as label from sets
),
counts as (
    select label, count(*) as n from members group by label
),
rarest as (
    select m.labels, m.label
    from members m
    join counts c on c.label = m.label
    qualify row_number() over (partition by m.labels order by c.n, m.label) = 1
),
part as (
    select distinct r.labels
    from rarest r
    join members o on o.label = r.label
    where len(o.labels) > len(r.labels) and list_has_all(o.labels, r.labels)
)
select s.labels
from sets s
anti join part p on p.labels = s.labels
order by s.labels

-- name: orphans
-- Rows whose link leads to no row of the table above; a NULL leads nowhere.
-- parameters: key: the key of the table above
select count(*) as orphans
from {{ read | ident }} r
left join {{ above | ident }} a on a.{{ key }} = r.link
where a.{{ key }} is null
having count(*) > 0

-- name: reached
-- The rows of a table that reach a person of the source, published or not.
-- parameters: key: the key of the table above
create or replace table {{ reached | ident }} as
select r.* from {{ read | ident }} r
semi join {{ above | ident }} a on a.{{ key }} = r.link

-- name: kept
-- The rows of a table that reach a person who may be published, with the rows they hang on.
-- parameters: key: the key of the table above; persons: whether that is the table of the persons;
-- keyed: whether the key of the person is needed;
-- shifts: names of columns with what the rows have in common that are shifted alike
create or replace table {{ kept | ident }} as
select r.*, a.rowid as above, {% if persons %}a.rowid{% else %}a.person{% endif %} as person
    {% if keyed %}
    , {% if persons %}a.identity{% else %}a.person_key{% endif %} as person_key
    {% endif %}
    {% for name in shifts %}
    , {% if persons %}a.identity{% else %}a.person_key{% endif %} as {{ name }}
    {% endfor %}
from {{ read | ident }} r
join {{ above | ident }} a on a.{{ key }} = r.link

-- name: flat
-- The hierarchy of a category for which the policy gives none: every value, and `*` above all.
create or replace table {{ hierarchy | ident }} as
select
    value,
    row_number() over (order by value) as leaf,
    1 as level,
    cast(1 as bigint) as node,
    '*' as label,
    count(*) over () as leaves
from {{ values | ident }}

-- name: counts
-- What a plan depends on: rows, of every event column its values, NULLs and levels, and the levels of
-- sensitive columns; before them, the rows that were read (-2) and those that reach a person of the
-- source: (-1).
select -2 as number, count(*) as n, 0 as nulls, 0 as height from {{ read | ident }}
union all
select -1, count(*), 0, 0 from {{ reached | ident }}
union all
select 0, count(*), 0, 0 from {{ kept | ident }}
{% for values, hierarchy, column in columns %}
union all
select {{ loop.index | lit }}, (select count(*) from {{ values | ident }}),
    (select count(*) from {{ kept | ident }} where {{ column }} is null),
    (select coalesce(max(level), 0) from {{ hierarchy | ident }})
{% endfor %}
{% for hierarchy in sensitive %}
union all
select {{ (columns | length + loop.index) | lit }}, 0, 0, (select coalesce(max(level), 0) from {{ hierarchy | ident }})
{% endfor %}
order by number

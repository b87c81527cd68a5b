-- name: owners
-- Every person of the release with the tuple of the quasi-identifiers; persons are numbered in
-- the secret order of their draws.
create or replace table {{ owners | ident }} as
select r.row_ref as owner, u.unit, row_number() over (order by r.draw, r.row_ref) as person
from {{ coded | ident }} r
join {{ units | ident }} u on {% for key in keys %}u.{{ key }} = r.{{ key }}{% if not loop.last %} and {% endif %}{% endfor %}

-- name: coded
-- The rows of a table with the codes of their events, and draws that follow from those of their
-- persons: the secret is in no other statement than theirs.
-- parameters: name: of the table; copies: rows may be exact duplicates, which are interchangeable
create or replace table {{ coded | ident }} as
with placed as (
    select
        r.rowid as row_ref, r.above, r.person as owner, r.identity, p.draw as person_draw
        {% if copies %}
        , row_number() over (partition by r.person, r.identity) as copy
        {% endif %}
        {% for a in attributes %}
        , {{ a.d }}.code as {{ a.c }}
        {% endfor %}
    from {{ kept | ident }} r
    join {{ people | ident }} p on p.row_ref = r.person
    {% for a in attributes %}
    join {{ a.domain | ident }} {{ a.d }} on {{ a.d }}.value is not distinct from r.{{ a.q }}
    {% endfor %}
)
select
    row_ref, above, owner,
    md5_number(concat(hex(person_draw), ':', {{ name | lit }}, ':', identity{% if copies %}, ':', copy{% endif %})) as draw
    {% for a in attributes %}
    , {{ a.c }}
    {% endfor %}
from placed

-- name: steps
-- What every tuple of events of a table is published as on every step of generalization, from the
-- values themselves (step 0) to the roots of all columns, and what that loses.
-- parameters: offset: from where its tuples and cells are numbered; step_levels: the levels of the columns on every step
create or replace table {{ steps | ident }} as
with tuples as (
    select {{ offset | lit }} + row_number() over (order by {{ codes | join }}) as tuple, {{ codes | join }}
    from (select distinct {{ codes | join }} from {{ coded | ident }})
),
step_levels as (
    select * from (values {% for step in step_levels %}({{ loop.index0 | lit }}, {% for level in step %}{{ level | lit }}{% if not loop.last %}, {% endif %}{% endfor %}){% if not loop.last %}, {% endif %}{% endfor %}) s(step, {% for a in attributes %}{{ a.level }}{% if not loop.last %}, {% endif %}{% endfor %})
)
select
    t.*, s.step,
    {{ offset | lit }} + dense_rank() over (order by s.step{% for a in attributes %}, {{ a.r }}.node{% endfor %}) as cell,
    {% for a in attributes %}{{ a.r }}.ncp{% if not loop.last %} + {% endif %}{% endfor %} as lost
from tuples t
cross join step_levels s
{% for a in attributes %}
join {{ a.recoding | ident }} {{ a.r }} on {{ a.r }}.code = t.{{ a.c }} and {{ a.r }}.level = s.{{ a.level }}
{% endfor %}

-- name: step_sequences
-- The ladders of all tables: cells of different tables, columns and steps have different numbers.
create or replace table {{ step_sequences | ident }} as
{% for table, top, columns in tables %}
select tuple, step, {{ top | lit }} as top, {{ columns | lit }} as columns, cell, lost
from {{ table | ident }}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}

-- name: events
-- The rows of all tables with events, each with its person and tuple.
create or replace table {{ events | ident }} as
{% for table in tables %}
select
    {{ table.number | lit }} as source, e.row_ref, e.above, o.person, o.unit, t.tuple, e.draw
from {{ table.coded | ident }} e
join {{ owners | ident }} o on o.owner = e.owner
join {{ table.steps | ident }} t on t.step = 0{% for a in table.attributes %} and t.{{ a.c }} = e.{{ a.c }}{% endfor %}

{% if not loop.last %}
union all
{% endif %}
{% endfor %}

-- name: items
-- What each person has: the different tuples of events, with the number of rows of each.
create or replace table {{ items | ident }} as
select unit, person, tuple, count(*) as n
from {{ events | ident }}
group by unit, person, tuple

-- name: event_costs
-- The loss of the events of every open class if it stays whole: values of too few persons are
-- generalized step by step, and suppressed if the last step does not suffice.
-- parameters: steps; least: persons that a cell needs; suppressed: what a cell that is left out costs
-- source: the measure of a node of the partition tree in Nergiz et al. 2009, with the recoding of Terrovitis et al. 2008 for one item
create or replace table {{ costs | ident }} as
with
{% for step in steps %}
here{{ step | lit }} as materialized (
    {% if step == 0 %}
    select o.class_id, i.person, i.tuple, i.n, l.cell, l.lost, l.top, l.columns
    from {{ open | ident }} o
    join {{ items | ident }} i on i.unit = o.unit
    join {{ step_sequences | ident }} l on l.tuple = i.tuple and l.step = 0
    {% else %}
    select p.class_id, p.person, p.tuple, p.n, l.cell, l.lost, l.top, l.columns
    from pending{{ (step - 1) | lit }} p
    join {{ step_sequences | ident }} l on l.tuple = p.tuple and l.step = {{ step | lit }}
    {% endif %}
),
cells{{ step | lit }} as materialized (
    select class_id, cell, cast(sum(n * lost) as hugeint) as lost, {% if step == 0 %}count(*){% else %}count(distinct person){% endif %} >= {{ least | lit }} as holds
    from here{{ step | lit }}
    group by class_id, cell
),
pending{{ step | lit }} as materialized (
    select h.class_id, h.person, h.tuple, h.n, h.top, h.columns
    from here{{ step | lit }} h
    join cells{{ step | lit }} c on c.class_id = h.class_id and c.cell = h.cell
    where not c.holds
),
{% endfor %}
lost as (
    {% for step in steps %}
    select class_id, lost from cells{{ step | lit }} where holds
    union all
    select class_id, cast(n * columns as hugeint) * {{ suppressed }} from pending{{ step | lit }} where top = {{ step | lit }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
)
select class_id, cast(sum(lost) as hugeint) as lost
from lost
group by class_id

-- name: tree
-- The classes that were cut last, as nodes of the partition tree with their cost; first, the root.
-- parameters: of_cells, of_events: what a whole cell costs; root: whether this is the first
{% if root %}
create or replace table {{ tree | ident }} as
{% else %}
insert into {{ tree | ident }}
{% endif %}
with boxes as (
    select
        class_id, count(*) as units, cast(sum(n) as bigint) as n
        {% for a in attributes %}
        , min({{ a.c }}) filter (where {{ a.c }} > 0) as low{{ a.index | lit }}
        , max({{ a.c }}) as high{{ a.index | lit }}
        {% if shape(a) == "set" %}
        , count(distinct {{ a.c }}) as different{{ a.index | lit }}
        {% else %}
        , max(case when {{ a.c }} = 0 then 1 else 0 end) as different{{ a.index | lit }}
        {% endif %}
        {% endfor %}
    from {{ open | ident }}
    group by class_id
),
extents as (
    {% for a in attributes %}
    select class_id, n, {{ a.index | lit }} as attribute, coalesce(low{{ a.index | lit }}, 0) as low, high{{ a.index | lit }} as high, different{{ a.index | lit }} as different
    from boxes
    where low{{ a.index | lit }} < high{{ a.index | lit }} or different{{ a.index | lit }} > {% if shape(a) == "set" %}1{% else %}0{% endif %}

    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
from_low as materialized (
    -- (joined with both ends at once, the positions could be joined with each other first)
    select e.class_id, e.n, e.low, e.high, e.different, l.*
    from extents e
    join {{ positions | ident }} l on l.attribute = e.attribute and l.code = e.low
),
lost as (
    select l.class_id, sum(cast(l.n * {{ cell_loss }} as decimal(38, 12))) as lost
    from from_low l
    join {{ positions | ident }} h on h.attribute = l.attribute and h.code = l.high
    group by l.class_id
){% if not root %},
halves as (
    select class_id, class_id as parent from {{ chosen | ident }}
    union all
    select class_id + units_left, class_id from {{ chosen | ident }}
),
depths as (
    select max(depth) as deepest from {{ tree | ident }}
){% endif %}

select
    {% if root %}0{% else %}d.deepest + 1{% endif %} as depth,
    b.class_id,
    {% if root %}cast(0 as bigint){% else %}cast(p.parent as bigint){% endif %} as parent,
    b.units,
    cast(round(cast(coalesce(l.lost, 0) as double) * {{ of_cells | lit }}) as hugeint) as of_cells,
    cast(round(cast(coalesce(c.lost, 0) as double) * {{ of_events | lit }}) as hugeint) as of_events
from boxes b
left join lost l on l.class_id = b.class_id
left join {{ costs | ident }} c on c.class_id = b.class_id
{% if not root %}
join halves p on p.class_id = b.class_id
cross join depths d
{% endif %}

-- name: close_hopeless
-- Close the open classes whose further cuts cannot save anything: the events of the halves of a class
-- lose as much as the whole class loses in total, and smaller classes lose no less.
create or replace table {{ open | ident }} as
with last as (
    select class_id, parent, of_events from {{ tree | ident }}
    where depth = (select max(depth) from {{ tree | ident }})
),
hopeless as (
    select l.parent
    from last l
    join {{ tree | ident }} t on t.class_id = l.parent and t.depth = (select max(depth) - 1 from {{ tree | ident }})
    group by l.parent, t.of_cells, t.of_events
    having sum(l.of_events) >= t.of_cells + t.of_events
)
select
    o.unit, o.class_id, o.level, o.closed or h.parent is not null as closed,
    o.n{% for a in attributes %}, o.{{ a.c }}{% endfor %}{% for word, _ in words %}, o.{{ word }}{% endfor %}{% if several_bits %}, o.several{% endif %}

from {{ open | ident }} o
join last l on l.class_id = o.class_id
left join hopeless h on h.parent = l.parent

-- name: no_bests
-- The empty table of the least costs below the nodes of the tree.
create or replace table {{ bests | ident }} as
select depth, class_id, parent, units, true as own, of_cells + of_events as best
from {{ tree | ident }}
where false

-- name: bests
-- The least cost of every node of one depth, beginning with the deepest: its own, or that of its parts.
insert into {{ bests | ident }}
with below as (
    select depth - 1 as depth, parent, cast(sum(best) as hugeint) as cost
    from {{ bests | ident }}
    group by depth, parent
)
select
    t.depth, t.class_id, t.parent, t.units,
    b.cost is null or t.of_cells + t.of_events <= b.cost as own,
    least(t.of_cells + t.of_events, b.cost) as best
from {{ tree | ident }} t
left join below b on b.depth = t.depth and b.parent = t.class_id
where t.depth = (select max(depth) from {{ tree | ident }}) - (select count(distinct depth) from {{ bests | ident }})

-- name: to_prune
-- How many depths of the tree have not been decided.
select (select count(distinct depth) from {{ tree | ident }}) - (select count(distinct depth) from {{ bests | ident }})

-- name: pruned
-- The classes of the pruned tree: the uppermost nodes that cost no more than their parts. A node
-- owns the positions from its number on, one per unit, so that what is under another node follows it.
-- source: Breiman et al. 1984, pruning of a tree by its cost
create or replace table {{ members | ident }} as
with reached as (
    select
        class_id, depth,
        max(class_id + units) over (order by class_id, depth rows between unbounded preceding and 1 preceding) as until
    from {{ bests | ident }}
    where own
),
uppermost as (
    select class_id from reached where until is null or until <= class_id
)
-- (the leftmost part of a node has its number)
select m.unit, max(u.class_id) over (order by m.class_id) as class_id
from {{ members | ident }} m
left join uppermost u on u.class_id = m.class_id

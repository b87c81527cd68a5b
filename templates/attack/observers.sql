-- name: observers
-- The candidates left to observers who know a person's class and some of the rows: for each observer
-- how many persons have no other candidate, how many have fewer than k, and the expected share found.
-- The rows of a person that leave the fewest candidates count; rows with equal cells are alike.
-- parameters: tables that are reached, with the columns of their events; k; source: the rows as they
-- were read, with their persons, in place of published tables; alone: also somebody who
-- knows nothing besides the class
{% from "verify/_owned" import owned, shown_as with context %}
with
{% if source %}
people as materialized (
    select rowid as person, dense_rank() over (order by {% for q in quasi %}{{ q }}{% if not loop.last %}, {% endif %}{% endfor %}) as grp
    from {{ persons | ident }}
)
{% for t in tables %},
owned{{ t.number | lit }} as (
    select p.person, p.grp{% for column in t.shown %}, d.{{ column | ident }} as {{ shown_as(t, column) }}{% endfor %}

    from {{ t.data | ident }} d
    join people p on p.person = d.person
)
{% endfor %}
{% else %}
{{ owned() }}
{% endif %},
told as (
    select person, grp, 0 as source, cast(0 as bigint) as cells from people where false
    {% for t in tables if t.shown %}
    union all
    select person, grp, {{ t.number | lit }} as source, dense_rank() over (order by {% for column in t.shown %}{{ shown_as(t, column) }}{% if not loop.last %}, {% endif %}{% endfor %}) as cells
    from owned{{ t.number | lit }}
    {% endfor %}
),
known as materialized (
    select person, grp, source, cells, count(*) as copies from told group by person, grp, source, cells
),
classes as (
    select grp, count(*) as persons from people group by grp
),
ones as materialized (
    select grp, source, cells, count(*) as persons from known group by grp, source, cells
),
one_event as (
    select k.person, min(o.persons) as candidates
    from known k
    join ones o on o.grp = k.grp and o.source = k.source and o.cells = k.cells
    group by k.person
),
pairs as (
    select a.person, a.grp, a.source, a.cells, b.source as other_source, b.cells as other_cells
    from known a
    join known b on b.grp = a.grp and b.person = a.person and ((b.source, b.cells) > (a.source, a.cells) or (b.source = a.source and b.cells = a.cells and a.copies > 1))
),
twos as (
    select grp, source, cells, other_source, other_cells, count(*) as persons from pairs group by all
),
two_events as (
    select p.person, min(t.persons) as candidates
    from pairs p
    join twos t on t.grp = p.grp and t.source = p.source and t.cells = p.cells and t.other_source = p.other_source and t.other_cells = p.other_cells
    group by p.person
),
{% for t in tables %}
counted{{ t.number | lit }} as (
    select person, count(*) as n from owned{{ t.number | lit }} group by person
),
{% endfor %}
vectors as (
    select p.person, p.grp{% for t in tables %}, coalesce(c{{ t.number | lit }}.n, 0) as n{{ t.number | lit }}{% endfor %}

    from people p
    {% for t in tables %}
    left join counted{{ t.number | lit }} c{{ t.number | lit }} on c{{ t.number | lit }}.person = p.person
    {% endfor %}
),
rows_known as (
    select person, count(*) over (partition by grp{% for t in tables %}, n{{ t.number | lit }}{% endfor %}) as candidates
    from vectors
),
absence_known as (
    -- of the tables in which a person has no rows, the one in which the fewest of the class have none
    select person, least(count(*) over (partition by grp){% for t in tables %}, case when n{{ t.number | lit }} = 0 then count(*) over (partition by grp, n{{ t.number | lit }} = 0) end{% endfor %}) as candidates
    from vectors
),
histories as materialized (
    select p.person, p.grp, list({'source': k.source, 'cells': k.cells, 'copies': k.copies} order by k.source, k.cells) as history
    from people p
    left join known k on k.person = p.person
    group by p.person, p.grp
),
set_known as (
    select person, count(*) over (partition by grp, history) as candidates from histories
),
history_only as (
    select person, count(*) over (partition by history) as candidates from histories
),
found as (
    {% if alone %}
    select 0 as number, 'nothing else' as observer, p.person, c.persons as candidates
    from people p
    join classes c on c.grp = p.grp
    union all
    {% endif %}
    select 1 as number, 'one event' as observer, p.person, least(coalesce(o.candidates, c.persons), c.persons) as candidates
    from people p
    join classes c on c.grp = p.grp
    left join one_event o on o.person = p.person
    union all
    select 2, 'two events', p.person, least(coalesce(t.candidates, c.persons), coalesce(o.candidates, c.persons), c.persons)
    from people p
    join classes c on c.grp = p.grp
    left join one_event o on o.person = p.person
    left join two_events t on t.person = p.person
    union all
    select 3, 'the number of rows', person, candidates from rows_known
    union all
    select 4, 'a table without rows', person, candidates from absence_known
    union all
    select 5, 'the set of events', person, candidates from set_known
    union all
    select 6, 'the set of events, not the quasi-identifiers', person, candidates from history_only
)
select
    observer,
    count(*) as persons,
    count(*) filter (where candidates = 1) as alone,
    count(*) filter (where candidates < {{ k | lit }}) as below,
    cast(min(candidates) as bigint) as fewest,
    round(avg(1.0 / candidates), 9) as found
from found
group by number, observer
order by number

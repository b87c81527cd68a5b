-- name: linked
-- The candidates left to observers who know a person's class and rows that belong together: one row
-- with the rows above it, or two with those above them, and which of these the two share. For each
-- observer how many persons have no other candidate, how many have fewer than k, and the expected
-- share found. The rows of a person that leave the fewest candidates count.
-- parameters: tables: each with its event columns and their aliases (`own`), the aliases of those
-- above it (`above_cells`), and the keyed tables in its line (`keyed`); keys: the numbers
-- of all keyed tables; k
with people as materialized (
    select {{ key | ident }} as person, {{ group | ident }} as grp from {{ persons | ident }}
),
{% for t in tables %}
line{{ t.number | lit }} as (
    select
        a.person, a.grp
        {% for cell in t.above_cells %}, a.{{ cell }}{% endfor %}
        {% for column, cell in t.own %}, d.{{ column | ident }} as {{ cell }}{% endfor %}
        {% for n in keys %}
        , {% if n == t.number %}d.{{ t.key | ident }}{% elif n in t.keyed %}a.at{{ n | lit }}{% else %}cast(null as bigint){% endif %} as at{{ n | lit }}
        {% endfor %}
    from {{ t.data | ident }} d
    join {% if t.above %}line{{ t.above | lit }} a on a.at{{ t.above | lit }}{% else %}people a on a.person{% endif %} = d.{{ t.link | ident }}
),
{% endfor %}
told as (
    {% for t in tables if t.own %}
    {% if not loop.first %}
    union all
    {% endif %}
    select person, grp, {{ t.number | lit }} as source, dense_rank() over (order by {% for cell in t.above_cells %}{{ cell }}, {% endfor %}{% for _, cell in t.own %}{{ cell }}{% if not loop.last %}, {% endif %}{% endfor %}) as cells{% for n in keys %}, at{{ n | lit }}{% endfor %}

    from line{{ t.number | lit }}
    {% endfor %}
),
known as materialized (
    select person, grp, source, cells{% for n in keys %}, at{{ n | lit }}{% endfor %}, row_number() over () as number, count(*) as copies
    from told
    group by person, grp, source, cells{% for n in keys %}, at{{ n | lit }}{% endfor %}

),
classes as (
    select grp, count(*) as persons from people group by grp
),
ones as (
    select grp, source, cells, count(distinct person) as persons from known group by grp, source, cells
),
one_row as (
    select k.person, min(o.persons) as candidates
    from known k
    join ones o on o.grp = k.grp and o.source = k.source and o.cells = k.cells
    group by k.person
),
pairs as materialized (
    select distinct
        a.person, a.grp, a.source, a.cells, b.source as other_source, b.cells as other_cells,
        {% for n in keys %}case when a.at{{ n | lit }} = b.at{{ n | lit }} then 1 else 0 end{% if not loop.last %} + {% endif %}{% endfor %} as shared
    from known a
    join known b on b.grp = a.grp and b.person = a.person
        and ((b.source, b.cells) > (a.source, a.cells) or (b.source = a.source and b.cells = a.cells and (b.number > a.number or (b.number = a.number and a.copies > 1))))
),
twos as (
    select grp, source, cells, other_source, other_cells, shared, count(*) as persons from pairs group by all
),
two_rows as (
    select p.person, min(t.persons) as candidates
    from pairs p
    join twos t on t.grp = p.grp and t.source = p.source and t.cells = p.cells and t.other_source = p.other_source and t.other_cells = p.other_cells and t.shared = p.shared
    group by p.person
),
found as (
    select 1 as number, 'one event, and the rows above it' as observer, p.person, coalesce(o.candidates, c.persons) as candidates
    from people p
    join classes c on c.grp = p.grp
    left join one_row o on o.person = p.person
    union all
    select 2, 'two events, and how their rows belong together', p.person, least(coalesce(t.candidates, c.persons), coalesce(o.candidates, c.persons))
    from people p
    join classes c on c.grp = p.grp
    left join one_row o on o.person = p.person
    left join two_rows t on t.person = p.person
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

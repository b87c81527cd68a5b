-- name: tables
-- Every table that the search looked at, in order, and which of each step it went on with.
select
    round,
    phase,
    case when round > 0 then node end,
    {% for a in attributes %}
    {{ a.depth }},
    {% endfor %}
    score,
    better,
    holds,
    seen,
    broken,
    taken
from {{ trail | ident }}
where kind = 1
order by round, place

-- name: final
-- The table as it is published: how many classes have each column at each depth, how many different
-- cells these are, and the score.
{% from "privacyfrost/_merit" import merit, priorities with context %}
with {{ priorities() }},
classes as (
    select class_id{% for word in words %}, bit_and({{ word.w }}) as {{ word.w }}{% endfor %}

    from {{ divided | ident }}
    group by class_id
),
placed as (
    select
        class_id,
        unnest([{% for a in attributes %}{{ a.number }}{% if not loop.last %}, {% endif %}{% endfor %}]) as attribute,
        unnest([{% for a in attributes %}{{ a.height | lit }} - {{ a.level }}{% if not loop.last %}, {% endif %}{% endfor %}]) as depth
    from {{ class_levels | ident }}
),
counts as (
    select
        p.attribute, p.depth,
        count(*) as classes,
        count(distinct ({% for word in words %}c.{{ word.w }} & v.{{ word.m }}, {% endfor %}0)) as cells
    from placed p
    join classes c on c.class_id = p.class_id
    join {{ depths | ident }} v on v.attribute = p.attribute and v.depth = p.depth
    group by p.attribute, p.depth
),
scores as (
    select
        t.attribute,
        {{ merit() }} as merit
    from (
        select attribute, cast(sum(cells) as bigint) as e from counts group by attribute
    ) t
    join (
        select attribute, max(distinct_values) as before from {{ depths | ident }} group by attribute
    ) o on o.attribute = t.attribute
    join priorities s on s.attribute = t.attribute
)
select attribute, depth, classes, cells, (select cast({{ total }}(merit) as decimal(38, 12)) from scores)
from counts
order by attribute, depth

-- name: presample
-- Pre-sampling: leave out the rows of classes smaller than k' at the levels of the pre-sampling.
-- The classes themselves are discarded.
-- source: Kiyomoto and Miyake 2014 §5.1
create or replace table {{ coded | ident }} as
with tuples as (
    select {{ codes | join }}, {{ count }} as n
    from {{ coded | ident }}
    group by {{ codes | join }}
),
generalized as (
    select
        {% for c in codes %}t.{{ c }}, {% endfor %}

        {% for a in attributes %}
        {{ a.node }} as {{ a.g }},
        {% endfor %}
        t.n
    from tuples t
    {% for a in attributes %}
    join {{ a.domain | ident }} {{ a.d }} on {{ a.d }}.code = t.{{ a.c }}
    {% endfor %}
),
isolated as (
    select {% for a in attributes %}{{ a.g }}{% if not loop.last %}, {% endif %}{% endfor %}

    from generalized
    group by {% for a in attributes %}{{ a.g }}{% if not loop.last %}, {% endif %}{% endfor %}

    having sum(n) < {{ least | lit }}
),
removed as (
    select {% for c in codes %}g.{{ c }}{% if not loop.last %}, {% endif %}{% endfor %}

    from generalized g
    join isolated i on {% for a in attributes %}i.{{ a.g }} = g.{{ a.g }}{% if not loop.last %} and {% endif %}{% endfor %}

)
select r.*
from {{ coded | ident }} r
anti join removed x on {% for c in codes %}x.{{ c }} = r.{{ c }}{% if not loop.last %} and {% endif %}{% endfor %}

-- name: removed
-- Refuse a pre-sampling that leaves out more than the limit, or everything.
with counts as (
    select
        (select {{ count }} from {{ everything | ident }}) as total,
        (select {{ count }} from {{ coded | ident }}) as kept
)
select total - kept, total
from counts
where total - kept > floor({{ share }} * total) or kept = 0

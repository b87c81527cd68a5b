-- name: walk_start
-- The walkers, all of them at the coarsest node.
create or replace table {{ walkers | ident }} as
select
    cast(w.walker as integer) as walker,
    0 as walk,
    'start' as phase,
    cast(1 as bigint) as number,
    d.draw
from (values {% for walker in team %}({{ walker | lit }}){% if not loop.last %}, {% endif %}{% endfor %}) w(walker)
cross join (select {{ first_draw }} as draw from {{ units | ident }}) d

-- name: walk_root
-- The first node of a lattice that is not listed: the coarsest. Further nodes are added as they
-- are found, and numbered in this order.
{% from "lattice/_node" import bound_of, combined with context %}
create or replace table {{ nodes | ident }} as
with coarsest as (
    select attribute, max(level) as level
    from {{ levels | ident }}
    group by attribute
),
combined as (
    select
        cast(1 as bigint) as number
{{ combined() }}
    from {{ levels | ident }} v
    join coarsest c on c.attribute = v.attribute and c.level = v.level
)
select
    c.*,
    {{ bound_of() }} as bound
from combined c
cross join (select records - left_out as units_records from {{ limits | ident }}) l

-- name: walk_steps
-- What changes where one column goes one level up or down.
create or replace table {{ steps | ident }} as
select
    a.attribute,
    a.level,
    b.level < a.level as down,
    b.level as to_level
    {% for word in words %}
    , b.{{ word.m }} - a.{{ word.m }} as {{ word.m }}
    {% endfor %}
    {% for measure in measures %}
    , b.{{ measure }} - a.{{ measure }} as {{ measure }}
    {% endfor %}
    , b.entropy - a.entropy as entropy
from {{ levels | ident }} a
join {{ levels | ident }} b on b.attribute = a.attribute and b.level in (a.level - 1, a.level + 1)

-- name: walk_failed
-- The empty table of nodes whose failure rules out all finer ones.
create or replace table {{ failed | ident }} as
select number{% for a in attributes %}, {{ a.level }}{% endfor %}{% for word in words %}, {{ word.m }}{% endfor %}

from {{ nodes | ident }}
where false

-- name: walk_reached
-- The nodes that every walker visits next. At the start of a walk: the coarsest node and others on
-- a path down from it or, in every second walk, the best node so far with some columns raised. Going
-- down: one column one level finer. Swapping: one column one level finer and another one coarser,
-- if that can lose less. Nodes finer than one that failed are omitted.
{% from "lattice/_node" import bound_of, combined with context %}
create or replace table {{ reached | ident }} as
with at_node as (
    select w.walker, w.walk, w.phase, w.draw, n.*
    from {{ walkers | ident }} w
    join {{ nodes | ident }} n on n.number = w.number
    where w.walk < {{ walks | lit }}
),
best as (
    select n.*
    from {{ evaluations | ident }} j
    join {{ nodes | ident }} n on n.number = j.number
    where j.holds
    order by j.loss, j.number
    limit 1
),
coarsest as (
    select attribute, max(level) as level
    from {{ levels | ident }}
    group by attribute
),
-- what every level saves and costs by itself, and a rank of it, drawn anew for every walk of a walker
drawn as (
    select
        w.walker,
        w.walk,
        w.phase,
        v.attribute,
        v.level,
        c.level as height,
        v.entropy,
        {% if optimum == "c_dm" %}v.distortion{% else %}v.{{ optimum | ident }}{% endif %} as loss,
        row_number() over (partition by w.walker order by {{ column_draw }}, v.attribute, v.level) as place,
        count(*) over (partition by w.walker) as places
    from {{ walkers | ident }} w
    cross join {{ levels | ident }} v
    join coarsest c on c.attribute = v.attribute
    where w.walk < {{ walks | lit }}
),
weights as (
    select
        walker,
        attribute,
        case when walk > 0 or walker > {{ plain | lit }} then 0.5 + max(place) / cast(max(places) as double) else 1 end as weight
    from drawn
    where level = 0
    group by walker, walk, attribute
),
-- every second start: the best node so far, with the columns of low rank at one of the levels above, the one of the lowest rank
eligible as (
    select
        d.*,
        case d.attribute {% for a in attributes %}when {{ a.number }} then b.{{ a.level }} {% endfor %}end as best_level,
        min(case when d.level = d.height then d.place end) over (partition by d.walker, d.attribute) as own_place
    from drawn d
    cross join best b
    where d.phase = 'start' and d.walk > 0 and (d.walk + d.walker) % 2 = 0
),
raised as (
    select
        walker,
        attribute,
        level,
        row_number() over (partition by walker, attribute order by place) as turn_of_level
    from eligible
    where case
        when own_place * {{ raised_of | lit }} <= places * (1 + walker % {{ raised_of | lit }}) then level >= best_level
        else level = best_level
    end
),
-- the other starts: nodes on a way down from the coarsest, which takes the steps in the order of what they save by themselves
value_counts as (
    select
        d.walker,
        d.walk,
        d.attribute,
        d.level,
        d.height,
        -- a step is taken after all coarser steps of its column
        min(case when d.level < d.height then w.weight * cast(d.above - d.loss as double) / cast(greatest(d.entropy - d.less, 1) as double) end)
            over (partition by d.walker, d.attribute order by d.level desc rows between unbounded preceding and current row) as worth
    from (
        select
            *,
            lag(loss) over (partition by walker, attribute order by level desc) as above,
            lag(entropy) over (partition by walker, attribute order by level desc) as less
        from drawn
        where phase = 'start' and not (walk > 0 and (walk + walker) % 2 = 0)
    ) d
    join weights w on w.walker = d.walker and w.attribute = d.attribute
),
ordered as (
    select
        *,
        -- the coarsest levels are where every way begins
        row_number() over (partition by walker order by level < height, worth desc, level desc, attribute) - {{ attributes | length | lit }} as step,
        count(*) over (partition by walker) - {{ attributes | length | lit }} as steps
    from value_counts
),
stops as (
    -- close to each other at first
    select distinct walker, cast(steps * r.stop * r.stop // {{ (stops * stops) | lit }} as bigint) as stop
    from ordered
    cross join range({{ stops | lit }}) r(stop)
),
stopped as (
    select s.walker, s.stop, o.attribute, min(o.level) as level
    from stops s
    join ordered o on o.walker = s.walker and o.step <= s.stop
    group by s.walker, s.stop, o.attribute
),
starts as (
    select walker, cast(-1 as bigint) as stop, attribute, level from raised where turn_of_level = 1
    union all
    select walker, stop, attribute, level from stopped
),
started as (
    select
        r.walker
{{ combined() }}
    from starts r
    join {{ levels | ident }} v on v.attribute = r.attribute and v.level = r.level
    group by r.walker, r.stop
),
stepped as (
    select a.walker, a.walk, a.phase, s.attribute as lowered, s.to_level as lowered_to, a.bound as current{% for a in attributes %}, case when s.attribute = {{ a.number }} then s.to_level else a.{{ a.level }} end as {{ a.level }}{% endfor %}{% for word in words %}, a.{{ word.m }} + s.{{ word.m }} as {{ word.m }}{% endfor %}{% for measure in measures %}, a.{{ measure }} + s.{{ measure }} as {{ measure }}{% endfor %}, a.guide + s.entropy as guide
    from at_node a
    join {{ steps | ident }} s on s.down and s.level = case s.attribute {% for a in attributes %}when {{ a.number }} then a.{{ a.level }} {% endfor %}end
    where a.phase in ('down', 'swap')
),
swapped as (
    select a.walker, a.lowered{% for c in attributes %}, case when s.attribute = {{ c.number }} then s.to_level else a.{{ c.level }} end as {{ c.level }}{% endfor %}{% for word in words %}, a.{{ word.m }} + s.{{ word.m }} as {{ word.m }}{% endfor %}{% for measure in measures %}, a.{{ measure }} + s.{{ measure }} as {{ measure }}{% endfor %}, a.guide + s.entropy as guide
    from stepped a
    join {{ steps | ident }} s on not s.down and s.attribute <> a.lowered and s.level = case s.attribute {% for c in attributes %}when {{ c.number }} then a.{{ c.level }} {% endfor %}end
    where a.phase = 'swap'
),
reached as (
    select walker, cast(-1 as bigint) as lowered{% for a in attributes %}, {{ a.level }}{% endfor %}{% for word in words %}, {{ word.m }}{% endfor %}, {{ measures | join }}, guide from started
    union all
    select walker, lowered{% for a in attributes %}, {{ a.level }}{% endfor %}{% for word in words %}, {{ word.m }}{% endfor %}, {{ measures | join }}, guide from stepped where phase = 'down'
    union all
    select walker, lowered{% for a in attributes %}, {{ a.level }}{% endfor %}{% for word in words %}, {{ word.m }}{% endfor %}, {{ measures | join }}, guide from swapped
),
bounded as (
    select
        c.*,
        {{ bound_of() }} as bound
    from reached c
    cross join (select records - left_out as units_records from {{ limits | ident }}) l
)
select b.walker, coalesce(g.weight, 1) as weight{% for a in attributes %}, b.{{ a.level }}{% endfor %}{% for word in words %}, b.{{ word.m }}{% endfor %}{% for measure in measures %}, b.{{ measure }}{% endfor %}, b.guide, b.bound
from bounded b
join {{ walkers | ident }} w on w.walker = b.walker
left join weights g on g.walker = b.walker and g.attribute = b.lowered
left join {{ evaluations | ident }} j on j.number = w.number
where (w.phase <> 'swap' or not j.holds or b.bound < j.loss)
    and not exists (
        select 1 from {{ failed | ident }} f
        where {% for word in words %}b.{{ word.m }} & f.{{ word.m }} = f.{{ word.m }}{% if not loop.last %} and {% endif %}{% endfor %}

    )

-- name: walk_found
-- The nodes reached for the first time, as many as the budget leaves: of every walker those of the
-- lowest bounds first.
create or replace table {{ found | ident }} as
with fresh as (
    select r.*, row_number() over (partition by r.walker order by r.bound{% for a in attributes %}, r.{{ a.level }}{% endfor %}) as place
    from {{ reached | ident }} r
    where not exists (
        select 1 from {{ nodes | ident }} n
        where {% for word in words %}n.{{ word.m }} = r.{{ word.m }}{% if not loop.last %} and {% endif %}{% endfor %}

    )
),
different as (
    select min(place) as place{% for a in attributes %}, {{ a.level }}{% endfor %}{% for word in words %}, {{ word.m }}{% endfor %}, {{ measures | join }}, guide, bound
    from fresh
    where place <= {{ at_once | lit }}
    group by {% for a in attributes %}{{ a.level }}, {% endfor %}{% for word in words %}{{ word.m }}, {% endfor %}{{ measures | join }}, guide, bound
),
known as (
    select count(*) as nodes from {{ nodes | ident }}
),
numbered as (
    select k.nodes + row_number() over (order by d.place, d.bound{% for a in attributes %}, d.{{ a.level }}{% endfor %}) as number, d.*
    from different d
    cross join known k
)
select cast(number as bigint) as number{% for a in attributes %}, {{ a.level }}{% endfor %}{% for word in words %}, {{ word.m }}{% endfor %}, {{ measures | join }}, guide, bound
from numbered
where number <= {{ budget | lit }}

-- name: walk_nodes
-- The nodes found are kept.
insert into {{ nodes | ident }}
select number{% for a in attributes %}, {{ a.level }}{% endfor %}{% for word in words %}, {{ word.m }}{% endfor %}, {{ measures | join }}, guide, bound
from {{ found | ident }}

-- name: walk_batch
-- The nodes to judge in this round: all that are not judged.
create or replace table {{ batch | ident }} as
select number, guide{% for word in words %}, {{ word.m }}{% endfor %}

from {{ nodes | ident }}
where number not in (select number from {{ evaluations | ident }})

-- name: walk_fails
-- Keep the nodes whose failure rules out all finer ones.
insert into {{ failed | ident }}
select n.number{% for a in attributes %}, n.{{ a.level }}{% endfor %}{% for word in words %}, n.{{ word.m }}{% endfor %}

from {{ verdicts | ident }} v
join {{ nodes | ident }} n on n.number = v.number
where v.decides

-- name: walk_move
-- The next node of every walker. Down: the node that holds and loses less, by what it saves in
-- relation to its cost; walkers differ in their cost: units suppressed, classes split (the entropy
-- of two rows being in one class), the size of the smallest class, or nothing. As long as no node
-- holds: any node that may have a finer one that does. Swapping, or at the start: the node that
-- loses least. If there is none, walkers that went down swap, and the others begin a new walk.
create or replace table {{ walkers | ident }} as
with seen as (
    select
        r.walker,
        r.weight,
        n.number,
        n.bound,
        j.loss,
        j.holds,
        coalesce(j.suppressed, j.small) as suppressed,
        j.small,
        j.smallest,
        cast(j.squares as double) as squares
    from {{ reached | ident }} r
    join {{ nodes | ident }} n on {% for word in words %}n.{{ word.m }} = r.{{ word.m }}{% if not loop.last %} and {% endif %}{% endfor %}

    join {{ evaluations | ident }} j on j.number = n.number
    where n.number not in (select number from {{ failed | ident }})
),
stands as (
    select
        w.*,
        n.bound,
        j.loss,
        coalesce(j.holds, false) as holds,
        coalesce(j.suppressed, j.small) as suppressed,
        j.small,
        j.smallest,
        cast(j.squares as double) as squares
    from {{ walkers | ident }} w
    left join {{ nodes | ident }} n on n.number = w.number
    left join {{ evaluations | ident }} j on j.number = w.number
),
priced as (
    select
        s.walker,
        s.number,
        s.holds,
        s.loss,
        w.phase,
        -- rounded to whole numbers, so that equal steps are equal
        cast(s.weight as double) * cast(w.bound - s.bound as double) / cast(case w.walker % 4
            when 1 then greatest(round(1000000 * ln(w.squares / s.squares)), 1)
            when 2 then greatest(s.suppressed - w.suppressed, 0) + 1
            when 3 then greatest(round(1000000 * ln(w.smallest / cast(s.smallest as double))), 1)
            else 1
        end as double) as worth
    from seen s
    join stands w on w.walker = s.walker
    where case
        when w.phase = 'start' then true
        when w.holds then s.holds and s.loss < w.loss
        else s.holds or w.phase = 'down'
    end
),
ranked as (
    select
        *,
        row_number() over (
            partition by walker
            order by holds desc, case when phase <> 'down' then loss end, worth desc, number
        ) as place
    from priced
),
gone as (
    select
        s.walker,
        s.walk,
        s.draw,
        coalesce(r.number, s.number) as number,
        case
            when r.number is not null then 'down'
            when s.phase = 'down' and s.holds then 'swap'
            else 'start'
        end as phase
    from stands s
    left join ranked r on r.walker = s.walker and r.place = 1
)
select walker, case when phase = 'start' then walk + 1 else walk end as walk, phase, number, draw
from gone

-- name: walk_left
-- How many walkers have walks left, while the budget of nodes lasts.
select count(*)
from {{ walkers | ident }}
where walk < {{ walks | lit }} and (select count(*) from {{ nodes | ident }}) < {{ budget | lit }}

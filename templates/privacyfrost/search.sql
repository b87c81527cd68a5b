-- name: levels
-- For every level of every column, what it adds to the score of a table, and the size of the
-- column's smallest class by itself; depths count from the root.
{% from "privacyfrost/_merit" import merit, priorities with context %}
create or replace table {{ depths | ident }} as
with {{ priorities() }},
masks(attribute, level{% for word in words %}, {{ word.m }}{% endfor %}) as (
    values
    {% for row in masks %}
    ({{ row | lits | join }}){% if not loop.last %},{% endif %}

    {% endfor %}
),
codes as (
    select attribute, code, sum(n) as n
    from (
        select
            unnest([{% for a in attributes %}{{ a.number }}{% if not loop.last %}, {% endif %}{% endfor %}]) as attribute,
            unnest([{% for a in attributes %}{{ a.c }}{% if not loop.last %}, {% endif %}{% endfor %}]) as code,
            n
        from {{ tuples | ident }}
    ) c
    group by attribute, code
),
recoded as (
    {% for table in recodings %}
    select {{ loop.index0 | lit }} as attribute, code, level, node from {{ table | ident }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
nodes as (
    select r.attribute, r.level, r.node, cast(sum(c.n) as bigint) as n
    from recoded r
    join codes c on c.attribute = r.attribute and c.code = r.code
    group by r.attribute, r.level, r.node
),
counts as (
    select
        n.attribute,
        n.level,
        count(*) as e,
        min(n.n) as smallest,
        {% if judging %}
        cast(coalesce(sum(n.n) filter (where n.n < {{ k | lit }}), 0) as bigint) as small,
        cast(coalesce(sum(n.n) filter (where n.n < {{ margin | lit }}), 0) as bigint) as short,
        {% endif %}
        max(case when n.level = 0 then count(*) end) over (partition by n.attribute) as before
    from nodes n
    group by n.attribute, n.level
)
select
    c.attribute,
    p.height - c.level as depth,
    c.e as distinct_values,
    c.smallest,
    {% if judging %}
    c.small,
    c.short,
    {% endif %}
    {{ merit() }} as merit
    {% for word in words %}
    , cast(m.{{ word.m }} as bigint) as {{ word.m }}
    {% endfor %}
from counts c
join priorities p on p.attribute = c.attribute
join masks m on m.attribute = c.attribute and m.level = c.level

-- name: base
-- The tuples at the finest levels at which no column alone has a class that is too small: no table
-- that holds is finer (the subset property).
-- source: LeFevre et al. 2005 (subset property)
create or replace table {{ base | ident }} as
with finest as (
    select {% for word in words %}bit_or({{ word.m }}) as {{ word.m }}{% if not loop.last %}, {% endif %}{% endfor %}

    from {{ depths | ident }}
    where smallest >= {{ k | lit }}
)
select
    {% for word in words %}
    t.{{ word.w }} & coalesce(f.{{ word.m }}, 0) as {{ word.w }},
    {% endfor %}
    cast(sum(t.n) as bigint) as n
from {{ tuples | ident }} t
cross join finest f
group by {% for word in words %}t.{{ word.w }} & coalesce(f.{{ word.m }}, 0){% if not loop.last %}, {% endif %}{% endfor %}

-- name: start
-- The pre-computation: every column alone is generalized until its smallest class has k + p, then
-- all columns together, one level at a time, as far as their minimum levels allow. All of these
-- tables are judged at once; the search starts from the finest that holds.
-- source: Kiyomoto and Miyake 2014 §5.2
{% import "privacyfrost/_check" as checks with context %}
create or replace table {{ start | ident }} as
with settings(attribute, floor) as (
    values
    {% for a in attributes %}
    ({{ a.number }}, {{ a.floor | lit }}){% if not loop.last %},{% endif %}

    {% endfor %}
),
alone as (
    select
        s.attribute,
        s.floor,
        greatest(s.floor, coalesce(max(case when v.smallest >= {{ margin | lit }} then v.depth end), 0)) as depth
    from settings s
    join {{ depths | ident }} v on v.attribute = s.attribute
    group by s.attribute, s.floor
),
steps as (
    select cast(unnest(range(max(depth - floor) + 1)) as integer) as node
    from alone
),
tables as (
    select
        n.node,
        {{ total }}(v.merit) as score,
        {{ weight }} as weight,
        min(v.smallest) as single
        {% for a in attributes %}
        , max(case when v.attribute = {{ a.number }} then v.depth end) as {{ a.depth }}
        {% endfor %}
        {% for word in words %}
        , bit_or(v.{{ word.m }}) as {{ word.m }}
        {% endfor %}
    from steps n
    cross join alone a
    join {{ depths | ident }} v on v.attribute = a.attribute and v.depth = greatest(a.floor, a.depth - n.node)
    group by n.node
),
tested as materialized (
    select node{% for word in words %}, {{ word.m }}{% endfor %}

    from tables
    where single >= {{ k | lit }}
),
{{ checks.check() }}
select
    'pre-computation' as phase,
    t.node as place
    {% for a in attributes %}
    , cast(t.{{ a.depth }} as integer) as {{ a.depth }}
    {% endfor %}
    {% for word in words %}
    , t.{{ word.m }}
    {% endfor %}
    , cast(t.score as decimal(38, 12)) as score
    , cast(t.weight as bigint) as weight
    , v.node is not null and v.broken is null as holds
    , v.node is not null as seen
    , coalesce(v.smallest, t.single) as smallest
    , case when v.node is null then 0 else v.broken end as broken
    , v.node is not null and v.broken is null and t.node = min(t.node) filter (where v.node is not null and v.broken is null) over () as chosen
from tables t
left join verdicts v on v.node = t.node

-- name: search
-- The search. Every step scores all tables that are one level finer (top-down) or coarser
-- (bottom-up) in one column, and judges those that beat the best table, all at once. Top-down
-- continues with the best table that holds; if none holds, it moves on to the best that fails, and
-- bottom-up searches back from there. Of equal scores the first is taken: the highest priority
-- going down, the lowest going up. Tables finer than one that failed, and tables coarser than one
-- that held, are not judged: the answer is known.
-- source: Kiyomoto and Miyake 2014 §5.3, §5.4
{% import "privacyfrost/_check" as checks with context %}
{% set columns %}kind, round, node, phase, place{% for a in attributes %}, {{ a.best }}, {{ a.depth }}{% endfor %}{% for word in words %}, {{ word.m }}{% endfor %}, score, weight, spare, better, holds, seen, broken, taken{% endset %}
create or replace table {{ trail | ident }} as
with recursive search({{ columns }}) using key (kind, round, node) as (
    select 1, 0, place, phase, place{% for a in attributes %}, {{ a.depth }}, {{ a.depth }}{% endfor %}{% for word in words %}, {{ word.m }}{% endfor %}, score, weight, false, true, holds, seen, broken, chosen
    from {{ start | ident }}
    union all
    select 0, 0, 0, 'top-down', 0{% for a in attributes %}, {{ a.depth }}, {{ a.depth }}{% endfor %}{% for word in words %}, {{ word.m }}{% endfor %}, score, weight, false, true, true, true, null, true
    from {{ start | ident }}
    where chosen
    union all (
        with state as (
            select * from search where kind = 0 and phase <> 'end'
        ),
        here as (
            select
                unnest([{% for a in attributes %}{{ a.number }}{% if not loop.last %}, {% endif %}{% endfor %}]) as attribute,
                unnest([{% for a in attributes %}{{ a.depth }}{% if not loop.last %}, {% endif %}{% endfor %}]) as depth,
                unnest([{% for a in attributes %}{{ a.floor | lit }}{% if not loop.last %}, {% endif %}{% endfor %}]) as floor,
                unnest([{% for a in attributes %}{{ a.height | lit }}{% if not loop.last %}, {% endif %}{% endfor %}]) as height,
                unnest([{% for a in attributes %}{{ a.rank | lit }}{% if not loop.last %}, {% endif %}{% endfor %}]) as rank,
                phase = 'bottom-up' as up
            from state
        ),
        moves as (
            select
                attribute as node,
                case when up then -1 else 1 end as step,
                case when up then -rank else rank end as place
            from here
            where case when up then depth > floor else depth < height end
        ),
        tables as (
            select
                m.node,
                m.place,
                {{ total }}(v.merit) as score,
                {{ weight }} as weight,
                min(v.smallest) as single
                {% for a in attributes %}
                , max(case when v.attribute = {{ a.number }} then v.depth end) as {{ a.depth }}
                {% endfor %}
                {% for word in words %}
                , bit_or(v.{{ word.m }}) as {{ word.m }}
                {% endfor %}
            from moves m
            cross join here h
            join {{ depths | ident }} v
                on v.attribute = h.attribute
                and v.depth = h.depth + case when h.attribute = m.node then m.step else 0 end
            group by m.node, m.place
        ),
        before as (
            select better and holds as passes, better and not holds as failed{% for word in words %}, {{ word.m }}{% endfor %}

            from recurring.search
            where kind = 1
        ),
        implied as (
            select
                t.node,
                bool_or(b.failed{% for word in words %} and b.{{ word.m }} & t.{{ word.m }} = b.{{ word.m }}{% endfor %}) as fails,
                bool_or(b.passes{% for word in words %} and b.{{ word.m }} & t.{{ word.m }} = t.{{ word.m }}{% endfor %}) as passes
            from tables t
            cross join before b
            group by t.node
        ),
        candidates as (
            select
                t.*,
                t.score > s.score or (t.score = s.score and t.weight > s.weight) as better,
                t.single < {{ k | lit }} or i.fails as fails,
                i.passes
            from tables t
            -- there are tables before: those of the pre-computation
            join implied i on i.node = t.node
            cross join state s
        ),
        tested as (
            select node{% for word in words %}, {{ word.m }}{% endfor %}

            from candidates
            where better and not fails and not passes
        ),
        {{ checks.check() }},
        results as (
            select
                t.*,
                t.better and (t.passes or (v.node is not null and v.broken is null)) as holds,
                v.node is not null as seen,
                v.broken
            from candidates t
            left join verdicts v on v.node = t.node
        ),
        ordered as (
            select
                j.*,
                row_number() over (
                    order by j.better desc, s.phase <> 'second top-down' and not j.holds, j.score desc, j.weight desc, j.place
                ) as choice
            from results j
            cross join state s
        ),
        chosen as (
            select * from ordered where choice = 1 and better
        ),
        move as (
            select
                s.*,
                case
                    {% if resume %}
                    when c.node is null and s.phase = 'bottom-up' and s.spare then 'resumed top-down'
                    {% endif %}
                    when c.node is null then 'end'
                    when not c.holds then 'bottom-up'
                    when s.phase in ('top-down', 'resumed top-down') then s.phase
                    else 'second top-down'
                end as next_phase,
                c.node is not null and c.holds as adopted,
                c.node is not null as moved,
                -- a finer table that holds was passed over: the way down resumes there if the way back up finds none
                case when s.phase = 'bottom-up' then s.spare else coalesce(o.any_holds, false) end as next_spare,
                c.score as chosen_score,
                c.weight as chosen_weight
                {% for a in attributes %}
                , c.{{ a.depth }} as {{ a.chosen }}
                {% endfor %}
            from state s
            left join chosen c on true
            left join (select bool_or(holds) as any_holds from results) o on true
        )
        select
            1, s.round + 1, j.node, s.phase, j.place
            {% for a in attributes %}
            , s.{{ a.best }}, j.{{ a.depth }}
            {% endfor %}
            {% for word in words %}
            , j.{{ word.m }}
            {% endfor %}
            , j.score, j.weight, false, j.better, j.holds, j.seen, j.broken, j.choice = 1 and j.better
        from ordered j
        cross join state s
        union all
        select
            0, round + 1, 0, next_phase, 0
            {% for a in attributes %}
            , case when adopted then {{ a.chosen }} else {{ a.best }} end
            , case when moved then {{ a.chosen }} else {{ a.best }} end
            {% endfor %}
            {% for word in words %}
            , 0
            {% endfor %}
            , case when adopted then chosen_score else score end
            , case when adopted then chosen_weight else weight end
            , next_spare, true, true, true, null, true
        from move
    )
)
select {{ columns }} from search

-- name: best
-- The table that the search ended with.
create or replace table {{ state | ident }} as
with last as (
    select * from {{ trail | ident }} where kind = 0 and phase = 'end'
)
select
    unnest([{% for a in attributes %}{{ a.number }}{% if not loop.last %}, {% endif %}{% endfor %}]) as attribute,
    unnest([{% for a in attributes %}{{ a.best }}{% if not loop.last %}, {% endif %}{% endfor %}]) as depth
from last

-- name: base_cells
-- How often each value of one sensitive column occurs in the tuples of the base.
create or replace table {{ base_cells | ident }} as
with finest as (
    select {% for word in words %}bit_or({{ word.m }}) as {{ word.m }}{% if not loop.last %}, {% endif %}{% endfor %}

    from {{ depths | ident }}
    where smallest >= {{ k | lit }}
)
select
    {% for word in words %}
    t.{{ word.w }} & coalesce(f.{{ word.m }}, 0) as {{ word.w }},
    {% endfor %}
    c.value,
    cast(sum(c.n) as bigint) as n
from {{ cells | ident }} c
join {{ tuples | ident }} t on t.unit = c.unit
cross join finest f
group by {% for word in words %}t.{{ word.w }} & coalesce(f.{{ word.m }}, 0), {% endfor %}c.value

-- name: failed
-- The coarsest table that the minimum levels allow does not hold, so none does.
select smallest, broken
from {{ start | ident }}
where not exists (select 1 from {{ start | ident }} where holds)
order by place desc
limit 1

-- name: values
-- How many units have each value of each column at each level.
create or replace table {{ values_at | ident }} as
with codes as (
    select attribute, code, cast(sum(n) as bigint) as n
    from (
        select
            unnest([{% for a in attributes %}{{ a.number }}{% if not loop.last %}, {% endif %}{% endfor %}]) as attribute,
            unnest([{% for a in attributes %}{{ a.c }}{% if not loop.last %}, {% endif %}{% endfor %}]) as code,
            n
        from {{ tuples | ident }}
    ) c
    group by attribute, code
)
select d.attribute, d.depth{% for word in words %}, p.{{ word.w }} & d.{{ word.m }} as {{ word.w }}{% endfor %}, cast(sum(c.n) as bigint) as n
from codes c
join {{ paths | ident }} p on p.attribute = c.attribute and p.code = c.code
join {{ depths | ident }} d on d.attribute = c.attribute
group by d.attribute, d.depth{% for word in words %}, p.{{ word.w }} & d.{{ word.m }}{% endfor %}

-- name: first_tables
-- The tables of the pre-computation: every column alone is generalized until its classes smaller
-- than k + p hold no more than may be suppressed, then all columns together, one level at a time.
-- source: Kiyomoto and Miyake 2014 §5.2
create or replace table {{ given | ident }} as
with settings(attribute, floor) as (
    values
    {% for a in attributes %}
    ({{ a.number }}, {{ a.floor | lit }}){% if not loop.last %},{% endif %}

    {% endfor %}
),
alone as (
    select
        s.attribute,
        s.floor,
        greatest(s.floor, coalesce(max(case when v.short <= l.allowed then v.depth end), 0)) as depth
    from settings s
    join {{ depths | ident }} v on v.attribute = s.attribute
    cross join {{ limits | ident }} l
    group by s.attribute, s.floor
),
steps as (
    select cast(unnest(range(max(depth - floor) + 1)) as integer) as node
    from alone
)
select
    n.node as number,
    n.node,
    n.node as place,
    {% for a in attributes %}
    cast(max(case when v.attribute = {{ a.number }} then v.depth end) as integer) as {{ a.depth }},
    {{ a.height | lit }} - cast(max(case when v.attribute = {{ a.number }} then v.depth end) as integer) as {{ a.level }},
    {% endfor %}
    {% for word in words %}
    bit_or(v.{{ word.m }}) as {{ word.m }},
    {% endfor %}
    cast({{ total }}(v.merit) as decimal(38, 12)) as score,
    cast({{ weight }} as bigint) as weight,
    max(v.small) as single,
    true as better,
    bool_or(v.small > l.allowed) as fails
from steps n
cross join alone a
cross join {{ limits | ident }} l
join {{ depths | ident }} v on v.attribute = a.attribute and v.depth = greatest(a.floor, a.depth - n.node)
group by n.node

-- name: started
-- The verdicts of the pre-computation; the search starts from the finest table that holds.
create or replace table {{ start | ident }} as
select
    'pre-computation' as phase,
    g.place
    {% for a in attributes %}
    , g.{{ a.depth }}
    {% endfor %}
    {% for word in words %}
    , g.{{ word.m }}
    {% endfor %}
    , case when v.holds then v.score else g.score end as score
    , case when v.holds then v.weight else g.weight end as weight
    , coalesce(v.holds, false) as holds
    , v.number is not null as seen
    , coalesce(s.small, g.single) as small
    , case when v.number is null then 0 else v.broken end as broken
    , coalesce(v.holds, false) and g.place = min(g.place) filter (where v.holds) over () as chosen
from {{ given | ident }} g
left join {{ scored | ident }} v on v.number = g.number
left join {{ screened | ident }} s on s.number = g.number

-- name: trail
-- The record of the search begins with the pre-computation.
create or replace table {{ trail | ident }} as
select 1 as kind, 0 as round, place as node, phase, place{% for a in attributes %}, {{ a.depth }} as {{ a.best }}, {{ a.depth }}{% endfor %}{% for word in words %}, {{ word.m }}{% endfor %}, score, weight, false as spare, true as better, holds, seen, broken, chosen as taken
from {{ start | ident }}

-- name: standing
-- Where the search stands, and the best table: at first that of the pre-computation.
create or replace table {{ standing | ident }} as
select 0 as round, 'top-down' as phase{% for a in attributes %}, {{ a.depth }} as {{ a.best }}, {{ a.depth }}{% endfor %}, score, weight, false as spare
from {{ start | ident }}
where chosen

-- name: first_failures
-- The tables that failed so that all finer ones do: those of the pre-computation.
create or replace table {{ failed | ident }} as
select {% for word in words %}g.{{ word.m }}{% if not loop.last %}, {% endif %}{% endfor %}

from {{ given | ident }} g
join {{ scored | ident }} v on v.number = g.number
where v.decides

-- name: next_tables
-- All tables that are one level finer (top-down) or coarser (bottom-up) in one column. Those that do
-- not beat the best even if nothing is suppressed, and those finer than one whose classes were too small, are not judged.
-- source: Kiyomoto and Miyake 2014 §5.3, §5.4
create or replace table {{ given | ident }} as
with here as (
    select
        unnest([{% for a in attributes %}{{ a.number }}{% if not loop.last %}, {% endif %}{% endfor %}]) as attribute,
        unnest([{% for a in attributes %}{{ a.depth }}{% if not loop.last %}, {% endif %}{% endfor %}]) as depth,
        unnest([{% for a in attributes %}{{ a.floor | lit }}{% if not loop.last %}, {% endif %}{% endfor %}]) as floor,
        unnest([{% for a in attributes %}{{ a.height | lit }}{% if not loop.last %}, {% endif %}{% endfor %}]) as height,
        unnest([{% for a in attributes %}{{ a.rank | lit }}{% if not loop.last %}, {% endif %}{% endfor %}]) as rank,
        phase = 'bottom-up' as up
    from {{ standing | ident }}
),
moves as (
    select
        attribute as node,
        case when up then -1 else 1 end as step,
        case when up then -rank else rank end as place
    from here
    where case when up then depth > floor else depth < height end
),
tables as (
    select
        m.node,
        m.place,
        cast({{ total }}(v.merit) as decimal(38, 12)) as score,
        cast({{ weight }} as bigint) as weight,
        max(v.small) as single
        {% for a in attributes %}
        , cast(max(case when v.attribute = {{ a.number }} then v.depth end) as integer) as {{ a.depth }}
        {% endfor %}
        {% for word in words %}
        , bit_or(v.{{ word.m }}) as {{ word.m }}
        {% endfor %}
    from moves m
    cross join here h
    join {{ depths | ident }} v
        on v.attribute = h.attribute
        and v.depth = h.depth + case when h.attribute = m.node then m.step else 0 end
    group by m.node, m.place
)
select
    t.node as number,
    t.node,
    t.place,
    {% for a in attributes %}
    t.{{ a.depth }},
    {{ a.height | lit }} - t.{{ a.depth }} as {{ a.level }},
    {% endfor %}
    {% for word in words %}
    t.{{ word.m }},
    {% endfor %}
    t.score,
    t.weight,
    t.single,
    t.score > s.score or (t.score = s.score and t.weight > s.weight) as better,
    t.single > l.allowed or exists (
        select 1 from {{ failed | ident }} f
        where {% for word in words %}t.{{ word.m }} & f.{{ word.m }} = f.{{ word.m }}{% if not loop.last %} and {% endif %}{% endfor %}

    ) as fails
from tables t
cross join {{ standing | ident }} s
cross join {{ limits | ident }} l

-- name: ordered
-- The tables of this step, the one to go on with first: as without suppression, but a table that holds
-- has the score of what it publishes.
-- source: Kiyomoto and Miyake 2014 §5.3, §5.4
create or replace table {{ ordered | ident }} as
with results as (
    select
        g.node,
        g.place
        {% for a in attributes %}
        , g.{{ a.depth }}
        {% endfor %}
        {% for word in words %}
        , g.{{ word.m }}
        {% endfor %}
        , case when v.holds then v.score else g.score end as score
        , case when v.holds then v.weight else g.weight end as weight
        , g.better as tried
        , coalesce(v.holds, false) as holding
        , v.number is not null as seen
        , v.broken
    from {{ given | ident }} g
    left join {{ scored | ident }} v on v.number = g.number
),
compared as (
    select
        f.*,
        f.tried and (f.score > s.score or (f.score = s.score and f.weight > s.weight)) as better
    from results f
    cross join {{ standing | ident }} s
)
select
    j.node,
    j.place
    {% for a in attributes %}
    , j.{{ a.depth }}
    {% endfor %}
    {% for word in words %}
    , j.{{ word.m }}
    {% endfor %}
    , j.score
    , j.weight
    , j.better
    , j.better and j.holding as holds
    , j.seen
    , j.broken
    , row_number() over (
        order by j.better desc, s.phase <> 'second top-down' and not j.holding, j.score desc, j.weight desc, j.place
    ) as choice
from compared j
cross join {{ standing | ident }} s

-- name: considered
-- The tables of this step are recorded.
insert into {{ trail | ident }}
select
    1, s.round + 1, j.node, s.phase, j.place
    {% for a in attributes %}
    , s.{{ a.best }}, j.{{ a.depth }}
    {% endfor %}
    {% for word in words %}
    , j.{{ word.m }}
    {% endfor %}
    , j.score, j.weight, false, j.better, j.holds, j.seen, j.broken, j.choice = 1 and j.better
from {{ ordered | ident }} j
cross join {{ standing | ident }} s

-- name: more_failures
-- The tables of this step that failed so that all finer ones do.
insert into {{ failed | ident }}
select {% for word in words %}g.{{ word.m }}{% if not loop.last %}, {% endif %}{% endfor %}

from {{ given | ident }} g
join {{ scored | ident }} v on v.number = g.number
where v.decides

-- name: move
-- Where the search goes on, as its recursive statement does.
-- source: Kiyomoto and Miyake 2014 §5.3, §5.4
create or replace table {{ standing | ident }} as
with moved as (
    select
        s.*,
        c.node is not null and c.holds as adopted,
        c.node is not null as moved,
        case
            {% if resume %}
            when c.node is null and s.phase = 'bottom-up' and s.spare then 'resumed top-down'
            {% endif %}
            when c.node is null then 'end'
            when not c.holds then 'bottom-up'
            when s.phase in ('top-down', 'resumed top-down') then s.phase
            else 'second top-down'
        end as next_phase,
        -- a finer table that holds was passed over: the way down resumes there if the way back up finds none
        case when s.phase = 'bottom-up' then s.spare else coalesce(o.any_holds, false) end as next_spare,
        c.score as chosen_score,
        c.weight as chosen_weight
        {% for a in attributes %}
        , c.{{ a.depth }} as {{ a.chosen }}
        {% endfor %}
    from {{ standing | ident }} s
    left join (select * from {{ ordered | ident }} where choice = 1 and better) c on true
    left join (select bool_or(holds) as any_holds from {{ ordered | ident }}) o on true
)
select
    round + 1 as round,
    next_phase as phase
    {% for a in attributes %}
    , case when adopted then {{ a.chosen }} else {{ a.best }} end as {{ a.best }}
    , case when moved then {{ a.chosen }} else {{ a.best }} end as {{ a.depth }}
    {% endfor %}
    , case when adopted then chosen_score else score end as score
    , case when adopted then chosen_weight else weight end as weight
    , next_spare as spare
from moved

-- name: searching
-- Whether the search goes on.
select count(*) from {{ standing | ident }} where phase <> 'end'

-- name: ended
-- The table that the search ended with.
create or replace table {{ state | ident }} as
select
    unnest([{% for a in attributes %}{{ a.number }}{% if not loop.last %}, {% endif %}{% endfor %}]) as attribute,
    unnest([{% for a in attributes %}{{ a.best }}{% if not loop.last %}, {% endif %}{% endfor %}]) as depth
from {{ standing | ident }}

-- name: batch
-- The tables to judge.
create or replace table {{ batch | ident }} as
select number, cast(0 as bigint) as guide{% for word in words %}, {{ word.m }}{% endfor %}

from {{ given | ident }}
where better and not fails

-- name: scored
-- Which of the judged tables hold, and their scores as published: a suppressed row is generalized
-- fully, so a value counts only if a published row has it.
{% from "privacyfrost/_merit" import merit, priorities with context %}
create or replace table {{ scored | ident }} as
with {{ priorities() }},
holding as (
    select c.number, c.suppressed
    from (
        select
            number,
            count(*) filter (where published) as classes,
            cast(coalesce(sum(n) filter (where not published), 0) as bigint) as suppressed
        from {{ classes | ident }}
        group by number
    ) c
    cross join {{ limits | ident }} l
    where c.classes > 0 and c.suppressed <= l.allowed
),
placed as (
    select
        g.number,
        unnest([{% for a in attributes %}{{ a.number }}{% if not loop.last %}, {% endif %}{% endfor %}]) as attribute,
        unnest([{% for a in attributes %}{{ a.height | lit }} - g.{{ a.level }}{% if not loop.last %}, {% endif %}{% endfor %}]) as depth
    from {{ given | ident }} g
    join holding h on h.number = g.number
),
gone as (
    select
        c.number,
        c.n,
        unnest([{% for a in attributes %}{{ a.number }}{% if not loop.last %}, {% endif %}{% endfor %}]) as attribute
        {% for word in words %}
        , unnest([{% for a in attributes %}c.{{ word.g }} & cast({{ a.whole(word.number) }} as bigint){% if not loop.last %}, {% endif %}{% endfor %}]) as {{ word.w }}
        {% endfor %}
    from {{ classes | ident }} c
    join holding h on h.number = c.number
    where not c.published
),
without as (
    select number, attribute{% for word in words %}, {{ word.w }}{% endfor %}, cast(sum(n) as bigint) as n
    from gone
    group by number, attribute{% for word in words %}, {{ word.w }}{% endfor %}

),
vanished as (
    select p.number, p.attribute, count(*) as lacking
    from without w
    join placed p on p.number = w.number and p.attribute = w.attribute
    join {{ values_at | ident }} v
        on v.attribute = p.attribute
        and v.depth = p.depth
        and v.n = w.n
        {% for word in words %}
        and v.{{ word.w }} = w.{{ word.w }}
        {% endfor %}
    group by p.number, p.attribute
),
counted as (
    select p.number, p.attribute, d.distinct_values - coalesce(v.lacking, 0) as e
    from placed p
    join {{ depths | ident }} d on d.attribute = p.attribute and d.depth = p.depth
    left join vanished v on v.number = p.number and v.attribute = p.attribute
),
merits as (
    select c.number, c.e, {{ merit() }} as merit
    from counted c
    join (
        select attribute, max(distinct_values) as before from {{ depths | ident }} group by attribute
    ) o on o.attribute = c.attribute
    join priorities s on s.attribute = c.attribute
),
sums as (
    select
        number,
        cast({{ total }}(merit) as decimal(38, 12)) as score,
        cast({% if weighed %}sum(e){% else %}0{% endif %} as bigint) as weight
    from merits
    group by number
)
select
    s.number,
    h.number is not null as holds,
    case when s.small > l.allowed then 0 when h.number is null then -1 end as broken,
    {% if monotone %}
    h.number is null as decides,
    {% else %}
    -- if rows may be suppressed, any other rule can hold for a finer table and yet fail here
    h.number is null and (s.small > l.allowed or l.allowed = 0) as decides,
    {% endif %}
    h.suppressed,
    t.score,
    t.weight
from {{ screened | ident }} s
cross join {{ limits | ident }} l
left join holding h on h.number = s.number
left join sums t on t.number = s.number

-- name: none_safe
-- No table holds: the coarsest that the minimum levels allow, and why it does not.
select s.small, s.broken, l.allowed
from {{ start | ident }} s
cross join {{ limits | ident }} l
where not exists (select 1 from {{ state | ident }})
order by s.place desc
limit 1

-- name: chosen
-- The table that the search ended with, to be judged once more.
create or replace table {{ batch | ident }} as
select cast(0 as bigint) as number, cast(0 as bigint) as guide{% for word in words %}, bit_or(v.{{ word.m }}) as {{ word.m }}{% endfor %}

from {{ state | ident }} s
join {{ depths | ident }} v on v.attribute = s.attribute and v.depth = s.depth

-- name: without
-- Remove the rows of the classes that the chosen table suppresses; it holds without them.
create or replace table {{ coded | ident }} as
with masked as (
    select {% for a in attributes %}t.{{ a.c }}, {% endfor %}{% for word in words %}t.{{ word.w }} & b.{{ word.m }} as {{ word.g }}{% if not loop.last %}, {% endif %}{% endfor %}

    from {{ tuples | ident }} t
    cross join {{ batch | ident }} b
),
gone as (
    select {% for a in attributes %}m.{{ a.c }}{% if not loop.last %}, {% endif %}{% endfor %}

    from masked m
    join {{ classes | ident }} c on {% for word in words %}c.{{ word.g }} = m.{{ word.g }}{% if not loop.last %} and {% endif %}{% endfor %}

    where not c.published
)
select r.*
from {{ coded | ident }} r
anti join gone x on {% for a in attributes %}x.{{ a.c }} = r.{{ a.c }}{% if not loop.last %} and {% endif %}{% endfor %}

-- name: classes
-- The classes of the best table, each named by its first unit.
create or replace table {{ divided | ident }} as
with best as (
    select {% for word in words %}bit_or(v.{{ word.m }}) as {{ word.m }}{% if not loop.last %}, {% endif %}{% endfor %}

    from {{ state | ident }} s
    join {{ depths | ident }} v on v.attribute = s.attribute and v.depth = s.depth
),
placed as (
    select t.unit, t.n{% for word in words %}, t.{{ word.w }}, t.{{ word.w }} & b.{{ word.m }} as {{ word.g }}{% endfor %}

    from {{ tuples | ident }} t
    cross join best b
),
named as (
    select {% for word in words %}{{ word.g }}, {% endfor %}min(unit) as class_id
    from placed
    group by {% for word in words %}{{ word.g }}{% if not loop.last %}, {% endif %}{% endfor %}

)
select p.unit, c.class_id, p.n{% for word in words %}, p.{{ word.w }}{% endfor %}

from placed p
join named c on {% for word in words %}c.{{ word.g }} = p.{{ word.g }}{% if not loop.last %} and {% endif %}{% endfor %}

-- name: members
-- Which class every unit is in.
create or replace table {{ members | ident }} as
select unit, class_id from {{ divided | ident }}

-- name: class_levels
-- The level at which each class publishes each column: that of the best table or, after the
-- partial-domain step, the lowest level at which all its values are equal.
create or replace table {{ class_levels | ident }} as
{% if partial %}
with classes as (
    select
        class_id
        {% for word in words %}
        , xor(bit_or({{ word.w }}), bit_and({{ word.w }})) as {{ word.m }}
        {% endfor %}
    from {{ divided | ident }}
    group by class_id
)
select
    class_id
    {% for a in attributes %}
    , coalesce({{ a.parting }} + 1, 0) as {{ a.level }}
    {% endfor %}
from classes
{% else %}
with best as (
    select
        {% for a in attributes %}
        max(case when attribute = {{ a.number }} then {{ a.height | lit }} - depth end) as {{ a.level }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from {{ state | ident }}
)
select d.class_id, b.*
from (select distinct class_id from {{ divided | ident }}) d
cross join best b
{% endif %}

-- name: partial
-- The whole partial-domain de-generalization as one statement: classes are divided until none can be.
-- source: Kiyomoto and Miyake 2014 §5.4 step 4
{% from "privacyfrost/_division" import division with context %}
create or replace table {{ divided | ident }} as
with recursive division(unit, class_id, step, n{% for word in words %}, {{ word.w }}{% endfor %}) using key (unit) as (
    select unit, class_id, 0, n{% for word in words %}, {{ word.w }}{% endfor %}

    from {{ divided | ident }}
    union all (
        with {{ division(open) }}
        select * from parted
    )
)
select unit, class_id, n{% for word in words %}, {{ word.w }}{% endfor %}

from division

-- name: open
-- Every class of the best table may be divided.
create or replace table {{ open | ident }} as
select *, 0 as step
from {{ divided | ident }}

-- name: divide
-- One step of the partial-domain de-generalization: the parts of every class that can be divided.
-- source: Kiyomoto and Miyake 2014 §5.4 step 4
{% from "privacyfrost/_division" import division with context %}
create or replace table {{ open | ident }} as
with {{ division(open | ident) }}
select * from parted

-- name: rename
-- The units that were divided last, in their new classes.
create or replace table {{ divided | ident }} as
select
    d.unit, coalesce(o.class_id, d.class_id) as class_id, d.n
    {% for word in words %}
    , d.{{ word.w }}
    {% endfor %}
from {{ divided | ident }} d
left join {{ open | ident }} o on o.unit = d.unit

-- name: undivided
-- Units of the classes that were divided last: their parts may be divided again.
select count(*) from {{ open | ident }}

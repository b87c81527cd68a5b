-- name: _node
-- The columns of nodes that are made from others.
{% macro bound_of() %}
{#- What a node loses at least; as of the nodes of a lattice that is listed. -#}
{% if optimum == "c_dm" %}
cast(floor(pow(cast(l.units_records as double), 2) * exp(-c.guide / 1000000.0) * 0.9999) as hugeint)
{%- else %}
c.{{ optimum | ident }}
{%- endif %}
{% endmacro %}
{% macro combined() %}
{#- A node from one level of every column, grouped. -#}
        {% for a in attributes %}
        , cast(max(case when v.attribute = {{ a.number }} then v.level end) as integer) as {{ a.level }}
        {% endfor %}
        {% for word in words %}
        , cast(sum(v.{{ word.m }}) as bigint) as {{ word.m }}
        {% endfor %}
        {% for measure in measures %}
        , cast(sum(v.{{ measure }}) as hugeint) as {{ measure }}
        {% endfor %}
        , cast(sum(v.entropy) as bigint) as guide
{% endmacro %}

-- name: nodes
-- Every node of the lattice: its levels, its masks, what it loses if no row is suppressed, and a
-- lower bound of what it loses in any case. Nodes are numbered by their levels, the last column
-- varying fastest. The guide, the sum of the columns' entropies, increases as nodes get finer.
create or replace table {{ nodes | ident }} as
with combined as (
    select
        {% for a in attributes %}{{ a.v }}.level * cast({{ radixes[loop.index0] }} as bigint){% if not loop.last %} + {% endif %}{% endfor %} as number
        {% for a in attributes %}
        , cast({{ a.v }}.level as integer) as {{ a.level }}
        {% endfor %}
        {% for word in words %}
        , {% for a in attributes %}{{ a.v }}.{{ word.m }}{% if not loop.last %} + {% endif %}{% endfor %} as {{ word.m }}
        {% endfor %}
        {% for measure in ("ncp", "glm", "distortion") %}
        , {% for a in attributes %}{{ a.v }}.{{ measure | ident }}{% if not loop.last %} + {% endif %}{% endfor %} as {{ measure | ident }}
        {% endfor %}
        , {% for a in attributes %}{{ a.v }}.entropy{% if not loop.last %} + {% endif %}{% endfor %} as guide
    from {% for a in attributes %}(select * from {{ levels | ident }} where attribute = {{ a.number }}) {{ a.v }}{% if not loop.last %} cross join {% endif %}{% endfor %}

)
select
    c.*,
    {% if optimum == "c_dm" %}
    cast(floor(pow(cast(l.units_records as double), 2) * exp(-c.guide / 1000000.0) * 0.9999) as hugeint) as bound
    {% else %}
    c.{{ optimum | ident }} as bound
    {% endif %}
from combined c
cross join (select records - left_out as units_records from {{ limits | ident }}) l

-- name: undecided
-- The nodes that are still to be judged: all of them.
create or replace table {{ undecided | ident }} as
select number, guide, bound{% for word in words %}, {{ word.m }}{% endfor %}

from {{ nodes | ident }}

-- name: no_evaluations
-- No node is judged yet.
create or replace table {{ evaluations | ident }} as
select
    number,
    guide,
    cast(0 as bigint) as smallest,
    cast(0 as bigint) as classes,
    cast(0 as bigint) as small,
    cast(0 as hugeint) as squares,
    cast(0 as bigint) as suppressed,
    cast(0 as bigint) as suppressed_rows,
    {% for measure in measures %}
    {{ measure }},
    {% endfor %}
    cast(0 as hugeint) as c_dm,
    bound as loss,
    false as holds
from {{ nodes | ident }}
where false

-- name: choose
-- The next nodes to judge. In the first round they are spread evenly over the guide. Later, nodes
-- that the guide predicts to hold, smallest bound first, alternate with the coarsest of those that
-- it predicts to fail, since a node that fails rules out all finer ones. The prediction is the
-- threshold of the guide that contradicts the fewest verdicts so far.
create or replace table {{ batch | ident }} as
with widest as (
    select least(greatest({{ rows | lit }} // greatest({% for table in sized %}(select count(*) from {{ table | ident }}){% if not loop.last %}, {% endif %}{% endfor %}, 1), {{ least | lit }}), {{ most | lit }}) as nodes
),
contradicted as (
    select
        guide,
        sum(case when holds then 0 else 1 end) over upward
            - sum(case when holds then 1 else 0 end) over upward as errors
    from {{ evaluations | ident }}
    window upward as (order by guide range unbounded preceding)
),
expected as (
    select (select guide from contradicted order by errors, guide limit 1) as most_guide
),
spread as (
    select
        u.*,
        e.most_guide,
        count(*) over () as nodes,
        row_number() over (order by u.guide, u.number) as place,
        row_number() over (
            partition by u.guide <= e.most_guide
            order by case when u.guide <= e.most_guide then u.bound else u.guide end, u.number
        ) as place_in_half
    from {{ undecided | ident }} u
    cross join expected e
),
ranked as (
    select
        s.*,
        row_number() over (order by s.place_in_half, s.number) as rank
    from spread s
)
select r.number, r.guide{% for word in words %}, r.{{ word.m }}{% endfor %}

from ranked r
cross join widest w
where case
    when r.most_guide is null then (r.place * w.nodes) // r.nodes > ((r.place - 1) * w.nodes) // r.nodes or r.nodes <= w.nodes
    else r.rank <= w.nodes
end

-- name: decide
-- The nodes still to be judged: not those already judged, not those finer than a node that failed,
-- and not those that cannot lose less than the best node so far (of equals the one with the lowest
-- number).
create or replace table {{ undecided | ident }} as
select u.*
from {{ undecided | ident }} u
where u.number not in (select number from {{ verdicts | ident }})
    {% if pruned %}
    and not exists (
        select 1 from {{ verdicts | ident }} f
        where f.decides{% for word in words %} and u.{{ word.m }} & f.{{ word.m }} = f.{{ word.m }}{% endfor %}

    )
    and not exists (
        select 1 from (select loss, number from {{ evaluations | ident }} where holds order by loss, number limit 1) best
        where u.bound > best.loss or (u.bound = best.loss and u.number > best.number)
    )
    {% if optimum == "c_dm" %}
    -- merging classes only adds to the sum of their squares: a coarser node loses at least that of a finer one
    and not exists (
        select 1 from {{ verdicts | ident }} f
        cross join (select loss from {{ evaluations | ident }} where holds order by loss, number limit 1) best
        where f.squares > best.loss{% for word in words %} and u.{{ word.m }} & f.{{ word.m }} = u.{{ word.m }}{% endfor %}

    )
    {% endif %}
    {% endif %}

-- name: left_undecided
-- How many nodes are still to be judged.
select count(*) from {{ undecided | ident }}

-- name: table
-- All nodes: k and the losses if no row is suppressed, then the figures once the policy's
-- guarantees are enforced. Means are per cell, distortion is a share of the whole, the
-- discernibility penalty counts rows. The Pareto front has the nodes that no other beats in both k
-- and the measure.
with shown as (
    select
        n.number
        {% for a in attributes %}
        , n.{{ a.level }}
        {% endfor %}
        , j.smallest as k
        , j.classes
        , n.ncp / {{ cells }} / l.kept as ncp
        , n.glm / {{ cells }} / l.kept as glm
        , n.distortion / {{ heights }} / l.kept as distortion
        , cast(j.squares as double) as dcp
        , j.holds
        , j.suppressed_rows + l.left_out as suppressed
        , (j.ncp + l.left_out * {{ cells }}) / {{ cells }} / l.records as published_ncp
        , (j.glm + l.left_out * {{ cells }}) / {{ cells }} / l.records as published_glm
        , (j.distortion + l.left_out * {{ heights }}) / {{ heights }} / l.records as published_distortion
        , cast(j.c_dm + l.left_out * l.records as double) as published_dcp
        , j.loss
    from {{ evaluations | ident }} j
    join {{ nodes | ident }} n on n.number = j.number
    cross join (select cast(records as double) as records, left_out, cast(greatest(records - left_out, 1) as double) as kept from {{ limits | ident }}) l
),
ranked as (
    select
        *,
        -- in this order a node follows all nodes that cost less, or as much at a larger k
        coalesce(max(k) over (order by {{ measure | ident }}, k desc, number rows between unbounded preceding and 1 preceding), 0) as beaten_by,
        holds and row_number() over (partition by holds order by loss, number) = 1 as optimum
    from shown
)
select * exclude (number, loss, beaten_by, optimum), k > beaten_by as pareto, optimum
from ranked
order by number

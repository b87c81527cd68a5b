-- name: walk_verdicts
-- The verdicts as walkers read them: what a table that holds loses of the largest score, as published.
{% from "privacyfrost/_units" import units, top with context %}
create or replace table {{ verdicts | ident }} as
with {{ top() }},
best as (
    select
        (select {{ units() }} from top) as lost,
        (select sum(e) from (select max(distinct_values) as e from {{ depths | ident }} group by attribute) m) as fewer
),
published as (
    select *, {{ units() }} as earned
    from {{ scored | ident }}
)
select
    s.number,
    s.guide,
    {% for word in words %}
    s.{{ word.m }},
    {% endfor %}
    s.smallest,
    s.classes,
    s.small,
    s.squares,
    p.suppressed,
    p.suppressed as suppressed_rows,
    b.lost - p.earned as lost,
    cast(b.fewer - p.weight as hugeint) as fewer,
    cast(0 as hugeint) as c_dm,
    b.lost - p.earned as loss,
    p.holds,
    p.decides
from {{ screened | ident }} s
join published p on p.number = s.number
cross join best b

-- name: walk_result
-- The table with which the search ended, if it found one, is the first known one besides the coarsest.
{% from "lattice/_node" import bound_of, combined with context %}
insert into {{ nodes | ident }}
with heights(attribute, height) as (
    values
    {% for a in attributes %}
    ({{ a.number }}, {{ a.height | lit }}){% if not loop.last %},{% endif %}

    {% endfor %}
),
combined as (
    select
        cast(2 as bigint) as number
{{ combined() }}
    from {{ state | ident }} s
    join heights h on h.attribute = s.attribute
    join {{ levels | ident }} v on v.attribute = s.attribute and v.level = h.height - s.depth
    having count(*) > 0
)
select
    c.*,
    {{ bound_of() }} as bound
from combined c
where not exists (
    select 1 from {{ nodes | ident }} n
    where {% for word in words %}n.{{ word.m }} = c.{{ word.m }}{% if not loop.last %} and {% endif %}{% endfor %}

)

-- name: walk_singles
-- Of the logarithmic score only one column counts: every column alone at every level, all others as
-- coarse as they may be.
{% from "lattice/_node" import bound_of, combined with context %}
insert into {{ nodes | ident }}
with coarsest as (
    select attribute, max(level) as level
    from {{ levels | ident }}
    group by attribute
),
singles as (
    select
        row_number() over (order by v.lost, v.attribute, v.level) as number,
        v.attribute,
        v.level
    from {{ levels | ident }} v
    join coarsest c on c.attribute = v.attribute and v.level < c.level
),
combined as (
    select
        s.number + 2 as number
{{ combined() }}
    from singles s
    cross join coarsest c
    join {{ levels | ident }} v on v.attribute = c.attribute and v.level = case when c.attribute = s.attribute then s.level else c.level end
    where s.number + 2 <= {{ budget | lit }}
    group by s.number
)
select
    c.*,
    {{ bound_of() }} as bound
from combined c
where not exists (
    select 1 from {{ nodes | ident }} n
    where {% for word in words %}n.{{ word.m }} = c.{{ word.m }}{% if not loop.last %} and {% endif %}{% endfor %}

)

-- name: walk_begin
-- The walkers: some go on from the table that the search ended with, the others begin at the coarsest.
create or replace table {{ walkers | ident }} as
select
    cast(w.walker as integer) as walker,
    0 as walk,
    case when w.onward and n.number > 1 then 'down' else 'start' end as phase,
    case when w.onward then n.number else cast(1 as bigint) end as number,
    d.draw
from (values {% for walker in team %}({{ walker | lit }}, {{ (walker % 2 == 0) | lit }}){% if not loop.last %}, {% endif %}{% endfor %}) w(walker, onward)
cross join (select max(number) as number from {{ nodes | ident }}) n
cross join (select {{ first_draw }} as draw from {{ units | ident }}) d

-- name: walk_levels
-- The levels that the search within a budget may use: what each loses of its column's largest merit
-- (in 10^-12) and of its different values, and the entropy of its nodes (in 10^-6 nats).
{% from "privacyfrost/_units" import units with context %}
create or replace table {{ levels | ident }} as
with settings(attribute, height, floor) as (
    values
    {% for a in attributes %}
    ({{ a.number }}, {{ a.height | lit }}, {{ a.floor | lit }}){% if not loop.last %},{% endif %}

    {% endfor %}
),
spread as (
    select
        attribute,
        depth,
        -- rounded, so that the order of summation does not matter
        cast(round(1000000 * (ln(sum(n)) - sum(n * ln(n)) / sum(n))) as bigint) as entropy
    from {{ values_at | ident }}
    group by attribute, depth
),
value_counts as (
    select *, {{ units() }} as merits
    from (select *, merit as score from {{ depths | ident }}) d
)
select
    d.attribute,
    s.height - d.depth as level,
    max(d.merits) over column_levels - d.merits as lost,
    cast(max(d.distinct_values) over column_levels - d.distinct_values as hugeint) as fewer,
    e.entropy
    {% for word in words %}
    , d.{{ word.m }}
    {% endfor %}
from value_counts d
join settings s on s.attribute = d.attribute
join spread e on e.attribute = d.attribute and e.depth = d.depth
where d.depth >= s.floor
window column_levels as (partition by d.attribute)

-- name: walk_best
-- The table with the best score; of equals the one with more different values if the policy asks for
-- it, then the one that the search ended with, and of others the one that suppresses least.
create or replace table {{ state | ident }} as
with best as (
    select n.*
    from {{ evaluations | ident }} j
    join {{ nodes | ident }} n on n.number = j.number
    where j.holds
    order by j.loss, {% if weighed %}j.fewer, {% endif %}j.number > 2, j.suppressed, j.number
    limit 1
)
select
    unnest([{% for a in attributes %}{{ a.number }}{% if not loop.last %}, {% endif %}{% endfor %}]) as attribute,
    unnest([{% for a in attributes %}{{ a.height | lit }} - {{ a.level }}{% if not loop.last %}, {% endif %}{% endfor %}]) as depth
from best

-- name: walk_trail
-- Add the table with which the search within the budget ended as the last of the record.
{% from "privacyfrost/_units" import top with context %}
insert into {{ trail | ident }}
with {{ top() }},
result as (
    select
        {% for a in attributes %}
        cast(max(case when s.attribute = {{ a.number }} then s.depth end) as integer) as {{ a.depth }},
        {% endfor %}
        {% for word in words %}
        bit_or(v.{{ word.m }}) as {{ word.m }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from {{ state | ident }} s
    join {{ depths | ident }} v on v.attribute = s.attribute and v.depth = s.depth
    having count(*) > 0
)
select
    1, r.round, 0, 'within the budget', 0
    {% for a in attributes %}
    , f.{{ a.depth }}, f.{{ a.depth }}
    {% endfor %}
    {% for word in words %}
    , f.{{ word.m }}
    {% endfor %}
    , cast(t.score - cast(j.loss // 1000000000000 as decimal(26, 0)) - cast(j.loss % 1000000000000 as decimal(12, 0)) * cast(0.000000000001 as decimal(12, 12)) as decimal(38, 12))
    , j.fewer, false, true, true, true, null, true
from result f
join {{ nodes | ident }} n on {% for word in words %}n.{{ word.m }} = f.{{ word.m }}{% if not loop.last %} and {% endif %}{% endfor %}

join {{ evaluations | ident }} j on j.number = n.number
cross join top t
cross join (select max(round) + 1 as round from {{ trail | ident }}) r

-- name: walk_measures
-- The levels of the table with which the search ended, 0 being the values themselves, its score, an
-- upper bound of the score of all other tables, and how many tables it took to find it, rounded up to a
-- power of ten. Scores are rounded, because they depend on rows that may not be published.
{% from "privacyfrost/_units" import units, top with context %}
with {{ top() }},
levels as (
    select
        {% for a in attributes %}
        max(case when attribute = {{ a.number }} then {{ a.height | lit }} - depth end) as {{ a.level }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from {{ state | ident }}
),
least as (
    {% if score == "log" %}
    -- only one column counts: the best that any has at a level that is not too fine for it alone
    select b.best - cast(max({{ units() }}) as hugeint) as lost
    from (
        select d.merit as score
        from {{ depths | ident }} d
        cross join {{ limits | ident }} l
        where d.small <= l.allowed
    ) d
    cross join (select {{ units() }} as best from top) b
    group by b.best
    {% else %}
    select cast(coalesce(sum(lost), 0) as hugeint) as lost
    from (select slice, min(lost) as lost from {{ subsets | ident }} group by slice) s
    {% endif %}
),
counted as (
    select
        cast(t.best - j.loss as double) / 1e12 as score,
        cast(t.best - f.lost as double) / 1e12 as bound
    from levels v
    join {{ nodes | ident }} n on {% for a in attributes %}n.{{ a.level }} = v.{{ a.level }}{% if not loop.last %} and {% endif %}{% endfor %}

    join {{ evaluations | ident }} j on j.number = n.number
    cross join least f
    cross join (select {{ units() }} as best from top) t
)
select
    {{ size | lit }} as lattice_nodes,
    (select cast(power(10, length(cast(count(*) as varchar))) as bigint) from {{ evaluations | ident }}) as lattice_judged,
    -- to three significant digits
    case when c.score > 0 then floor(c.score / power(10, floor(log10(c.score)) - 2) + 0.5) * power(10, floor(log10(c.score)) - 2) else 0 end as lattice_score,
    case when c.bound > 0 then ceil(c.bound / power(10, floor(log10(c.bound)) - 2)) * power(10, floor(log10(c.bound)) - 2) else 0 end as lattice_bound,
    case when c.bound > 0 then ceil(1000 * (1 - c.score / c.bound)) / 1000 else 0 end as lattice_gap
    {% for level, name in named %}
    , v.{{ level }} as {{ name }}
    {% endfor %}
from levels v
cross join counted c

-- name: _points
-- The domains by code, as CTEs.
{% macro looked_up() %}
{% for domain in domain_of %}
{{ domain.d }} as (
    select code{% for value, name in domain.lookups %}, {{ value }} as {{ name }}{% endfor %} from {{ domain.table | ident }}
),
{% endfor %}
{% endmacro %}
{% macro joined() %}
{% for domain in domain_of %}
join {{ domain.d }} on {{ domain.d }}.code = u.{{ domain.c }}
{% endfor %}
{% endmacro %}

-- name: mean_loss
-- A lower bound of the mean loss per cell of any grouping into classes of k rows. Every drawn unit
-- counts with its weight, or the threshold of the draw; some standard errors are subtracted.
with cumulative as (
    select
        x.r, x.d, x.place, r.cap,
        r.n + sum(x.n) over (partition by x.r order by x.place rows unbounded preceding) as rows_reached
    from {{ near | ident }} x
    join {{ rows | ident }} r on r.unit = x.r
),
ends as (
    select
        r,
        min(case when rows_reached >= {{ k | lit }} or place > {{ listed | lit }} then d else cap end) as first,
        min(case when place > {{ nearest | lit }} then d else cap end) as far
    from cumulative
    group by r
),
reached as (
    select
        t.r, t.least,
        r.n + sum(t.n) over (partition by t.r order by t.least, t.unit rows unbounded preceding) as rows_reached
    from {{ thirds | ident }} t
    join {{ rows | ident }} r on r.unit = t.r
),
second as (
    select r, min(least) as least from reached where rows_reached >= {{ k | lit }} group by r
),
bounds as (
    select
        r.unit, r.n,
        -- places in a domain are rounded
        greatest(case when e.r is null then r.cap else greatest(e.first, least(coalesce(s.least, e.far), e.far)) end - {{ slack | lit }}, 0) as lost
    from {{ rows | ident }} r
    left join ends e on e.r = r.unit
    left join second s on s.r = r.unit
),
threshold as (
    select coalesce(max(priority), 0) as tau from {{ sample | ident }} where place > {{ most | lit }}
),
weighed as (
    select
        b.n * b.lost / cast(s.weight as double) as share,
        cast(s.weight as double) as weight, t.tau, s.all_weights
    from bounds b
    join {{ sample | ident }} s on s.unit = b.unit
    cross join threshold t
),
-- as integers, sums do not depend on the order of addition
summed as (
    select
        count(*) as drawn,
        coalesce(sum(cast(floor(share * greatest(weight, tau)) as hugeint)), 0) as lost,
        coalesce(sum(cast(ceil(greatest(weight, tau)) as hugeint)), 0) as weights,
        coalesce(max(cast(all_weights as double)), 0) as all_weights
    from weighed
),
rated as (
    -- what is lost by weight is known better than what is lost by all
    select *, lost / greatest(cast(weights as double), 1) as rate from summed
),
varied as (
    select coalesce(sum(cast(ceil(power(w.share - r.rate, 2) * w.tau * greatest(w.tau - w.weight, 0)) as hugeint)), 0) as variance
    from weighed w
    cross join rated r
)
select
    {{ rounded }} as ncp_bound,
    case when (select max(place) from {{ sample | ident }}) > {{ most | lit }} then drawn else 0 end as ncp_bound_sample
from (
    select
        r.drawn,
        greatest(r.rate - {{ errors | lit }} * sqrt(cast(v.variance as double)) / greatest(cast(r.weights as double), 1), 0) * r.all_weights
            / (cast((select sum(n) from {{ units | ident }}) as double) * {{ scale }}) as bound
    from rated r
    cross join varied v
) s{% if most_units %}

where (select count(*) from {{ units | ident }}) <= {{ most_units | lit }}
{% endif %}

-- name: mean_weighted_loss
-- The same bound for the weighted loss, under its own names, because it does not bound `ncp`.
select ncp_bound as ncp_weighted_bound, ncp_bound_sample as ncp_weighted_bound_sample
from (
{% include "bound/mean_loss" %}

) t

-- name: sample
-- Units of classes that lose something, drawn in proportion to about what they lose (priority
-- sampling, Duffield, Lund and Thorup 2007): those with the highest weight by draw, and the next one,
-- whose priority is the threshold. All units if there are no more than that.
-- parameters: most_units: beyond these nothing is drawn, as the comparison with all units takes long
create or replace table {{ sample | ident }} as
with losing as (
    select class_id, {{ weight }} as each from {{ boxes | ident }} b
),
drawn as (
    select
        m.unit, m.class_id, cast(u.n as bigint) as n, l.each * cast(u.n as bigint) as weight,
        -- the smallest draw of n rows, as one draw
        1 - power(1 - cast(u.draw as double) / {{ draws }}, u.n) as share
    from losing l
    join {{ members | ident }} m on m.class_id = l.class_id
    join {{ units | ident }} u on u.unit = m.unit
    -- the box of a tuple that has k rows loses nothing
    where l.each > 0 and u.n < {{ k | lit }}{% if most_units %} and (select count(*) from {{ units | ident }}) <= {{ most_units | lit }}{% endif %}

),
weights as (
    select unit, class_id, n, weight, weight / greatest(share, 1e-12) as priority from drawn
),
kept as (
    select * from weights order by priority desc, unit limit {{ (most + 1) | lit }}
)
select
    *, row_number() over (order by priority desc, unit) as place,
    (select sum(weight) from weights) as all_weights
from kept

-- name: rows
-- The drawn units with their extents, and the loss of a row in its own class, which caps its bound.
{% from "bound/_points" import joined, looked_up with context %}
create or replace table {{ rows | ident }} as
with {{ looked_up() }}wanted as (
    select distinct class_id from {{ sample | ident }} where place <= {{ most | lit }}
),
totals as (
    select m.class_id, m.unit{% for code in codes %}, u.{{ code }}{% endfor %}
    {% for column in columns %}, {{ column.unit }} as {{ column.sql }}{% endfor %}

    from wanted w
    join {{ members | ident }} m on m.class_id = w.class_id
    join {{ units | ident }} u on u.unit = m.unit
    {{ joined() }}
),
classes as (
    select class_id{% for column in columns %}, {{ column.aggregate }} as {{ column.sql }}{% endfor %}

    from totals
    group by class_id
),
capped as (
    select class_id, cast({{ loss() }} as bigint) as cap from classes
)
select
    h.unit, s.n, c.cap
    {% for code in codes %}, h.{{ code }}{% endfor %}
    {% for column in columns %}, h.{{ column.sql }}{% endfor %}

from totals h
join {{ sample | ident }} s on s.unit = h.unit and s.place <= {{ most | lit }}
join capped c on c.class_id = h.class_id

-- name: near
-- The units with which a drawn one may share a class that loses less per row than its own: as a pair
-- they lose less. The nearest of them with their extents, and one more, which shows how far away all
-- others are.
-- parameters: keys: codes of a few attributes by which units are compared first; one whose codes lose
-- `cap` or more in these alone is no nearer;
-- keys_loss, pair: of the drawn unit `r` and of `u`, another unit or its keys
{% from "bound/_points" import joined, looked_up with context %}
{% macro pairs(drawn) -%}
    -- the loss of the pair and the unit as one number, so that the least are kept without a sort
    select r.unit as r, min(cast({{ pair }} as bigint) * {{ units_bits }} + u.unit, {{ (listed + 1) | lit }}) as found
    from (
        -- combinations of codes that alone lose less than the cap
        select r.*{% for code in keys %}, u.{{ code }} as key_{{ code }}{% endfor %}

        from {{ drawn }} r
        join keys u on {{ keys_loss }} < r.cap
    ) r
    join points u on {% for code in keys %}u.{{ code }} = r.key_{{ code }} and {% endfor %}{% for some in first_terms %}{{ some }} < r.cap and {% endfor %}{{ pair }} < r.cap
    where u.unit <> r.unit
{%- endmacro %}
create or replace table {{ near | ident }} as
with {{ looked_up() }}points as (
    select u.unit{% for code in codes %}, u.{{ code }}{% endfor %}
    {% for column in places %}, {{ column.unit }} as {{ column.sql }}{% endfor %}

    from {{ units | ident }} u
    {{ joined() }}
    -- where nothing is drawn, nobody is looked at
    where (select count(*) from {{ rows | ident }}) > 0
),
keys as (
    -- (a column of its own, since there may be no codes)
    select distinct {% for code in keys %}{{ code }}, {% endfor %}true as looked_at from points
),
{% if sampled > 1 %}
-- as many as are kept, of a part of the units: those of all units are no farther
close as (
    {{ pairs(rows | ident) }} and u.unit % {{ sampled | lit }} = 0
    group by r.unit
),
reaching as (
    select
        r.* exclude (cap),
        case when len(c.found) > {{ listed | lit }} then list_max(c.found) // {{ units_bits }} + 1 else r.cap end as cap
    from {{ rows | ident }} r
    left join close c on c.r = r.unit
),
{% endif %}
nearest as (
    {{ pairs("reaching" | ident if sampled > 1 else rows | ident) }}
    group by r.unit
),
apart as (
    select r, unnest(found) as one from nearest
),
placed as (
    select
        a.r, one // {{ units_bits }} as d, one % {{ units_bits }} as unit,
        row_number() over (partition by a.r order by one) as place
    from apart a
)
select
    p.r, p.unit, cast(u.n as bigint) as n, p.d, p.place
    {% for column in columns %}, {{ column.unit }} as {{ column.sql }}{% endfor %}

from placed p
join {{ units | ident }} u on u.unit = p.unit
{{ joined() }}

-- name: thirds
-- The least loss of a class with a drawn unit and a near one: the extent of both and a third one, at
-- which k rows are reached. No class made of near units only that has the near one loses less.
create or replace table {{ thirds | ident }} as
with ends as (
    -- whoever takes part beyond the nearest is at least as far as the first of them
    select r.unit as r, min(case when x.place > {{ nearest | lit }} then x.d else r.cap end) as far
    from {{ near | ident }} x
    join {{ rows | ident }} r on r.unit = x.r
    group by r.unit
),
pairs as (
    select
        x.r, x.unit, x.n, x.d, r.n + x.n as rows_of_pair, e.far
        {% for column in columns %}, {{ column.joined("r.", "x.") }} as {{ column.sql }}{% endfor %}

    from {{ near | ident }} x
    join {{ rows | ident }} r on r.unit = x.r
    join ends e on e.r = x.r
    where x.place <= {{ nearest | lit }} and x.d < e.far
),
triples as (
    select
        p.r, p.unit, p.n, p.rows_of_pair, p.far, t.n as more
        {% for column in columns %}, {{ column.joined("p.", "t.") }} as j{{ column.sql }}{% endfor %}

    from pairs p
    join {{ near | ident }} t on t.r = p.r and t.place <= {{ nearest | lit }}
    where t.unit <> p.unit and p.rows_of_pair < {{ k | lit }}
),
weights as (
    select r, unit, n, rows_of_pair, far, more, cast({{ loss("j") }} as bigint) as lost from triples
),
reached as (
    select
        r, unit, lost,
        rows_of_pair + sum(more) over (partition by r, unit order by lost rows unbounded preceding) as rows_reached
    from weights
    where lost < far
),
least_of as (
    select r, unit, min(lost) as lost from reached where rows_reached >= {{ k | lit }} group by r, unit
)
select
    p.r, p.unit, p.n,
    case when p.rows_of_pair >= {{ k | lit }} then p.d else coalesce(l.lost, p.far) end as least
from pairs p
left join least_of l on l.r = p.r and l.unit = p.unit

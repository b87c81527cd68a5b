-- name: halves
-- Both halves of the cuts of this batch.
{% set code %}case t.attribute{% for a in attributes %} when {{ a.index | lit }} then o.{{ a.c }}{% endfor %} end{% endset %}
create or replace table {{ asked | ident }} as
select
    2 * t.offer + case when
        {% if relaxed %}
        row_number() over (partition by t.offer order by {{ code }}, o.unit) <= t.units_left
        {% else %}
        case when t.single then {{ code }} = t.code else {{ code }} <= t.code end
        {% endif %}
        then 0 else 1 end as grp,
    o.unit
from {{ offered | ident }} t
join {{ open | ident }} o on o.class_id = t.class_id
where t.batch = 1

-- name: settle_cuts
-- Takes the best cut of a class whose halves both satisfy everything. Classes without one keep the
-- cuts of later batches{% if monotone %}, except those with a half within a half that
-- was refused{% endif %}.
create or replace table {{ offered | ident }} as
with results as (
    select grp, holds, {% if searched %}fails{% else %}not holds{% endif %} as refused from {{ verdicts | ident }}
    {% if searched %}
    union all
    select grp, holds, not holds from {{ searched | ident }}
    {% endif %}
),
best as (
    select t.class_id, min(t.rank) as rank
    from {{ offered | ident }} t
    where t.offer in (select cast(floor(grp / 2) as bigint) from results where holds group by 1 having count(*) = 2)
    {% if compared %}
        and t.offer in (select offer from {{ compared | ident }} where holds)
    {% endif %}
    group by t.class_id
)
{% if monotone %},
refused as (
    select
        t.class_id, t.attribute,
        max(t.code) filter (where j.grp % 2 = 0) as left_code,
        min(t.code) filter (where j.grp % 2 = 1) as right_code
    from results j
    join {{ offered | ident }} t on t.offer = cast(floor(j.grp / 2) as bigint)
    where j.refused and not t.single
    group by t.class_id, t.attribute
)
{% endif %}

select
    t.offer, t.class_id, t.attribute, t.code, t.single, t.units_left, t.kept_left, t.n_all, t.rank,
    case when t.batch = 0 or t.rank = f.rank then 0 else t.batch - 1 end as batch
from {{ offered | ident }} t
left join best f on f.class_id = t.class_id
{% if monotone %}
left join refused r on r.class_id = t.class_id and r.attribute = t.attribute
{% endif %}
where t.batch = 0
    or t.rank = f.rank
    or (
        f.rank is null and t.batch > 1
        {% if monotone %}
        and coalesce(t.code > r.left_code, true)
        and coalesce(case when t.single then t.code <= r.right_code else t.code < r.right_code end, true)
        {% endif %}
    )

-- name: offer_cuts
-- For every open class, its admissible cuts in the order in which they are judged, best first: the
-- best cut of every class, then a few more of each, and so on.
{% from "mondrian/_cuts" import allowed_cuts with context %}
create or replace table {{ offered | ident }} as
with {{ allowed_cuts(open | ident, every=true) }},
numbered as (
    select
        class_id, attribute, code, single, units_left, kept_left, n_all,
        row_number() over (partition by class_id order by merit desc, attribute, code, single) as rank
    from allowed
)
select
    row_number() over (order by class_id, rank) as offer,
    *,
    case {% for last, persons in batches %}when rank <= {{ last | lit }}{% if persons %} or rank * n_all <= {{ persons | lit }}{% endif %} then {{ loop.index | lit }} {% endfor %}else {{ (batches | length + 1) | lit }} end as batch
from numbered

-- name: to_try
-- How many cuts are left to try.
select count(*) from {{ offered | ident }} where batch > 0

-- name: chosen_cuts
-- The cuts that were taken.
create or replace table {{ chosen | ident }} as
select
    class_id, attribute, code, single, units_left,
    kept_left < {{ (2 * k) | lit }} as left_closed,
    n_all - kept_left < {{ (2 * k) | lit }} as right_closed
from {{ offered | ident }}
where batch = 0

-- name: undecided_halves
-- The persons' value sets of the halves that counts leave undecided, one list of sets per column;
-- the best cuts of a class first, and none after one that is already known to hold.
with results as (
    select t.offer, t.class_id, t.rank, bool_and(v.holds) as holds
    from {{ verdicts | ident }} v
    join {{ offered | ident }} t on t.offer = cast(floor(v.grp / 2) as bigint)
    {% if compared %}
    join {{ compared | ident }} c on c.offer = t.offer and c.holds
    {% endif %}
    group by t.offer, t.class_id, t.rank
    having count(*) = 2 and not bool_or(v.fails)
),
best as (
    select class_id, min(rank) as rank from results where holds group by class_id
)
select j.class_id, j.offer, v.grp, s.col, list(s.codes) as sets
from results j
left join best k on k.class_id = j.class_id
join {{ verdicts | ident }} v on cast(floor(v.grp / 2) as bigint) = j.offer
join {{ asked | ident }} a on a.grp = v.grp
join {{ sets | ident }} s on s.unit = a.unit
where not v.holds and j.rank < coalesce(k.rank, j.rank + 1)
group by j.class_id, j.offer, v.grp, s.col
order by j.offer, v.grp, s.col

-- name: undecided_halves.postgres
-- The persons' value sets of the halves that counts leave undecided, one list of sets per column;
-- the best cuts of a class first, and none after one that is already known to hold.
-- (Sets differ in length, which arrays within an array of Postgres may not.)
with results as (
    select t.offer, t.class_id, t.rank, bool_and(v.holds) as holds
    from {{ verdicts | ident }} v
    join {{ offered | ident }} t on t.offer = cast(floor(v.grp / 2) as bigint)
    {% if compared %}
    join {{ compared | ident }} c on c.offer = t.offer and c.holds
    {% endif %}
    group by t.offer, t.class_id, t.rank
    having count(*) = 2 and not bool_or(v.fails)
),
best as (
    select class_id, min(rank) as rank from results where holds group by class_id
)
select j.class_id, j.offer, v.grp, s.col, jsonb_agg(s.codes) as sets
from results j
left join best k on k.class_id = j.class_id
join {{ verdicts | ident }} v on cast(floor(v.grp / 2) as bigint) = j.offer
join {{ asked | ident }} a on a.grp = v.grp
join {{ sets | ident }} s on s.unit = a.unit
where not v.holds and j.rank < coalesce(k.rank, j.rank + 1)
group by j.class_id, j.offer, v.grp, s.col
order by j.offer, v.grp, s.col

-- name: search_halves
-- Whether the halves that counts leave undecided satisfy l: no column has a hitting set of fewer
-- than l values.
{% from "persons/_search" import search %}
create or replace table {{ searched | ident }} as
{{ search(asked, size) }}
select cast(p.grp as bigint) as grp, count(m.problem) = 0 as holds
from problems p
left join (select distinct problem from met) m on m.problem = p.problem
group by p.grp

-- name: positions
-- The domains of all quasi-identifiers in one table, with a row for cells that are sensitive.
create or replace table {{ positions | ident }} as
{% for a in attributes %}
select {{ a.index | lit }} as attribute, code, share, size
    {% for level in levels %}, {{ level_of(a, level, "a") }} as {{ level.a }}, {{ level_of(a, level, "z") }} as {{ level.z }}{% endfor %}

from {{ a.domain | ident }}
{% if a.flagged %}
union all
select {{ a.index | lit }}, -1, null, 1{% for level in levels %}, 0, 0{% endfor %}

{% endif %}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}

-- name: partition
-- The whole partitioning as one statement: every class is cut until no admissible cut is left.
{% from "mondrian/_recursion" import classes with context %}
{% from "mondrian/_first" import first with context %}
create or replace table {{ members | ident }} as
{% call classes() %}{{ first(units | ident) }}{% endcall %}

-- name: many_open
-- By how many units the classes that may still be cut exceed what one statement can cut up.
select greatest(count(*) - {{ at_once | lit }}, 0) from {{ open | ident }}

-- name: open
-- All units in their first classes, all of them open.
{% from "mondrian/_first" import first with context %}
create or replace table {{ open | ident }} as
{{ first(units | ident) }}

-- name: members
-- The empty table of final classes.
create or replace table {{ members | ident }} as
select unit, class_id from {{ open | ident }} where false

-- name: close_classes
-- Classes without an admissible cut are final.
insert into {{ members | ident }}
select o.unit, o.class_id
from {{ open | ident }} o
where o.class_id not in (select class_id from {{ chosen | ident }})

-- name: apply_cuts
-- The members of every class that is cut move to its two halves; nothing else stays open.
{% from "mondrian/_children" import children with context %}
create or replace table {{ open | ident }} as
{{ children(open | ident, chosen | ident) }}

-- name: cut_up
-- Cut all remaining open classes in one statement, until no admissible cut is left.
{% from "mondrian/_recursion" import classes with context %}
insert into {{ members | ident }}
{% call classes() %}select * from {{ open | ident }}{% endcall %}

-- name: choose_cuts
-- For every open class, the admissible cut that loses least.
{% from "mondrian/_cuts" import cuts with context %}
create or replace table {{ chosen | ident }} as
with {{ cuts(open | ident) }}
select * from cuts

-- name: open_classes
-- How many units are in classes that may still be cut.
select count(*) from {{ open | ident }}

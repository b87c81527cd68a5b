-- name: _children
-- The members of every class that is cut, in their new classes. A class owns as many positions as
-- it has units and has its first position as its number: the left half keeps the number, the right
-- half starts after the units of the left, so that numbers never collide.
{% macro children(open, chosen) %}
{% set code %}case t.attribute{% for a in attributes %} when {{ a.index | lit }} then o.{{ a.c }}{% endfor %} end{% endset %}
select
    unit,
    case when is_left then class_id else class_id + units_left end as class_id,
    level + 1 as level,
    case when is_left then left_closed else right_closed end as closed,
    n{% for a in attributes %}, {{ a.c }}{% endfor %}{% for word, _ in words %}, {{ word }}{% endfor %}{% if several_bits %}, several & case when is_left then left_several else right_several end as several{% endif %}

from (
    select
        o.*, t.units_left, t.left_closed, t.right_closed,{% if several_bits %} t.left_several, t.right_several,{% endif %}

        {% if relaxed %}
        row_number() over (partition by o.class_id order by {{ code }}, o.unit) <= t.units_left as is_left
        {% else %}
        {% if singles %}
        case when t.single then {{ code }} = t.code else {{ code }} <= t.code end as is_left
        {% else %}
        {{ code }} <= t.code as is_left
        {% endif %}
        {% endif %}
    from {{ open }} o
    join {{ chosen }} t on t.class_id = o.class_id
    where not o.closed
)
{% endmacro %}

-- name: _cuts
-- The common table expressions that end in `cuts`: one admissible cut for every class that has
-- one. Shared by the recursive statement and by a level of the driven loop, so that both cut
-- alike. Of the best cuts of each attribute, the one that loses least over all attributes is
-- taken. The expressions up to `allowed` give all admissible cuts, for callers that judge the
-- halves of cuts one by one.
-- source: LeFevre et al. 2006 §4 (median); Xu et al. 2006 (normalized certainty penalty)
{% from "mondrian/_middles" import middle_cuts with context %}
{% from "mondrian/_valid_cuts" import valid_cuts, number, occurrences, candidates_of with context %}
{% from "mondrian/_least_loss" import least_loss with context %}

{#- What the cuts of an attribute are ordered by. -#}
{% macro worth() %}
{% if split == "loss" %}
        -- cuts by loss may peel values off one by one; late levels are cut in the middle instead
        case when level < {{ loss_levels | lit }} then {{ merit }} else least(kept_left, n_all - kept_left) end
{%- else %}
        gain
{%- endif %}
{%- endmacro %}

{#- The cuts of a try that all rules allow. -#}
{% macro allowed_in(try=0) %}
    select
        class_id, attribute, code, single, level, units_left, kept_left, n_all,
{{ worth() }} as merit
    from {{ candidates_of(try) }}
    {% for p in protections %}
    {% if loop.first %}where{% else %}and{% endif %} (class_id, attribute, code, single) in (select (class_id, attribute, code, single) from valid_cuts_{{ number(p, try) }})
    {% endfor %}
{%- endmacro %}

{#- Running sums restart with every attribute of a class: `together` takes one window over all of
    them and subtracts the sums before each, which is three times as fast while they are few.
    `every`: judge all cuts. Otherwise the best few of every attribute are judged first, and the
    others only if none of these is allowed: to judge one takes as many steps as a class has values. -#}
{% macro allowed_cuts(open, together=false, every=false) %}
histogram as (
    -- all attributes at once: an aggregation for each takes longer
    select class_id, attribute, code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
    from (
        select
            o.class_id, o.level, o.n, t.attribute,
            case t.attribute{% for a in attributes %} when {{ a.index | lit }} then o.{{ a.c }}{% endfor %} end as code
        from {{ open }} o
        cross join (values {% for a in attributes %}({{ a.index | lit }}{% if several_bits %}, {{ several_bits[a.index] }}{% endif %}){% if not loop.last %}, {% endif %}{% endfor %}) as t(attribute{% if several_bits %}, bit{% endif %})
        where not o.closed{% if several_bits %} and o.several & t.bit <> 0{% endif %}

    ) as codes
    group by class_id, attribute, code
),
-- the rows below every code, counted from the first class on where sums are taken together
cumulative as (
    select
        h.class_id, h.attribute, h.code, h.level, h.n, h.units, p.share, p.size,
        cast(sum(h.n) over below as bigint) as n_below,
        cast(sum(h.units) over below as bigint) as units_below,
        row_number() over below as values_below,
        lead(p.share) over below as next_share
        {% if levels %}
        , lead(h.code) over below as next_code
        {% endif %}
        {% for level in levels %}
        , p.{{ level.a }}, p.{{ level.z }}, lead(p.{{ level.a }}) over below as next_{{ level.a }}
        {% endfor %}
    from histogram h
    join {{ positions | ident }} p on p.attribute = h.attribute and p.code = h.code
    window below as ({% if together %}order by h.class_id, h.attribute, h.code{% else %}partition by h.class_id, h.attribute order by h.code{% endif %} rows between unbounded preceding and current row)
),
-- an attribute with one value in a class cannot be cut there
spans as (
    select
        class_id, attribute,
        cast(sum(n) as bigint) as n_all,
        count(*) as values_all,
        min(code) as first_code,
        max(code) as last_code,
        min(share) as first_share,
        max(share) as last_share,
        min(n_below - n) as n_before,
        min(units_below - units) as units_before,
        min(values_below - 1) as values_before
    from cumulative
    group by class_id, attribute
    having count(*) > 1 and sum(n) >= {{ (2 * k) | lit }}
),
running as (
    select
        p.class_id, p.attribute, p.code, p.level, p.share, p.size, p.n, p.units,
        s.n_all, s.values_all, s.first_code, s.last_code, s.first_share, s.last_share,
        p.n_below - s.n_before as n_left,
        p.units_below - s.units_before as units_left,
        p.values_below - s.values_before as values_left,
        case when p.code < s.last_code then p.next_share end as next_share
        {% if levels %}
        , p.next_code
        {% endif %}
        {% for level in levels %}
        , p.{{ level.a }}, p.{{ level.z }}
        , f.{{ level.a }} as first_{{ level.a }}, l.{{ level.a }} as last_{{ level.a }}, l.{{ level.z }} as last_{{ level.z }}
        , case when p.code < s.last_code then p.next_{{ level.a }} end as next_{{ level.a }}
        {% endfor %}
    from cumulative p
    join spans s on s.class_id = p.class_id and s.attribute = p.attribute
    {% if levels %}
    join {{ positions | ident }} f on f.attribute = s.attribute and f.code = s.first_code
    join {{ positions | ident }} l on l.attribute = s.attribute and l.code = s.last_code
    {% endif %}
),
scores as (
    select
        class_id, attribute, code, false as single, level, n_left, n_all,{% if thinned %} values_all,{% endif %}

        {% if relaxed %}
        cast(ceil(n_all / 2) as bigint) as units_left,
        cast(ceil(n_all / 2) as bigint) as kept_left,
        {% else %}
        units_left,
        n_left as kept_left,
        {% endif %}
        {% if split == "loss" %}
        {{ gain }} as gain
        {% else %}
        cast(coalesce(last_share - first_share, 0) as decimal(18, 8)) as gain
        {% endif %}
    from running
    where {{ admissible }}
    {% if singles %}
    union all
    -- one category against all others; those with the first and the last one are among the cuts above
    select class_id, attribute, code, true, level, n, n_all,{% if thinned %} values_all,{% endif %} units, n, {{ single_gain }}
    from running
    where attribute in ({{ singles | lits | join }})
        and code > first_code and code < last_code
        and n >= {{ k | lit }} and n_all - n >= {{ k | lit }}
        and level < {{ loss_levels | lit }}
    {% endif %}
),
-- a cut that saves nothing need not be judged
{% if thinned %}
worthwhile as (
    select
        *,
        row_number() over (
            partition by class_id, attribute, single, floor({{ stretches | lit }} * n_left / n_all)
            order by {{ merit }} desc, code
        ) as place
    from scores
    where cast(gain as decimal(18, 8)) > 0
),
-- of an attribute with many values in a class, the best cut of every stretch of its rows is judged
candidates as (
    select * exclude (place) from worthwhile where place = 1 or values_all <= {{ many_values | lit }}
),
{% else %}
candidates as (
    select * from scores{% if split == "loss" %} where cast(gain as decimal(18, 8)) > 0{% endif %}

),
{% endif %}
{% for p in protections %}
{{ occurrences(open, p) }}
{% endfor %}
{% if judged_first and not every %}
ordered as (
    select
        *,
        row_number() over (
            partition by class_id, attribute
            order by
{{ worth() }} desc, 2 * code + case when single then 1 else 0 end
        ) as rank
    from candidates
),
candidates_1 as (select * from ordered where rank <= {{ judged_first | lit }}),
{% for p in protections %}
{{ valid_cuts(p, 1) }}
{% endfor %}
allowed_1 as (
{{ allowed_in(1) }}
),
candidates_2 as (
    select o.*
    from ordered o
    left join (select distinct class_id, attribute from allowed_1) d on d.class_id = o.class_id and d.attribute = o.attribute
    where o.rank > {{ judged_first | lit }} and d.class_id is null
),
{% for p in protections %}
{{ valid_cuts(p, 2) }}
{% endfor %}
allowed as (
    select * from allowed_1
    union all
{{ allowed_in(2) }}
)
{%- else %}

{% for p in protections %}
{{ valid_cuts(p) }}
{% endfor %}
allowed as (
{{ allowed_in() }}
)
{%- endif %}
{%- endmacro %}

{% macro cuts(open, together=false) %}
{% if in_the_middle %}
{{ middle_cuts(open) }}
{% else %}
{{ allowed_cuts(open, together) }},
-- the best cut of every attribute
best as (
    select class_id, attribute, max(merit) as merit from allowed group by class_id, attribute
),
first as (
    select a.class_id, a.attribute, a.merit, min(2 * a.code + case when a.single then 1 else 0 end) as place
    from allowed a
    join best b on b.class_id = a.class_id and b.attribute = a.attribute and b.merit = a.merit
    group by a.class_id, a.attribute, a.merit
),
-- ranked by counting the better ones: a class has few cuts, and a window function would cost more
ranked as (
    select
        f.class_id, f.attribute, f.place,
        sum(case when r.merit > f.merit or r.merit = f.merit and r.attribute <= f.attribute then 1 else 0 end) as rank,
        count(*) as rivals
    from first f
    join first r on r.class_id = f.class_id
    group by f.class_id, f.attribute, f.place
),
contenders as (
    select a.*, r.rank, r.rivals
    from ranked r
    join allowed a on a.class_id = r.class_id and a.attribute = r.attribute
        and 2 * a.code + case when a.single then 1 else 0 end = r.place
    where r.rank <= {{ compare | lit }}
),
{% if compare > 1 %}
{{ least_loss(open) }}
{% endif %}
cuts as (
    select
        c.class_id, c.attribute, c.code, c.single, c.units_left,
        -- a half that is too small to be cut again is final at once
        c.kept_left < {{ (2 * k) | lit }} as left_closed,
        c.n_all - c.kept_left < {{ (2 * k) | lit }} as right_closed
        {% if several_bits %}
        , coalesce(l.left_several, -1) as left_several
        , coalesce(l.right_several, -1) as right_several
        {% endif %}
    from contenders c
    {% if compare > 1 %}
    left join least_loss w on w.class_id = c.class_id
    {% if several_bits %}
    left join lost l on l.class_id = w.class_id and l.cut = w.attribute
    {% endif %}
    where c.attribute = coalesce(w.attribute, c.attribute) and (w.attribute is not null or c.rank = 1)
    {% else %}
    where c.rank = 1
    {% endif %}
)
{% endif %}
{% endmacro %}

-- name: _first
-- All units in their first classes (one, or one per flag pattern), all of them open.
{% macro first(units) %}
select unit, {{ first_class }} as class_id, 0 as level, false as closed, n{% for a in attributes %}, {{ a.c }}{% endfor %}{% for word, value in words %}, {{ value }} as {{ word }}{% endfor %}{% if several_bits %}, cast(-1 as bigint) as several{% endif %}

from {{ units }}
{%- endmacro %}

-- name: _least_loss
-- The first or last place of a half in the domain of attribute `t`; of its places a set needs only
-- the size of the domain.
{% macro place(end) -%}
case t.attribute{% for a in attributes %} when {{ a.index | lit }} then {% if shape(a) == "set" %}1{% else %}{{ end }}{{ a.index | lit }}{% endif %}{% endfor %} end
{%- endmacro %}

{#- The common table expressions that end in `least_loss`: of the best cuts of a class, the one whose
    halves lose least over all attributes. Halves can also be narrower than their class in
    attributes that are not cut, which the running sums along one attribute do not show. -#}
{% macro least_loss(open) %}
{% set bit %}cast(1 as bigint) << e.attribute{% endset %}
{% set low %}h.low{% endset %}
{% set high %}h.high{% endset %}
halves as (
    select
        class_id, cut, is_left, cast(sum(n) as bigint) as n
        {% for a in attributes %}
        {% if a.index in mixed %}
        , min(case when {{ a.c }} > 0 then {{ a.c }} end) as low{{ a.index | lit }}, max({{ a.c }}) as high{{ a.index | lit }}
        , max(case when {{ a.c }} = 0 then 1 else 0 end) as different{{ a.index | lit }}
        {% elif shape(a) != "set" %}
        , min({{ a.c }}) as low{{ a.index | lit }}, max({{ a.c }}) as high{{ a.index | lit }}
        {% elif a.index in folded %}
        , min({{ a.c }}) as low{{ a.index | lit }}, max({{ a.c }}) as high{{ a.index | lit }}
        {% endif %}
        {% endfor %}
        {% for word, _ in words %}
        , bit_or({{ word }}) as {{ word }}
        {% endfor %}
    from (
        select
            o.*, t.attribute as cut,
            case t.attribute
                {% for a in attributes %}
                when {{ a.index | lit }} then case when t.single then o.{{ a.c }} = t.code else o.{{ a.c }} <= t.code end
                {% endfor %}
            end as is_left
        from {{ open }} o
        join contenders t on t.class_id = o.class_id
        where not o.closed
            and t.rivals > 1 and t.level < {{ loss_levels | lit }}
    )
    group by class_id, cut, is_left
),
extents as (
    select * from (
        select
            h.class_id, h.cut, h.is_left, h.n, t.attribute,
            {{ place(low) }} as low,
            {{ place(high) }} as high,
            case t.attribute
                {% for a in attributes %}
                {% set i = a.index | lit %}
                {% if shape(a) == "set" and a.index in folded %}
                when {{ i }} then case when h.low{{ i }} < h.high{{ i }} then greatest(2, {{ sizes[a.index] }}) else 0 end
                {% elif shape(a) == "set" %}
                when {{ i }} then {{ sizes[a.index] }}
                {% elif a.index in mixed %}
                when {{ i }} then h.different{{ i }}
                {% else %}
                when {{ i }} then 0
                {% endif %}
                {% endfor %}
            end as different
        from halves h
        cross join (values {% for a in attributes %}({{ a.index | lit }}){% if not loop.last %}, {% endif %}{% endfor %}) as t(attribute)
    ) as every_cell
    where low < high or different > 1{% if mixed %} or attribute in ({{ mixed | lits | join }}) and different > 0{% endif %}

),
losses as (
    -- rounded once per term and once more in the sum, so that equal sums tie
    select e.class_id, e.cut, cast(e.n * {{ cell_loss }} as decimal(38, 12)) as lost
        {% if several_bits %}
        , case when e.is_left then {{ bit }} else 0 end as left_several
        , case when e.is_left then 0 else {{ bit }} end as right_several
        {% endif %}
    from extents e
    join {{ positions | ident }} l on l.attribute = e.attribute and l.code = e.low
    join {{ positions | ident }} h on h.attribute = e.attribute and h.code = e.high
    union all
    select distinct class_id, cut, 0{% if several_bits %}, 0, 0{% endif %} from halves
),
lost as (
    select class_id, cut, cast(sum(lost) as decimal(38, 6)) as lost
        {% if several_bits %}
        , bit_or(left_several) as left_several, bit_or(right_several) as right_several
        {% endif %}
    from losses
    group by class_id, cut
),
least_loss as (
    select l.class_id, min(l.cut) as attribute
    from lost l
    join (select class_id, min(lost) as lost from lost group by class_id) b on b.class_id = l.class_id and b.lost = l.lost
    group by l.class_id
),
{% endmacro %}

-- name: _middles
-- The common table expressions that end in `cuts`, for cuts in the middle with no rule but k: the
-- widest attribute of a class is tried first, and the others only in classes where it cannot be
-- cut. The result is the same as with `allowed_cuts`, which examines every attribute of every
-- class.
-- source: LeFevre et al. 2006 §4
{% macro middle_cuts(open) %}
extents as (
    select
        class_id, cast(sum(n) as bigint) as n_all
        {% for a in attributes %}
        {% set i = a.index | lit %}
        , min({{ a.c }}) as first{{ i }}, max({{ a.c }}) as last{{ i }}
        -- NULL has no position in a range
        , min(case when {{ a.c }} {% if shape(a) == "range" %}>{% else %}>={% endif %} 0 then {{ a.c }} end) as place{{ i }}
        {% endfor %}
    from {{ open }}
    where not closed
    group by class_id
    having sum(n) >= {{ (2 * k) | lit }}
),
-- an attribute with one value in a class cannot be cut there
several as (
    {% for a in attributes %}
    {% set i = a.index | lit %}
    select class_id, n_all, {{ i }} as attribute, last{{ i }} as last_code, place{{ i }} as first_place
    from extents
    where first{{ i }} < last{{ i }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
widths as (
    select
        s.class_id, s.attribute, s.n_all, s.last_code,
        cast(coalesce(l.share - f.share, 0) as decimal(18, 8)) as width
    from several s
    left join {{ positions | ident }} f on f.attribute = s.attribute and f.code = s.first_place
    left join {{ positions | ident }} l on l.attribute = s.attribute and l.code = s.last_code
),
-- the widest attribute first
attempt_1 as (
    select w.class_id, min(w.attribute) as attribute
    from widths w
    join (select class_id, max(width) as width from widths group by class_id) m on m.class_id = w.class_id and m.width = w.width
    group by w.class_id
),
{{ middles(open, 1) }}
attempt_2 as (
    select w.class_id, w.attribute
    from widths w
    join attempt_1 t on t.class_id = w.class_id and t.attribute <> w.attribute
    left join middles_1 f on f.class_id = w.class_id
    where f.class_id is null
),
{{ middles(open, 2) }}
widest_2 as (
    select m.class_id, min(m.attribute) as attribute
    from middles_2 m
    join (select class_id, max(width) as width from middles_2 group by class_id) b on b.class_id = m.class_id and b.width = m.width
    group by m.class_id
),
cuts as (
    select
        m.class_id, m.attribute, m.code, false as single, m.units_left,
        -- a half that is too small to be cut again is final at once
        m.n_left < {{ (2 * k) | lit }} as left_closed,
        m.n_all - m.n_left < {{ (2 * k) | lit }} as right_closed
    from (
        select * from middles_1
        union all
        select t.* from middles_2 t join widest_2 w on w.class_id = t.class_id and w.attribute = t.attribute
    ) m
)
{% endmacro %}

{#- The admissible cuts in the middle of the attributes of one attempt. -#}
{% macro middles(open, attempt) %}
{% set attempt = attempt | lit %}
counts_{{ attempt }} as (
    select
        o.class_id, t.attribute,
        case t.attribute{% for a in attributes %} when {{ a.index | lit }} then o.{{ a.c }}{% endfor %} end as code,
        cast(sum(o.n) as bigint) as n,
        count(*) as units
    from {{ open }} o
    join attempt_{{ attempt }} t on t.class_id = o.class_id
    where not o.closed
    group by 1, 2, 3
),
sums_{{ attempt }} as (
    select
        class_id, attribute, code, n,
        cast(sum(n) over below as bigint) as n_left,
        cast(sum(units) over below as bigint) as units_left
    from counts_{{ attempt }}
    window below as (partition by class_id, attribute order by code rows between unbounded preceding and current row)
),
middles_{{ attempt }} as (
    select s.class_id, s.attribute, s.code, s.n_left, s.units_left, w.n_all, w.width
    from sums_{{ attempt }} s
    join widths w on w.class_id = s.class_id and w.attribute = s.attribute
    where {{ admissible }}
),
{% endmacro %}

-- name: _recursion
-- The classes of units, cut until no admissible cut is left, as one recursive query. A unit has a
-- row for every class that it was in; the row of its deepest level is final. The caller supplies
-- the query of the first classes.
{% from "mondrian/_cuts" import cuts with context %}
{% from "mondrian/_children" import children with context %}
{% macro classes() %}
with recursive partition(unit, class_id, level, closed, n{% for a in attributes %}, {{ a.c }}{% endfor %}{% for word, _ in words %}, {{ word }}{% endfor %}{% if several_bits %}, several{% endif %}) as (
    {{ caller() }}
    union all (
        with {{ cuts(state, together=true) }}
        {{ children(state, state_cuts) }}
    )
)
select unit, arg_max(class_id, level) as class_id
from partition
group by unit
{%- endmacro %}

-- name: _valid_cuts
-- The common table expressions that end in `valid_cuts_<i>`: the candidates for a cut whose two halves
-- keep the rules of one sensitive column. `occurrences` comes first; `valid_cuts` may come twice, with
-- the candidates of two tries.
{#- Names end in the number of the column, and of the try, if there are two. -#}
{% macro number(p, try) %}{{ p.index | lit }}{% if try %}_{{ try | lit }}{% endif %}{% endmacro %}
{% macro candidates_of(try) %}candidates{% if try %}_{{ try | lit }}{% endif %}{% endmacro %}

{#- How often each value occurs at each code of a class, along every attribute. -#}

{% macro occurrences(open, p) %}
{% set i = p.index | lit %}
{% if not relaxed %}
sensitive_{{ i }} as (
    select o.class_id{% for a in attributes %}, o.{{ a.c }}{% endfor %}, s.value, s.n
    from {{ open }} o
    join {{ p.cells | ident }} s on s.unit = o.unit
    where not o.closed
),
{% endif %}
occurrences_{{ i }} as (
    {% for a in attributes %}
    {% if relaxed %}
    -- units that share the median may go to either side; each counts on the side where the cut puts it
    select o.class_id, {{ a.index | lit }} as attribute, o.code, s.value, cast(sum(s.n) as bigint) as n
    from (
        select
            o.class_id, o.unit,
            case when row_number() over (partition by o.class_id order by o.{{ a.c }}, o.unit) <= c.units_left then c.code else c.code + 1 end as code
        from {{ open }} o
        left join candidates c on c.class_id = o.class_id and c.attribute = {{ a.index | lit }}
        where not o.closed
    ) o
    join {{ p.cells | ident }} s on s.unit = o.unit
    group by o.class_id, o.code, s.value
    {% else %}
    select class_id, {{ a.index | lit }} as attribute, {{ a.c }} as code, value, cast(sum(n) as bigint) as n
    from sensitive_{{ i }}
    group by class_id, {{ a.c }}, value
    {% endif %}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
{% if not p.distinct %}
-- every value of a class with its count: the same along every attribute
value_counts_{{ i }} as (
    select class_id, value, cast(sum(n) as bigint) as n_all
    from occurrences_{{ i }}
    where attribute = {{ attributes[0].index | lit }}
    group by class_id, value
),
{% if p.dense %}
all_counts_{{ i }} as (
    select c.class_id, v.value, coalesce(f.n_all, 0) as n_all
    from (select distinct class_id from value_counts_{{ i }}) c
    cross join (select value from {{ p.reference | ident }}) v
    left join value_counts_{{ i }} f on f.class_id = c.class_id and f.value = v.value
),
{% endif %}
{% endif %}
{% endmacro %}

{#- The candidates whose two sides both satisfy the rules of one sensitive column. The counts of a
    side are running sums along the attribute: occurrences and candidates are put into one sequence
    per value, and each candidate takes the sum at its position. A cut of one code against all
    others needs no sum: its counts are the occurrences of that code. -#}
{% macro valid_cuts(p, try=0) %}
{% set i = p.index | lit %}
{% set j = number(p, try) %}
{% set candidates = candidates_of(try) %}
{% if p.distinct %}
{{ valid_cuts_by_ends(p, try) }}
{% else %}
{% set all_counts %}{% if p.dense %}all_counts_{% else %}value_counts_{% endif %}{{ i }}{% endset %}
line_{{ j }} as (
    select class_id, attribute, value, code, n, 0 as n_all, 0 as candidate from occurrences_{{ i }}
    union all
    select c.class_id, c.attribute, w.value, c.code, 0, w.n_all, 1
    from {{ candidates }} c
    join {{ all_counts }} w on w.class_id = c.class_id
    {% if singles %}
    where not c.single
    {% endif %}
),
left_{{ j }} as (
    select class_id, attribute, code, false as single, value, candidate, cast(sum(n) over below as bigint) as n_left, n_all
    from line_{{ j }}
    window below as (
        partition by class_id, attribute, value
        order by code, candidate
        rows between unbounded preceding and current row
    )
),
cut_counts_{{ j }} as (
    select class_id, attribute, code, single, value, n_left, n_all from left_{{ j }} where candidate = 1
    {% if singles %}
    union all
    select c.class_id, c.attribute, c.code, true, w.value, coalesce(o.n, 0), w.n_all
    from {{ candidates }} c
    join {{ all_counts }} w on w.class_id = c.class_id
    left join occurrences_{{ i }} o on o.class_id = c.class_id and o.attribute = c.attribute and o.code = c.code and o.value = w.value
    where c.single
    {% endif %}
),
side_{{ j }} as (
    select class_id, attribute, code, single, 0 as side, value, n_left as n from cut_counts_{{ j }}
    union all
    select class_id, attribute, code, single, 1, value, n_all - n_left from cut_counts_{{ j }}
),
layer_{{ j }}_0 as (
    select s.class_id, s.attribute, s.code, s.single, s.side, s.n, r.*
    from side_{{ j }} s
    join {{ p.reference | ident }} r on r.value = s.value
),
{% for layer in p.layers %}
layer_{{ j }}_{{ loop.index | lit }} as (
    select *{% for name, expression in layer %}, {{ expression }} as {{ name | ident }}{% endfor %}

    from layer_{{ j }}_{{ loop.index0 | lit }}
),
{% endfor %}
{% if p.runs %}
{{ areas_of_runs(p, try) }}
{% endif %}
valid_sides_{{ j }} as (
    select class_id, attribute, code, single, side
    from {% if p.runs %}areas_{{ j }}{% else %}layer_{{ j }}_{{ p.layers | length | lit }}{% endif %}

    group by class_id, attribute, code, single, side
    having {{ p.holds }}
),
valid_cuts_{{ j }} as (
    select class_id, attribute, code, single
    from valid_sides_{{ j }}
    group by class_id, attribute, code, single
    having count(*) = 2
),
{% endif %}
{% endmacro %}

{#- If the rule counts distinct values, it is enough to know the first and the last position of each
    value along an attribute: to the left of a cut are the values that have begun, to the right
    those that have not ended. -#}
{% macro valid_cuts_by_ends(p, try) %}
{% set i = p.index | lit %}
{% set j = number(p, try) %}
{% set candidates = candidates_of(try) %}
ends_{{ j }} as (
    select class_id, attribute, value, min(code) as first_code, max(code) as last_code
    from occurrences_{{ i }}
    where value > 0
    group by class_id, attribute, value
),
different_{{ j }} as (
    select class_id, attribute, count(*) as different from ends_{{ j }} group by class_id, attribute
),
line_{{ j }} as (
    select class_id, attribute, first_code as code, 1 as begun, 0 as ended, 0 as candidate from ends_{{ j }}
    union all
    select class_id, attribute, last_code, 0, 1, 0 from ends_{{ j }}
    union all
    select class_id, attribute, code, 0, 0, 1 from {{ candidates }}{% if singles %} where not single{% endif %}

),
cut_counts_{{ j }} as (
    select class_id, attribute, code, candidate, sum(begun) over below as begun, sum(ended) over below as ended
    from line_{{ j }}
    window below as (
        partition by class_id, attribute
        order by code, candidate
        rows between unbounded preceding and current row
    )
),
valid_cuts_{{ j }} as (
    select t.class_id, t.attribute, t.code, false as single
    from cut_counts_{{ j }} t
    join different_{{ j }} d on d.class_id = t.class_id and d.attribute = t.attribute
    where t.candidate = 1 and t.begun >= {{ p.distinct | lit }} and d.different - t.ended >= {{ p.distinct | lit }}
    {% if singles %}
    union all
    -- one code against all others: the values that occur there, and all but those that occur only there
    select c.class_id, c.attribute, c.code, true
    from {{ candidates }} c
    join different_{{ j }} d on d.class_id = c.class_id and d.attribute = c.attribute
    join (
        select class_id, attribute, code, count(*) as here
        from occurrences_{{ i }}
        where value > 0
        group by class_id, attribute, code
    ) h on h.class_id = c.class_id and h.attribute = c.attribute and h.code = c.code
    left join (
        select class_id, attribute, first_code as code, count(*) as only_here
        from ends_{{ j }}
        where first_code = last_code
        group by class_id, attribute, first_code
    ) e on e.class_id = c.class_id and e.attribute = c.attribute and e.code = c.code
    where c.single and h.here >= {{ p.distinct | lit }} and d.different - coalesce(e.only_here, 0) >= {{ p.distinct | lit }}
    {% endif %}
),
{% endmacro %}

{#- Between two consecutive values of a side its cumulative share is constant, and that of the
    release grows: the sum of their differences follows from prefix sums, split where the release
    overtakes the side. -#}
{% macro areas_of_runs(p, try=0) %}
{% set j = number(p, try) %}
run_{{ j }} as (
    select
        *,
        place - 1 as place_before,
        area - upto as before,
        coalesce(next_place, m + case when q_size > q_known then 1 else 0 end + 1) - 1 as last_place,
        cast(running_n as decimal(38, 0)) * q_size as reached,
        cast(floor(cast(running_n as double precision) * q_size / group_size) as bigint) as reached_units
    from layer_{{ j }}_{{ p.layers | length | lit }}
    where group_size > 0
),
-- the last value up to which the release has no more than that many units
overtaken_{{ j }} as (
    select reached_units, max(max_place) as place, max(max_area) as area
    from (
        select
            reached_units, asked,
            max(place) over upwards as max_place,
            max(area) over upwards as max_area
        from (
            select distinct reached_units, 1 as asked, 0 as place, 0 as area from run_{{ j }}
            union all
            select upto, 0, place, area from {{ p.reference | ident }}
        ) line
        window upwards as (order by reached_units, asked rows between unbounded preceding and current row)
    ) met
    where asked = 1
    group by reached_units
),
crossed_{{ j }} as (
    select
        r.*,
        greatest(least(o.place, r.last_place), r.place_before) as crossing,
        case
            when o.place < r.place then r.before
            when o.place > r.last_place then r.next_before
            else o.area
        end as area_there
    from run_{{ j }} r
    join overtaken_{{ j }} o on o.reached_units = r.reached_units
),
areas_{{ j }} as (
    select
        *,
        case when previous_place is null then cast(group_size as decimal(38, 0)) * before else 0 end
        + (crossing - place_before) * reached - cast(group_size as decimal(38, 0)) * (area_there - before)
        + cast(group_size as decimal(38, 0)) * (coalesce(next_before, area_there) - area_there) - (last_place - crossing) * reached as run_area
    from crossed_{{ j }}
),
{% endmacro %}

-- name: _check
-- The common table expressions that judge every node of `tested` (node, m<i>) at once and end in
-- `verdicts` (node, smallest, broken): the size of the smallest class, and what does not hold,
-- 0 for the size, else the number of the sensitive column, NULL where everything holds.
-- Sensitive columns are looked at only where the sizes hold.
{% import "privacyfrost/_verdicts" as rules with context %}
{% macro check() %}
sizes as (
    select t.node{% for word in words %}, b.{{ word.w }} & t.{{ word.m }} as {{ word.g }}{% endfor %}, cast(sum(b.n) as bigint) as n
    from {{ base | ident }} b
    cross join tested t
    group by t.node{% for word in words %}, b.{{ word.w }} & t.{{ word.m }}{% endfor %}

),
least as materialized (
    select node, min(n) as smallest
    from sizes
    group by node
),
{% for p in protections %}
tested_{{ p.number }} as materialized (
    select t.*
    from tested t
    join least l on l.node = t.node
    where l.smallest >= {{ k | lit }}
    {% if not loop.first %}
        and t.node in (select node from tested_{{ loop.previtem.number }})
        and t.node not in (select node from broken_{{ loop.previtem.number }})
    {% endif %}
),
counted_1_{{ p.number }} as (
    select t.node{% for word in words %}, b.{{ word.w }} & t.{{ word.m }} as {{ word.g }}{% endfor %}, b.value, cast(sum(b.n) as bigint) as n
    from {{ p.base_cells | ident }} b
    cross join tested_{{ p.number }} t
    group by t.node{% for word in words %}, b.{{ word.w }} & t.{{ word.m }}{% endfor %}, b.value
),
{{ rules.verdicts(p, keys, 1) }}
broken_{{ p.number }} as materialized (
    select distinct node
    from verdicts_1_{{ p.number }}
    where not holds
),
{% endfor %}
verdicts as (
    select
        node,
        smallest,
        case
            when smallest < {{ k | lit }} then 0
            {% for p in protections %}
            when node in (select node from broken_{{ p.number }}) then {{ p.number }}
            {% endfor %}
        end as broken
    from least
)
{%- endmacro %}

-- name: _division
-- The common table expressions that end in `parted`: the units of every class that can be divided,
-- in their parts. In every open class, each column goes down to the first level at which its
-- values differ; of the columns whose parts all hold, the one with the largest gain is taken.
-- Classes are never merged again, so every part is judged by itself. A part is named by its first
-- unit. The rules of sensitive columns cost most and seldom refuse, so the column with the largest
-- gain is judged first, and the others only if it does not hold. Shared by the recursive statement
-- and by a step of the driven loop, so that both divide alike.
-- source: Kiyomoto and Miyake 2014 §5.4 step 4
{% import "privacyfrost/_verdicts" as rules with context %}

{#- Of some columns of every class the one that gains most, as `chosen_<stage>`. -#}
{% macro choice(columns, stage) %}
chosen_{{ stage | lit }} as (
    select class_id, attribute{% for word in words %}, {{ word.m }}{% endfor %}, gain
    from {{ columns }}
    qualify row_number() over (partition by class_id order by gain desc, attribute) = 1
),
{% endmacro %}

{#- Those of some columns of every class whose parts hold, as the last `held_<stage>_<i>`. -#}
{% macro passing_columns(open, columns, stage) %}
{% for p in protections %}
{% set before = columns if loop.first else loop.previtem.passing_columns(stage) %}
counted_{{ stage | lit }}_{{ p.number }} as (
    select o.class_id, m.attribute, {{ child }} as child, c.value, cast(sum(c.n) as bigint) as n
    from {{ open }} o
    join {{ before }} m on m.class_id = o.class_id
    join {{ p.cells | ident }} c on c.unit = o.unit
    group by 1, 2, 3, 4
),
{{ rules.verdicts(p, keys, stage) }}
{{ p.passing_columns(stage) }} as (
    select m.*
    from {{ before }} m
    anti join verdicts_{{ stage | lit }}_{{ p.number }} j
        on not j.holds and j.class_id = m.class_id and j.attribute = m.attribute
),
{% endfor %}
{% endmacro %}

{% macro division(open) %}
classes as (
    select
        class_id
        {% for word in words %}
        , xor(bit_or({{ word.w }}), bit_and({{ word.w }})) as {{ word.m }}
        {% endfor %}
    from {{ open }}
    group by class_id
    having sum(n) >= {{ (2 * k) | lit }}
),
parting as (
    select
        class_id,
        unnest([{% for a in by_rank %}{{ a.rank | lit }}{% if not loop.last %}, {% endif %}{% endfor %}]) as attribute,
        unnest([{% for a in by_rank %}{{ a.weight | lit }}{% if not loop.last %}, {% endif %}{% endfor %}]) as priority
        {% for word in words %}
        , unnest([{% for a in by_rank %}{{ a.parting_mask(word.number) }}{% if not loop.last %}, {% endif %}{% endfor %}]) as {{ word.m }}
        {% endfor %}
    from classes
),
moves as (
    select * from parting where {% for word in words %}{{ word.m }} <> 0{% if not loop.last %} or {% endif %}{% endfor %}

),
children as (
    select o.class_id, m.attribute, {{ child }} as child, cast(sum(o.n) as bigint) as n, min(o.unit) as part
    from {{ open }} o
    join moves m on m.class_id = o.class_id
    group by 1, 2, 3
),
parts as (
    select class_id, attribute, count(*) as parts
    from children
    group by class_id, attribute
    having min(n) >= {{ k | lit }}
),
sized as (
    select m.*, cast(m.priority as decimal(25, 12)) * cast(s.parts - 1 as decimal(13, 0)) as gain
    from moves m
    join parts s on s.class_id = m.class_id and s.attribute = m.attribute
),
{% if in_turn %}
{{ choice("sized" | ident, 1) }}
{{ passing_columns(open, "chosen_1" | ident, 1) }}
refused as (
    select c.class_id, c.attribute
    from chosen_1 c
    anti join {{ protections[-1].passing_columns(1) }} h on h.class_id = c.class_id
),
others as (
    select s.*
    from sized s
    join refused r on r.class_id = s.class_id and r.attribute <> s.attribute
),
{{ passing_columns(open, "others" | ident, 2) }}
{{ choice(protections[-1].passing_columns(2), 2) }}
chosen as (
    select * from {{ protections[-1].passing_columns(1) }}
    union all
    select * from chosen_2
),
{% elif protections %}
{{ passing_columns(open, "sized" | ident, 1) }}
{{ choice(protections[-1].passing_columns(1), 1) }}
{% else %}
{{ choice("sized" | ident, 1) }}
{% endif %}
taken as (
    select m.class_id{% for word in words %}, m.{{ word.m }}{% endfor %}, c.child, c.part
    from {% if in_turn %}chosen{% else %}chosen_1{% endif %} m
    join children c on c.class_id = m.class_id and c.attribute = m.attribute
),
parted as (
    select o.unit, m.part as class_id, o.step + 1 as step, o.n{% for word in words %}, o.{{ word.w }}{% endfor %}

    from {{ open }} o
    join taken m on m.class_id = o.class_id and m.child = {{ child }}
)
{% endmacro %}

-- name: _merit
-- What one column adds to the score of a table in which it has `e` different values; `before` is
-- their number before anonymization. Columns `e`, `before` and `priority` have to be in scope.
-- source: Kiyomoto and Miyake 2014 §6: v·e; v·eta(e); v·ln(e)/ln(before)
{% macro merit() %}
{% if score == "basic" %}
cast(priority * cast(e as decimal(13, 0)) as decimal(38, 12))
{%- elif score == "eta" %}
cast(priority * cast(case when e > {{ d }} then 2 when 2 * e > {{ d }} then 1 else 0 end as decimal(13, 0)) as decimal(38, 12))
{%- else %}
cast(case when before > 1 and e > 0 then cast(priority as double) * (ln(e) / ln(before)) else 0 end as decimal(38, 12))
{%- endif %}
{% endmacro %}

{#- The priorities, as `priorities` (attribute, height, priority). -#}
{% macro priorities() %}
priorities(attribute, height, priority) as (
    values
    {% for a in attributes %}
    ({{ a.number }}, {{ a.height | lit }}, cast({{ a.priority }} as decimal(25, 12))){% if not loop.last %},{% endif %}

    {% endfor %}
)
{%- endmacro %}

-- name: _units
-- A score (column `score`, a decimal of 12 places) in whole units of 10^-12, which walkers add up.
{% macro units() %}
cast(replace(cast(score as varchar), '.', '') as hugeint)
{%- endmacro %}
{#- The largest score that the merits of the values themselves make, as `top` (score). -#}
{% macro top() %}
top as (
    select cast({{ total }}(merit) as decimal(38, 12)) as score
    from (select attribute, max(merit) as merit from {{ depths | ident }} group by attribute) m
)
{%- endmacro %}

-- name: _verdicts
-- From `counted_<stage>_<i>` (keys, value, n) to `judged_<stage>_<i>` (keys, holds): the rules of
-- one sensitive column in every group that the keys tell apart.
{% macro verdicts(p, keys, stage) %}
{% if p.sized or p.dense %}
totals_{{ stage | lit }}_{{ p.number }} as (
    select {{ keys | join }}, cast(sum(n) as bigint) as group_size
    from counted_{{ stage | lit }}_{{ p.number }}
    group by {{ keys | join }}
),
{% endif %}
layer_{{ stage | lit }}_{{ p.number }}_0 as (
    {% if p.dense %}
    select {% for key in keys %}g.{{ key }}, {% endfor %}coalesce(c.n, 0) as n, {% if p.sized %}g.group_size, {% endif %}r.*
    from totals_{{ stage | lit }}_{{ p.number }} g
    cross join {{ p.reference | ident }} r
    left join counted_{{ stage | lit }}_{{ p.number }} c on {% for key in keys %}c.{{ key }} = g.{{ key }} and {% endfor %}c.value = r.value
    {% else %}
    select {% for key in keys %}c.{{ key }}, {% endfor %}c.n, {% if p.sized %}g.group_size, {% endif %}r.*
    from counted_{{ stage | lit }}_{{ p.number }} c
    join {{ p.reference | ident }} r on r.value = c.value
    {% if p.sized %}
    join totals_{{ stage | lit }}_{{ p.number }} g on {% for key in keys %}g.{{ key }} = c.{{ key }}{% if not loop.last %} and {% endif %}{% endfor %}

    {% endif %}
    {% endif %}
),
{% for layer in p.layers %}
layer_{{ stage | lit }}_{{ p.number }}_{{ loop.index | lit }} as (
    select *{% for name, expression in layer %}, {{ expression }} as {{ name | ident }}{% endfor %}

    from layer_{{ stage | lit }}_{{ p.number }}_{{ loop.index0 | lit }}
),
{% endfor %}
verdicts_{{ stage | lit }}_{{ p.number }} as (
    select {{ keys | join }}, {{ p.holds }} as holds
    from layer_{{ stage | lit }}_{{ p.number }}_{{ p.layers | length | lit }}
    group by {{ keys | join }}
),
{%- endmacro %}

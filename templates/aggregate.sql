-- name: snapshot
-- The source, read once: the values of the groups, and the person of a row.
-- parameters: columns: expressions over the source with their names
create or replace table {{ snapshot | ident }} as
select
    {% for expression, name in columns %}
    {{ expression }} as {{ name }}{% if not loop.last %},{% endif %}

    {% endfor %}
from {{ relation }}

-- name: atoms
-- The finest groups: their labels on every level, their persons and rows.
-- parameters: values: columns of the snapshot; dimensions: of each the labels, with their names;
-- domains: where groups without persons are listed, the tables of their values; shared: whether persons
-- may be in several groups of a column: then those of all its groups are counted beside (`together`)
create or replace table {{ atoms | ident }} as
select
    {% for d in dimensions %}
    {% for label, name in d.labels %}
    {% if d.of.multiple %}case when a.together then '(all)' else {{ label }} end{% else %}{{ label }}{% endif %} as {{ name }},
    {% endfor %}
    {% endfor %}
    {% if shared %}
    a.together,
    {% endif %}
    {% if texts %}{% for value in texts %}coalesce(a.{{ value }} = '(null)', false){% if not loop.last %} or {% endif %}{% endfor %}{% else %}false{% endif %}{% for d in dimensions %}{% for alias, _, _ in d.joins %} or coalesce({{ alias }}.label = '(null)', false){% endfor %}{% endfor %} as reserved,
    a.persons,
    a.counted
from (
    {% if domains %}
    select {{ values | join }}, cast(sum(persons) as bigint) as persons, cast(sum(counted) as bigint) as counted
    from (
        select {{ values | join }}, 0 as persons, 0 as counted
        from {% for domain in domains %}{{ domain | ident }}{% if not loop.last %} cross join {% endif %}{% endfor %}

        union all
    {% endif %}
    select
        {{ values | join }},
        {% if person %}count(distinct person){% else %}count(*){% endif %} as persons,
        count(*) as counted
        {% if shared %}
        , false as together
        {% endif %}
    from {{ snapshot | ident }}
    group by {{ values | join }}
    {% if shared %}
    union all
    select
        {% for d in dimensions %}
        {% if d.of.multiple %}null{% else %}{{ d.v }}{% endif %},
        {% endfor %}
        count(distinct person),
        count(*),
        true
    from {{ snapshot | ident }}
    group by grouping sets (({% for d in dimensions if not d.of.multiple %}{{ d.v }}{% if not loop.last %}, {% endif %}{% endfor %}))
    {% endif %}
    {% if domains %}
    ) as counted_groups
    group by {{ values | join }}
    {% endif %}
) as a
{% for d in dimensions %}
{% for alias, value, level in d.joins %}
left join {{ d.hierarchy | ident }} as {{ alias }} on {{ alias }}.value = a.{{ value }} and {{ alias }}.level = {{ level | lit }}
{% endfor %}
{% endfor %}

-- name: contributions
-- What everybody who contributes adds to each finest group, with its labels.
-- parameters: dimensions: of each the finest label, with its name; sums: what is added up; every
-- row is a contribution of its own if nobody is named
create or replace table {{ contributions | ident }} as
select
    {% for d in dimensions %}
    {{ d.labels[0][0] }} as {{ d.labels[0][1] }},
    {% endfor %}
    {% if contributor %}
    a.contributor,
    {% endif %}
    {% for s in sums %}
    a.{{ s.part }}{% if not loop.last %},{% endif %}

    {% endfor %}
from (
    select
        {{ values | join }},
        {% if contributor %}
        {{ contributor }} as contributor,
        {% endif %}
        {% for s in sums %}
        {% if contributor %}{{ s.added }}{% else %}coalesce({{ s.value }}, 0){% endif %} as {{ s.part }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from {{ snapshot | ident }}
    {% if contributor %}
    group by {{ values | join }}, {{ contributor }}
    {% endif %}
) as a

-- name: _dominance
-- Contributions by their size in every group.
{% macro sized(grouped) %}
sized as (
    select
        *,
        {% for s in sums %}
        row_number() over ({% if grouped %}partition by {{ finest | join }} {% endif %}order by {{ s.size }} desc) as {{ s.rank }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from (
        select
            *,
            {% for s in sums %}
            abs({{ s.part }}) as {{ s.size }}{% if not loop.last %},{% endif %}

            {% endfor %}
        from added
    ) as of_size
)
{% endmacro %}

-- name: group_sums
-- The sums of every finest group, and whether one contribution dominates any of them.
{% from "aggregate/_dominance" import sized with context %}
create or replace table {{ group_sums | ident }} as
with added as (select * from {{ contributions | ident }}),
{{ sized(true) }}
select
    {{ finest | join }},
    {% for s in sums %}
    cast(sum({{ s.part }}) as {{ s.kind }}) as {{ s.total }},
    {% endfor %}
    not ({% for s in sums %}{{ s.allowed }}{% if not loop.last %} and {% endif %}{% endfor %}) as dominated
from sized
group by {{ finest | join }}

-- name: _published
-- The published totals, and the labels of the one that a finest group `g` is added to.
{% macro published() %}
groupings as (
    select * from (values
        {% for levels in groupings %}
        ({{ levels | join }}){% if not loop.last %},{% endif %}

        {% endfor %}
    ) as listed({{ numbers | join }})
)
{%- endmacro %}
{% macro total_labels() %}
        {% for d in dimensions %}
        case {{ d.number }}
            {% for _, name in d.labels %}
            when {{ loop.index0 | lit }} then g.{{ name }}
            {% endfor %}
            else '(all)'
        end as {{ d.label }},
        {% endfor %}
{%- endmacro %}

-- name: cell_sums
-- For every published total its sums, how much more each must be able to be for readers, so that no
-- contribution can be estimated, whether one contributes alone, and who contributes most.
{% from "aggregate/_dominance" import sized with context %}
{% from "aggregate/_published" import published, total_labels with context %}
with {{ published() }},

added as (
    select
        {{ total_labels() }}
        {{ numbers | join }},
        {% for s in sums %}
        sum(c.{{ s.part }}) as {{ s.part }},
        {% endfor %}
        c.who
    from (
        select *, {% if contributor %}dense_rank() over (order by contributor){% else %}row_number() over (){% endif %} as who
        from {{ contributions | ident }}
    ) as c
    join {{ split | ident }} as g on {% for d in dimensions %}g.{{ d.labels[0][1] }} = c.{{ d.labels[0][1] }}{% if not loop.last %} and {% endif %}{% endfor %}

    cross join groupings
    group by {% for d in dimensions %}{{ d.label }}, {% endfor %}{{ numbers | join }}, c.who
),
{{ sized(true) }}
select
    {{ finest | join }},
    {% for s in sums %}
    cast(sum({{ s.part }}) as double),
    {{ s.needed }},
    sum(case when {{ s.size }} > 0 then 1 else 0 end) = 1,
    max(case when {{ s.rank }} = 1 then who end){% if not loop.last %},{% endif %}

    {% endfor %}
from sized
group by {{ finest | join }}

-- name: remaining_sums
-- The sums of the groups that are left out, of each only if no contribution dominates it.
{% from "aggregate/_dominance" import sized with context %}
create or replace table {{ remaining_sums | ident }} as
with added as (
    select
        {% for s in sums %}
        {% if contributor %}sum(c.{{ s.part }}){% else %}c.{{ s.part }}{% endif %} as {{ s.part }}{% if not loop.last %},{% endif %}

        {% endfor %}
    from {{ contributions | ident }} as c
    join {{ split | ident }} as g on g.left_out and {% for label in finest %}g.{{ label }} = c.{{ label }}{% if not loop.last %} and {% endif %}{% endfor %}

    {% if contributor %}
    group by c.contributor
    {% endif %}
),
{{ sized(false) }}
select
    {% for s in sums %}
    case when {{ s.allowed }} then cast(sum({{ s.part }}) as {{ s.kind }}) end as {{ s.total }}{% if not loop.last %},{% endif %}

    {% endfor %}
from sized

-- name: split
-- The groups, and which of them are left out: those below the minimum, those that a contribution
-- dominates, and the next one where these are fewer persons than the minimum together. Equal groups
-- are in the order of their labels.
-- parameters: listed: whether groups that are left out are listed, so that each has one person;
-- sums: what is added up besides persons and rows
create or replace table {{ split | ident }} as
with groups_with_sums as (
    {% if sums %}
    select a.*, {% for s in sums %}s.{{ s.total }}, {% endfor %}a.persons < {{ minimum | lit }}{% if leaves_out %} or s.dominated{% endif %} as protected
    from {{ atoms | ident }} as a
    join {{ group_sums | ident }} as s on {% for label in finest %}s.{{ label }} = a.{{ label }}{% if not loop.last %} and {% endif %}{% endfor %}

    {% else %}
    select *, persons < {{ minimum | lit }} as protected
    from {{ atoms | ident }}
    {% endif %}
),

small as (
    select count(*) as members, coalesce(sum(persons), 0) as persons
    from groups_with_sums
    where protected
),

more as (
    select {% for label in labels %}a.{{ label }}{% if not loop.last %}, {% endif %}{% endfor %}

    from groups_with_sums as a
    cross join small as s
    where
        not a.protected
        and s.members > 0
        and s.persons{% if listed %} - (s.members - 1){% endif %} < {{ minimum | lit }}
    order by a.persons, {% for label in labels %}a.{{ label }}{% if not loop.last %}, {% endif %}{% endfor %}

    limit 1
)

select
    {% for label in labels %}
    a.{{ label }},
    {% endfor %}
    a.persons,
    a.counted,
    {% for s in sums %}
    a.{{ s.total }},
    {% endfor %}
    {% if shared %}
    a.together,
    {% endif %}
    a.protected or m.{{ labels[0] }} is not null as left_out
from groups_with_sums as a
left join more as m on {% for label in labels %}m.{{ label }} = a.{{ label }}{% if not loop.last %} and {% endif %}{% endfor %}


-- name: _uniform
-- Groups in which one value is that of more persons than the limit allows.
{% macro uniform() %}
uniform as (
    select
        *,
        not left_out and (
            {% for share, others in limits %}
            cast(max(case when left_out then 0 else persons end) over ({% if others %}partition by {{ others | join }}{% endif %}) as double)
            > cast({{ share }} as double) * cast(sum(case when left_out then 0 else persons end) over ({% if others %}partition by {{ others | join }}{% endif %}) as double){% if not loop.last %} or {% endif %}

            {% endfor %}
        ) as is_uniform
    from {{ split | ident }}
)
{% endmacro %}

-- name: leave_uniform
-- Leave out the groups in which one value is that of more persons than the limit allows.
{% from "aggregate/_uniform" import uniform with context %}
create or replace table {{ narrowed | ident }} as
with {{ uniform() }}
select {{ columns | join }}, left_out or is_uniform as left_out
from uniform

-- name: narrowed
-- The groups, without those that were left out now.
create or replace table {{ split | ident }} as
select * from {{ narrowed | ident }}

-- name: uniform
-- How many groups are left in which one value is that of more persons than the limit allows.
{% from "aggregate/_uniform" import uniform with context %}
with {{ uniform() }}
select count(*)
from uniform
where is_uniform

-- name: cells
-- The release: every published total of the groups that are shown, and one row for the persons
-- left out. If they are fewer than the minimum, nothing else is left, and they are not counted.
-- parameters: dimensions: published names of label and level, the labels by level; groupings: the
-- levels of every published total; measures: the figure of a total, and of what is left out
{% from "aggregate/_published" import published, total_labels with context %}
create or replace table {{ cells | ident }} as
with {{ published() }},

shown as (
    select
        {{ total_labels() }}
        {{ numbers | join }},
        {% for s in sums %}
        {{ s.total }},
        {% endfor %}
        persons,
        counted
    from {{ split | ident }} as g
    cross join groupings
    where not g.left_out{% if shared %} and g.together = ({{ shared.number }} = {{ shared.levels | lit }}){% endif %}

){% if leaves_out or listed %},

remaining as (
    select
        cast(coalesce(sum(persons), 0) as bigint) as persons,
        cast(coalesce(sum(counted), 0) as bigint) as counted,
        {% for s in sums %}
        (select {{ s.total }} from {{ remaining_sums | ident }}) as {{ s.total }},
        {% endfor %}
        count(*) as members
    from {{ split | ident }}
    where left_out
)
{% endif %}

select
    {% for d in dimensions %}
    {{ d.label }} as {{ d.name | ident }},
    {% if d.level %}
    cast({{ d.number }} as integer) as {{ d.level | ident }},
    {% endif %}
    {% endfor %}
    {% for measure in measures %}
    {{ measure.shown }} as {{ measure.name | ident }},
    {% endfor %}
    'shown' as status
from shown
group by
    {% for d in dimensions %}
    {{ d.label }},
    {% endfor %}
    {{ numbers | join }}
{% if listed %}
union all
select
    {% for d in dimensions %}
    {{ d.labels[0][1] }},
    {% if d.level %}
    cast(0 as integer),
    {% endif %}
    {% endfor %}
    {% for measure in measures %}
    cast(null as {{ measure.kind }}),
    {% endfor %}
    'hidden'
from {{ split | ident }}
cross join remaining
where left_out and remaining.persons - (remaining.members - 1) >= {{ minimum | lit }}
{% endif %}
{% if leaves_out %}
union all
select
    {% for d in dimensions %}
    '(other)',
    {% if d.level %}
    cast(null as integer),
    {% endif %}
    {% endfor %}
    {% for measure in measures %}
    {{ measure.other }},
    {% endfor %}
    'other'
from remaining
where persons{% if listed %} - (members - 1){% endif %} >= {{ minimum | lit }}
{% endif %}

-- name: release
-- The rows of the release in the order of their labels, the totals last.
create or replace table {{ release | ident }} as
select *
from {{ cells | ident }}
order by
    case status when 'shown' then 0 when 'hidden' then 1 else 2 end,
    {% for d in dimensions %}
    {% if d.level %}
    {{ d.level | ident }},
    {% else %}
    case when {{ d.name | ident }} = '(all)' then 1 else 0 end,
    {% endif %}
    {% endfor %}
    {% for d in dimensions %}
    {{ d.name | ident }}{% if not loop.last %},{% endif %}

    {% endfor %}

-- name: finest
-- The finest groups with their labels on every level, and their persons.
select {{ labels | join }}, persons
from {{ atoms | ident }}

-- name: _hidden
-- Cells beside what is known of them in the tables of witnesses.
{% macro same_cell() %}
{% for d in dimensions %}h.{{ d.label }} = c.{{ d.name | ident }}{% if d.level %} and h.{{ d.number }} = c.{{ d.level | ident }}{% endif %}{% if not loop.last %} and {% endif %}{% endfor %}
{% endmacro %}

-- name: hidden_release
-- The rows of the release: every cell, those that are hidden without figures.
{% from "aggregate/_hidden" import same_cell with context %}
create or replace table {{ release | ident }} as
select
    {% for d in dimensions %}
    c.{{ d.name | ident }},
    {% if d.level %}
    c.{{ d.level | ident }},
    {% endif %}
    {% endfor %}
    {% for measure in measures %}
    case when h.witness is null then c.{{ measure | ident }} end as {{ measure | ident }},
    {% endfor %}
    case when h.witness is null then 'shown' else 'hidden' end as status
from {{ cells | ident }} as c
left join {{ hidden | ident }} as h on h.witness = 1 and {{ same_cell() }}
order by
    {% for d in dimensions %}
    {% if d.level %}
    c.{{ d.level | ident }},
    {% else %}
    case when c.{{ d.name | ident }} = '(all)' then 1 else 0 end,
    {% endif %}
    {% endfor %}
    {% for d in dimensions %}
    c.{{ d.name | ident }}{% if not loop.last %},{% endif %}

    {% endfor %}

-- name: witnesses
-- Tables of whole numbers that agree with what is published: the figures of the hidden cells.
create or replace table {{ release | ident }} as
select
    {% for d in dimensions %}
    {{ d.label }} as {{ d.name | ident }},
    {% if d.level %}
    {{ d.number }} as {{ d.level | ident }},
    {% endif %}
    {% endfor %}
    figure as {{ measure | ident }},
    witness
from {{ hidden | ident }}
order by witness{% for d in dimensions %}, {{ d.number }}, {{ d.label }}{% endfor %}


-- name: hidden_figures
-- What the search found: for its owner, and no part of the release.
select
    (select count(*) from {{ split | ident }}) as atoms,
    (select count(*) from {{ hidden | ident }} where witness = 1) as atoms_left_out,
    (select cast(coalesce(sum(persons), 0) as bigint) from {{ split | ident }}{% if shared %} where together{% endif %}) as persons,
    0 as persons_left_out,
    (select count(*) from {{ cells | ident }}) as cells

-- name: figures
-- What the search found: for its owner, and no part of the release.
select
    count(*) as atoms,
    count(*) filter (where left_out) as atoms_left_out,
    cast(coalesce(sum(persons), 0) as bigint) as persons,
    cast(coalesce(sum(persons) filter (where left_out), 0) as bigint) as persons_left_out,
    (select count(*) from {{ cells | ident }}) as cells
from {{ split | ident }}

-- name: several_groups
-- Persons whose rows are in several groups: counts of persons would not add up.
select count(*)
from (
    select person
    from (select distinct person, {{ values | join }} from {{ snapshot | ident }}) as placed
    group by person
    having count(*) > 1
) as scattered
having count(*) > 0

-- name: nobody
-- Rows without a person, or to which nobody contributes.
select count(*)
from {{ snapshot | ident }}
where {{ who }} is null
having count(*) > 0

-- name: wrong_values
-- Values that cannot be added up, or that are negative.
select count(*)
from {{ snapshot | ident }}
where {{ wrong }}
having count(*) > 0

-- name: own_labels
-- Groups whose labels are the tool's own.
select count(*)
from {{ atoms | ident }}
where reserved{% for name in labels %} or {{ name }} in ('(all)', '(other)'){% if name == shared %} and not together{% endif %}{% endfor %}

having count(*) > 0

-- name: below
-- Rows whose values are in no band.
select count(*)
from {{ snapshot | ident }}
where {{ value }} = '(below)'
having count(*) > 0

-- name: too_many
-- Releases of too many cells.
select count(*)
from {{ cells | ident }}
having count(*) > {{ most | lit }}

-- name: labels
-- The published labels of a column with several levels, the finest first.
select distinct {{ labels | join }}
from {{ split | ident }}
where not left_out
order by {{ labels | join }}

-- name: naive
-- All figures but those below the minimum: what is published where small ones alone are blanked.
create or replace table {{ naive | ident }} as
select * replace (case when {{ measure | ident }} >= {{ minimum | lit }} then {{ measure | ident }} end as {{ measure | ident }})
from {{ cells | ident }}

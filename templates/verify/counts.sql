-- name: _counts
-- The rows of a table of counts as the checks read them: labels l1.., levels v1.., measures m1...
{% macro rows() %}
read_cells as (
    select
        {% for d in by %}
        {{ d.name | ident }} as l{{ loop.index | lit }},
        {% if d.level %}
        {{ d.level | ident }} as v{{ loop.index | lit }},
        {% else %}
        case when {{ d.name | ident }} = '(all)' then 1 when {{ d.name | ident }} = '(other)' then null else 0 end as v{{ loop.index | lit }},
        {% endif %}
        {% endfor %}
        {% for name in measures %}
        {{ name | ident }} as m{{ loop.index | lit }},
        {% endfor %}
        {{ status | ident }} as status
    from {{ data | ident }}
)
{% endmacro %}
{% macro labels() %}{% for d in by %}l{{ loop.index | lit }}{% if not loop.last %}, {% endif %}{% endfor %}{% endmacro %}
{% macro levels() %}{% for d in by %}v{{ loop.index | lit }}{% if not loop.last %}, {% endif %}{% endfor %}{% endmacro %}
{% macro groupings() %}
groupings as (
    select * from (values
        {% for levels in margins %}
        ({{ levels | join }}){% if not loop.last %},{% endif %}

        {% endfor %}
    ) as listed({% for d in by %}g{{ loop.index | lit }}{% if not loop.last %}, {% endif %}{% endfor %})
)
{% endmacro %}

-- name: counts_cell_form
-- Rows that are no cell: without a label or figure, of a level or a total that is not published.
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_counts" import rows, groupings with context %}
with {{ rows() }},
{{ groupings() }},
verdicts as (
    select
        l1 as grp,
        1 as mismatches,
        case status
            when 'shown' then
                {% for d in by %}
                l{{ loop.index | lit }} is not null and l{{ loop.index | lit }} <> '(other)'
                and (l{{ loop.index | lit }} = '(all)') = (v{{ loop.index | lit }} = {{ d.levels | lit }}) and
                {% endfor %}
                {% for _ in measures %}
                m{{ loop.index | lit }} >= 1 and
                {% endfor %}
                exists (select 1 from groupings where {% for d in by %}g{{ loop.index | lit }} = v{{ loop.index | lit }}{% if not loop.last %} and {% endif %}{% endfor %})
            when 'hidden' then
                {{ listed | lit }} and
                {% for d in by %}
                l{{ loop.index | lit }} not in ('(all)', '(other)') and v{{ loop.index | lit }} = 0 and
                {% endfor %}
                {% for _ in measures %}
                m{{ loop.index | lit }} is null{% if not loop.last %} and {% endif %}
                {% endfor %}

            when 'other' then
                {% for d in by %}
                l{{ loop.index | lit }} = '(other)' and v{{ loop.index | lit }} is null and
                {% endfor %}
                {% for _ in measures %}
                m{{ loop.index | lit }} >= 1{% if not loop.last %} and {% endif %}
                {% endfor %}

            else true
        end as holds
    from read_cells
)
{{ verdict("mismatches") }}

-- name: counts_cell_once
-- Cells that stand in several rows.
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_counts" import rows, labels, levels with context %}
with {{ rows() }},
verdicts as (
    select l1 as grp, count(*) as n, count(*) = 1 as holds
    from read_cells
    group by {{ labels() }}, {{ levels() }}
)
{{ verdict("n") }}

-- name: counts_no_reason
-- Rows that say why they are as they are: a status tells whether a figure is shown, and nothing else.
{% from "verify/_verdict" import verdict with context %}
with verdicts as (
    select
        {{ status | ident }} as grp,
        1 as n,
        coalesce({{ status | ident }} in ('shown', 'hidden', 'other'), false) as holds
    from {{ data | ident }}
)
{{ verdict("n") }}

-- name: counts_no_small_cells
-- Published figures below the minimum.
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_counts" import rows with context %}
with {{ rows() }},
verdicts as (
    select l1 as grp, m{{ persons | lit }} as achieved, m{{ persons | lit }} >= {{ minimum | lit }} as holds
    from read_cells
    where status in ('shown', 'other')
)
{{ verdict("achieved") }}

-- name: counts_additive
-- Totals that are not the sums of their shown parts, in any direction.
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_counts" import rows, labels, levels, groupings with context %}
with {{ rows() }},
{{ groupings() }},
cells as (select * from read_cells where status = 'shown'),
{% for d in by %}
paths{{ loop.index | lit }} as (
    {% if d.paths %}
    select * from (values
        {% for below, label, level, above in d.paths %}
        ({{ below | lit }}, {{ label | lit }}, {{ level | lit }}, {{ above | lit }}){% if not loop.last %},{% endif %}

        {% endfor %}
    ) as listed(below, label, level, above)
    {% else %}
    select distinct 0 as below, l{{ loop.index | lit }} as label, 1 as level, '(all)' as above
    from cells
    where v{{ loop.index | lit }} = 0
    {% endif %}
),
{% endfor %}
verdicts as (
    {% for d in by %}
    {% set i = loop.index | lit %}
    select
        coalesce(whole.l1, parts.l1) as grp,
        1 as mismatches,
        {% for _ in measures %}
        coalesce(whole.m{{ loop.index | lit }} = parts.m{{ loop.index | lit }}, false){% if not loop.last %} and {% endif %}
        {% endfor %}
 as holds
    from (
        select
            {% for e in by %}
            {% if loop.index0 != d.index0 %}
            c.l{{ loop.index | lit }}, c.v{{ loop.index | lit }},
            {% else %}
            p.above as l{{ loop.index | lit }}, p.level as v{{ loop.index | lit }}, p.below,
            {% endif %}
            {% endfor %}
            {% for _ in measures %}
            sum(c.m{{ loop.index | lit }}) as m{{ loop.index | lit }}{% if not loop.last %},{% endif %}

            {% endfor %}
        from cells c
        join paths{{ i }} p on p.label = c.l{{ i }} and p.below = c.v{{ i }}
        join groupings g on {% for e in by %}{% if loop.index0 != d.index0 %}g.g{{ loop.index | lit }} = c.v{{ loop.index | lit }}{% else %}g.g{{ loop.index | lit }} = p.level{% endif %}{% if not loop.last %} and {% endif %}{% endfor %}

        group by {% for e in by %}{% if loop.index0 != d.index0 %}c.l{{ loop.index | lit }}, c.v{{ loop.index | lit }}{% else %}p.above, p.level, p.below{% endif %}{% if not loop.last %}, {% endif %}{% endfor %}

    ) as parts
    full join (
        -- every total, with each level below it that is published
        select c.*, g.g{{ i }} as below
        from cells c
        join groupings g on {% for e in by %}{% if loop.index0 != d.index0 %}g.g{{ loop.index | lit }} = c.v{{ loop.index | lit }}{% else %}g.g{{ loop.index | lit }} < c.v{{ loop.index | lit }}{% endif %}{% if not loop.last %} and {% endif %}{% endfor %}

    ) as whole
        on {% for e in by %}whole.l{{ loop.index | lit }} = parts.l{{ loop.index | lit }} and whole.v{{ loop.index | lit }} = parts.v{{ loop.index | lit }} and {% endfor %}whole.below = parts.below
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
)
{{ verdict("mismatches") }}

-- name: counts_other_room
-- Persons left out who are fewer than the minimum, beside one in every listed group.
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_counts" import rows with context %}
with {{ rows() }},
remaining as (
    select
        max(case when status = 'other' then m{{ persons | lit }} end) as persons,
        count(*) filter (where status = 'other') as others,
        count(*) filter (where status = 'hidden') as listed
    from read_cells
),
verdicts as (
    select
        'other' as grp,
        coalesce(persons, 0) - greatest(listed - 1, 0) as achieved,
        case others
            when 0 then listed = 0
            when 1 then persons - greatest(listed - 1, 0) >= {{ minimum | lit }}
            else false
        end as holds
    from remaining
)
{{ verdict("achieved") }}

-- name: _counts_source
-- The cells of the release, and those that the snapshot gives: what only one of them has.
{% from "verify/_counts" import rows, labels, levels, groupings with context %}
{% macro recomputed() %}
grouped as (
    select {{ values | join }}, {% if person %}count(distinct person){% else %}count(*){% endif %} as persons, count(*) as counted
    from {{ snapshot | ident }}
    group by {{ values | join }}
),
labelled as (
    select
        {% for d in by %}
        {% set i = loop.index | lit %}
        {% for text in d.texts %}
        {{ text }} as l{{ i }}_{{ loop.index0 | lit }},
        {% endfor %}
        {% endfor %}
        s.persons,
        s.counted
    from grouped s
    {% for d in by %}
    {% for alias, value, level in d.joins %}
    left join {{ d.hierarchy | ident }} {{ alias }} on {{ alias }}.value = s.{{ value }} and {{ alias }}.level = {{ level | lit }}
    {% endfor %}
    {% endfor %}
),
small as (
    select * from labelled where persons < {{ minimum | lit }}
),
next_one as (
    -- one more is enough, as it has the minimum itself
    select * from labelled
    where persons >= {{ minimum | lit }}
        and (select count(*) from small) > 0
        and (select sum(persons){% if listed %} - (count(*) - 1){% endif %} from small) < {{ minimum | lit }}
    order by persons, {% for d in by %}l{{ loop.index | lit }}_0{% if not loop.last %}, {% endif %}{% endfor %}

    limit 1
),
absent as (select * from small union all select * from next_one),
present as (select * from labelled except all select * from absent)
{% endmacro %}

-- name: counts_source_cells
-- Rows of the release that the source does not give, and the other way round.
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_counts" import rows, labels, levels, groupings with context %}
{% from "verify/_counts_source" import recomputed with context %}
with {{ rows() }},
{{ groupings() }},
{{ recomputed() }},
{% for d in by %}
{% set i = loop.index | lit %}
above{{ i }} as (
    {% for _ in d.texts %}
    select distinct l{{ i }}_0 as finest, {{ loop.index0 | lit }} as level, l{{ i }}_{{ loop.index0 | lit }} as label from present
    union all
    {% endfor %}
    select distinct l{{ i }}_0, {{ d.levels | lit }}, '(all)' from present
),
{% endfor %}
expected as (
    select
        {% for d in by %}
        u{{ loop.index | lit }}.label as l{{ loop.index | lit }},
        {% endfor %}
        {% for d in by %}
        u{{ loop.index | lit }}.level as v{{ loop.index | lit }},
        {% endfor %}
        {% for measure in figures_of %}
        sum(p.{{ measure }}) as m{{ loop.index | lit }},
        {% endfor %}
        'shown' as status
    from present p
    {% for d in by %}
    join above{{ loop.index | lit }} u{{ loop.index | lit }} on u{{ loop.index | lit }}.finest = p.l{{ loop.index | lit }}_0
    {% endfor %}
    join groupings g on {% for d in by %}g.g{{ loop.index | lit }} = u{{ loop.index | lit }}.level{% if not loop.last %} and {% endif %}{% endfor %}

    group by {% for d in by %}u{{ loop.index | lit }}.label, u{{ loop.index | lit }}.level{% if not loop.last %}, {% endif %}{% endfor %}

    {% if listed %}
    union all
    select {% for d in by %}l{{ loop.index | lit }}_0, {% endfor %}{% for d in by %}0, {% endfor %}{% for _ in measures %}null, {% endfor %}'hidden'
    from absent
    where (select sum(persons) - (count(*) - 1) from absent) >= {{ minimum | lit }}
    {% endif %}
    union all
    select {% for d in by %}'(other)', {% endfor %}{% for d in by %}null, {% endfor %}{% for measure in figures_of %}sum({{ measure }}), {% endfor %}'other'
    from absent
    having sum(persons){% if listed %} - (count(*) - 1){% endif %} >= {{ minimum | lit }}
),
ordered_cells as (
    select {{ labels() }}, {{ levels() }}, {% for _ in measures %}cast(m{{ loop.index | lit }} as bigint) as m{{ loop.index | lit }}, {% endfor %}status
    from read_cells
),
ordered_expected as (
    select {{ labels() }}, {{ levels() }}, {% for _ in measures %}cast(m{{ loop.index | lit }} as bigint) as m{{ loop.index | lit }}, {% endfor %}status
    from expected
),
verdicts as (
    select l1 as grp, 1 as mismatches, false as holds
    from (
        (select * from ordered_cells except all select * from ordered_expected)
        union all
        (select * from ordered_expected except all select * from ordered_cells)
    ) as apart
)
{{ verdict("mismatches") }}

-- name: counts_source_hidden
-- Groups below the minimum that the release shows.
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_counts" import rows with context %}
{% from "verify/_counts_source" import recomputed with context %}
with {{ rows() }},
{{ recomputed() }},
verdicts as (
    select s.l1_0 as grp, 1 as mismatches, false as holds
    from small s
    join read_cells c on {% for d in by %}c.l{{ loop.index | lit }} = s.l{{ loop.index | lit }}_0 and c.v{{ loop.index | lit }} = 0 and {% endfor %}c.status = 'shown'
)
{{ verdict("mismatches") }}

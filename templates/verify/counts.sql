-- name: _counts
-- The rows of a table of counts as the checks read them: labels l1.., levels v1.., measures m1...
{% macro columns(listed) %}
        {% for d in by %}
        {{ d.name | ident }} as l{{ loop.index | lit }},
        {% if d.level %}
        {{ d.level | ident }} as v{{ loop.index | lit }},
        {% else %}
        case when {{ d.name | ident }} = '(all)' then 1 when {{ d.name | ident }} = '(other)' then null else 0 end as v{{ loop.index | lit }},
        {% endif %}
        {% endfor %}
        {% for i in listed %}
        {{ measures[i - 1] | ident }} as m{{ i | lit }},
        {% endfor %}
{% endmacro %}
{% macro rows() %}
read_cells as (
    select
        {{ columns(every) }}
        {{ status | ident }} as status
    from {{ data | ident }}
)
{% endmacro %}
-- What holds of the figures of a row: sums may be missing from the row of what is left out.
{% macro figures(others) %}
{% for m in figures_of_row %}
{% set i = loop.index | lit %}
{% if m.kind == "ratio" %}
coalesce(abs(m{{ i }} * cast({{ m.below }} as double) - cast({{ m.above }} as double)) <= 1e-9 * abs(cast({{ m.above }} as double)), (m{{ i }} is null) and ({{ m.above }} is null or {{ m.below }} is null or {{ m.below }} = 0)) and
{% elif others and not m.judged %}
{% if m.least is not none %}coalesce(m{{ i }} >= {{ m.least | lit }}, true) and{% endif %}

{% elif m.least is none %}
m{{ i }} is not null and
{% else %}
m{{ i }} >= {{ m.least | lit }} and
{% endif %}
{% endfor %}
{% endmacro %}
-- A group of the column and its total.
{% macro same_group(i) %}part.v{{ i }} = 0 and whole.v{{ i }} = 1{% for e in by %}{% if not e.multiple %} and part.l{{ loop.index | lit }} = whole.l{{ loop.index | lit }} and part.v{{ loop.index | lit }} = whole.v{{ loop.index | lit }}{% endif %}{% endfor %}{% endmacro %}
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
{% from "verify/_counts" import rows, groupings, figures with context %}
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
                {{ figures(false) }}
                exists (select 1 from groupings where {% for d in by %}g{{ loop.index | lit }} = v{{ loop.index | lit }}{% if not loop.last %} and {% endif %}{% endfor %})
            when 'hidden' then
                {% if witnesses %}
                {% for d in by %}
                l{{ loop.index | lit }} is not null and l{{ loop.index | lit }} <> '(other)'
                and (l{{ loop.index | lit }} = '(all)') = (v{{ loop.index | lit }} = {{ d.levels | lit }}) and
                {% endfor %}
                exists (select 1 from groupings where {% for d in by %}g{{ loop.index | lit }} = v{{ loop.index | lit }}{% if not loop.last %} and {% endif %}{% endfor %}) and
                {% else %}
                {{ listed | lit }} and
                {% for d in by %}
                l{{ loop.index | lit }} not in ('(all)', '(other)') and v{{ loop.index | lit }} = 0 and
                {% endfor %}
                {% endif %}
                {% for _ in measures %}
                m{{ loop.index | lit }} is null{% if not loop.last %} and {% endif %}
                {% endfor %}

            when 'other' then
                {% if witnesses or noise %}
                false and
                {% endif %}
                {% for d in by %}
                l{{ loop.index | lit }} = '(other)' and v{{ loop.index | lit }} is null and
                {% endfor %}
                {{ figures(true) }}
                true
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
    where status in ('shown', 'other'){% if zeros %} and coalesce(m{{ persons | lit }}, 1) <> 0{% endif %}

)
{{ verdict("achieved") }}

-- name: _counts_sums
-- Totals of the finest groups, and of the parts of a total along one column.
-- The labels above each finest one, with itself.
{% macro labels_above() %}
{% for d in by %}
above{{ loop.index | lit }} as (
    {% if d.multiple %}
    -- its groups do not add up: each label stands for itself
    select distinct v{{ loop.index | lit }} as level, l{{ loop.index | lit }} as label, l{{ loop.index | lit }} as above
    from cells
    {% else %}
    select distinct 0 as level, l{{ loop.index | lit }} as label, l{{ loop.index | lit }} as above
    from cells
    where v{{ loop.index | lit }} = 0
    union all
    {% if d.paths %}
    select level, label, above
    from (values
        {% for below, label, level, above in d.paths %}
        ({{ below | lit }}, {{ label | lit }}, {{ level | lit }}, {{ above | lit }}){% if not loop.last %},{% endif %}

        {% endfor %}
    ) as listed(below, label, level, above)
    where below = 0
    {% else %}
    select distinct 1, l{{ loop.index | lit }}, '(all)'
    from cells
    where v{{ loop.index | lit }} = 0
    {% endif %}
    {% endif %}
),
{% endfor %}
{% endmacro %}
{% macro totals(numbered) %}
totals as (
    select
        {% for _ in by %}
        u{{ loop.index | lit }}.above as l{{ loop.index | lit }}, u{{ loop.index | lit }}.level as v{{ loop.index | lit }},
        {% endfor %}
        {% for i in (witnessed if numbered else added) %}
        sum(a.m{{ i | lit }}) as m{{ i | lit }},
        {% endfor %}
        {% if numbered %}a.witness{% else %}0{% endif %} as witness
    from cells a
    {% for _ in by %}
    join above{{ loop.index | lit }} u{{ loop.index | lit }} on u{{ loop.index | lit }}.label = a.l{{ loop.index | lit }}
    {% endfor %}
    join groupings g on {% for _ in by %}g.g{{ loop.index | lit }} = u{{ loop.index | lit }}.level{% if not loop.last %} and {% endif %}{% endfor %}

    where {% for d in by %}{% if d.multiple %}true{% else %}a.v{{ loop.index | lit }} = 0{% endif %}{% if not loop.last %} and {% endif %}{% endfor %}

    group by {% for _ in by %}u{{ loop.index | lit }}.above, u{{ loop.index | lit }}.level{% if not loop.last %}, {% endif %}{% endfor %}{% if numbered %}, a.witness{% endif %}

),
total_verdicts as (
    select
        coalesce(c.l1, t.l1) as grp,
        1 as mismatches,
        {% for i in (witnessed if numbered else added) %}
        coalesce(c.m{{ i | lit }} = t.m{{ i | lit }}, false){% if not loop.last %} and {% endif %}
        {% endfor %}
 as holds
    from cells c
    full join totals t on {% for _ in by %}t.l{{ loop.index | lit }} = c.l{{ loop.index | lit }} and t.v{{ loop.index | lit }} = c.v{{ loop.index | lit }}{% if not loop.last %} and {% endif %}{% endfor %}{% if numbered %} and t.witness = c.witness{% endif %}

)
{% endmacro %}
-- Labels with the level above them.
{% macro paths() %}
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
{% endmacro %}
-- The parts of every total along one column, for the figures that the caller adds up.
{% macro parts(d, i) %}
(
        select
            {% for e in by %}
            {% if loop.index0 != d.index0 %}
            c.l{{ loop.index | lit }}, c.v{{ loop.index | lit }},
            {% else %}
            p.above as l{{ loop.index | lit }}, p.level as v{{ loop.index | lit }}, p.below,
            {% endif %}
            {% endfor %}
            {{ caller() }}
        from cells c
        join paths{{ i }} p on p.label = c.l{{ i }} and p.below = c.v{{ i }}
        join groupings g on {% for e in by %}{% if loop.index0 != d.index0 %}g.g{{ loop.index | lit }} = c.v{{ loop.index | lit }}{% else %}g.g{{ loop.index | lit }} = p.level{% endif %}{% if not loop.last %} and {% endif %}{% endfor %}

        group by {% for e in by %}{% if loop.index0 != d.index0 %}c.l{{ loop.index | lit }}, c.v{{ loop.index | lit }}{% else %}p.above, p.level, p.below{% endif %}{% if not loop.last %}, {% endif %}{% endfor %}

    ) as parts
{% endmacro %}
{% macro same_total() %}{% for e in by %}whole.l{{ loop.index | lit }} = parts.l{{ loop.index | lit }} and whole.v{{ loop.index | lit }} = parts.v{{ loop.index | lit }}{% if not loop.last %} and {% endif %}{% endfor %}{% endmacro %}

-- name: counts_additive
-- Totals that are not the sums of their shown parts in any direction, or of the finest groups.
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_counts" import rows, labels, levels, groupings with context %}
{% from "verify/_counts_sums" import labels_above, totals, paths, parts, same_total with context %}
with {{ rows() }},
{{ groupings() }},
cells as (select * from read_cells where status = 'shown'),
{% if finest %}
{{ labels_above() }}
{{ totals(false) }},
{% endif %}
{{ paths() }}
verdicts as (
    {% for d in by %}
    {% set i = loop.index | lit %}
    select
        coalesce(whole.l1, parts.l1) as grp,
        1 as mismatches,
        {% for j in added %}
        coalesce(whole.m{{ j | lit }} = parts.m{{ j | lit }}, false){% if not loop.last %} and {% endif %}
        {% endfor %}
 as holds
    from {% call parts(d, i) %}{% for j in added %}sum(c.m{{ j | lit }}) as m{{ j | lit }}{% if not loop.last %}, {% endif %}{% endfor %}{% endcall %}
    full join (
        -- every total, with each level below it that is published
        select c.*, g.g{{ i }} as below
        from cells c
        join groupings g on {% for e in by %}{% if loop.index0 != d.index0 %}g.g{{ loop.index | lit }} = c.v{{ loop.index | lit }}{% else %}g.g{{ loop.index | lit }} < c.v{{ loop.index | lit }}{% endif %}{% if not loop.last %} and {% endif %}{% endfor %}

    ) as whole
        on {{ same_total() }} and whole.below = parts.below
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
    {% if finest %}
    union all
    select * from total_verdicts
    {% endif %}
)
{{ verdict("mismatches") }}

-- name: counts_groups_share
-- Published groups in which one value is that of nearly everybody.
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_counts" import rows with context %}
with {{ rows() }},
verdicts as (
    select
        'group' as grp,
        cast(max(m{{ persons | lit }}) as double) / nullif(cast(sum(m{{ persons | lit }}) as double), 0) as achieved,
        cast(max(m{{ persons | lit }}) as double) <= cast({{ share | lit }} as double) * cast(sum(m{{ persons | lit }}) as double) as holds
    from read_cells
    where status = 'shown' and v{{ limited | lit }} = 0
    {% if others %}
    group by {% for i in others %}l{{ i | lit }}, v{{ i | lit }}{% if not loop.last %}, {% endif %}{% endfor %}

    {% else %}
    having count(*) > 0
    {% endif %}
)
{{ verdict("achieved") }}

-- name: counts_one_step
-- Shown totals from which the shown parts leave fewer persons than the minimum for the hidden ones.
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_counts" import rows, labels, levels, groupings, same_group with context %}
{% from "verify/_counts_sums" import paths, parts, same_total with context %}
{% set p = persons | lit %}
with {{ rows() }},
{{ groupings() }},
cells as (select * from read_cells),
{{ paths() }}
verdicts as (
    {% for d in by %}
    {% set i = loop.index | lit %}
    {% if d.multiple %}
    -- of a total and one of its groups, both shown: the persons who are not in that group
    select
        whole.l1 as grp,
        nullif(whole.m{{ p }} - part.m{{ p }}, 0) as achieved,
        whole.m{{ p }} - part.m{{ p }} = 0 or whole.m{{ p }} - part.m{{ p }} >= {{ minimum | lit }} as holds
    from cells part
    join cells whole on {{ same_group(i) }}
    where part.status = 'shown' and whole.status = 'shown'
    {% else %}
    select
        whole.l1 as grp,
        case when parts.hidden > 0 then whole.m{{ p }} - parts.figure end as achieved,
        parts.hidden = 0 or whole.m{{ p }} - parts.figure >= {{ minimum | lit }} as holds
    from {% call parts(d, i) %}sum(case when c.status = 'shown' then c.m{{ p }} else 0 end) as figure, sum(case when c.status = 'shown' then 0 else 1 end) as hidden{% endcall %}
    join cells whole on whole.status = 'shown' and {{ same_total() }}
    {% endif %}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
)
{{ verdict("achieved") }}

-- name: _counts_witnesses
-- The tables of witnesses as the checks read them.
{% from "verify/_counts" import columns with context %}
{% macro witness_rows() %}
witness_rows as (
    select
        {{ columns([persons]) }}
        witness
    from {{ witnesses | ident }}
),
numbers as (
    select witness from witness_rows
    union
    select 0 as witness where (select count(*) from witness_rows) = 0
)
{% endmacro %}
{% macro same_cell() %}{% for d in by %}w.l{{ loop.index | lit }} = c.l{{ loop.index | lit }} and w.v{{ loop.index | lit }} = c.v{{ loop.index | lit }}{% if not loop.last %} and {% endif %}{% endfor %}{% endmacro %}

-- name: counts_witness_whole
-- Hidden cells that do not have one whole number of at least 1 in every witness, and other cells.
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_counts" import rows, labels, levels with context %}
{% from "verify/_counts_witnesses" import witness_rows, same_cell with context %}
with {{ rows() }},
{{ witness_rows() }},
wanted as (
    select c.*, n.witness
    from read_cells c
    cross join numbers n
    where c.status = 'hidden'
),
given as (
    select
        {{ labels() }}, {{ levels() }}, witness,
        count(*) as n,
        sum(case when m{{ persons | lit }} >= 1 and floor(m{{ persons | lit }}) = m{{ persons | lit }} then 1 else 0 end) as whole
    from witness_rows
    group by {{ labels() }}, {{ levels() }}, witness
),
verdicts as (
    select
        coalesce(c.l1, w.l1) as grp,
        1 as mismatches,
        coalesce(c.status = 'hidden' and w.n = 1 and w.whole = 1, false) as holds
    from wanted c
    full join given w on {{ same_cell() }} and w.witness = c.witness
)
{{ verdict("mismatches") }}

-- name: counts_witness_agrees
-- Totals that are not the sums of their finest groups in some witness.
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_counts" import rows, labels, levels, groupings, same_group with context %}
{% from "verify/_counts_sums" import labels_above, totals with context %}
{% from "verify/_counts_witnesses" import witness_rows with context %}
with {{ rows() }},
{{ groupings() }},
{{ witness_rows() }},
cells as (
    select {{ labels() }}, {{ levels() }}, m{{ persons | lit }}, n.witness
    from read_cells
    cross join numbers n
    where status = 'shown'
    union all
    select {{ labels() }}, {{ levels() }}, m{{ persons | lit }}, witness
    from witness_rows
),
{{ labels_above() }}
{{ totals(true) }},
verdicts as (
    select * from total_verdicts
    {% for d in by if d.multiple %}
    {% set i = (d.index0 + 1) | lit %}
    union all
    -- nobody is in a group and not in the total, and everybody is in a group
    select
        {% if d.index0 == 0 %}'(all)'{% else %}l1{% endif %},
        1,
        coalesce(max(case when v{{ i }} = 0 then m{{ persons | lit }} end), 0) <= coalesce(max(case when v{{ i }} = 1 then m{{ persons | lit }} end), 0)
        and coalesce(sum(case when v{{ i }} = 0 then m{{ persons | lit }} end), 0) >= coalesce(max(case when v{{ i }} = 1 then m{{ persons | lit }} end), 0)
    from cells
    join groupings totals_of on {% for e in by %}{% if e.multiple %}totals_of.g{{ loop.index | lit }} = 1{% else %}totals_of.g{{ loop.index | lit }} = v{{ loop.index | lit }}{% endif %}{% if not loop.last %} and {% endif %}{% endfor %}

    join groupings groups_of on {% for e in by %}groups_of.g{{ loop.index | lit }} = {% if e.multiple %}0{% else %}v{{ loop.index | lit }}{% endif %}{% if not loop.last %} and {% endif %}{% endfor %}

    group by {% for e in by if not e.multiple %}l{{ (e.index0 + 1) | lit }}, v{{ (e.index0 + 1) | lit }}, {% endfor %}witness
    {% endfor %}
)
{{ verdict("mismatches") }}

-- name: counts_witness_covers
-- Hidden finest groups that reach the minimum in no witness.
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_counts" import rows, labels, levels, same_group with context %}
{% from "verify/_counts_witnesses" import witness_rows, same_cell with context %}
with {{ rows() }},
{{ witness_rows() }},
largest as (
    select {{ labels() }}, {{ levels() }}, max(m{{ persons | lit }}) as figure
    from witness_rows
    group by {{ labels() }}, {{ levels() }}
),
{% if multiple %}
cells as (
    select {{ labels() }}, {{ levels() }}, m{{ persons | lit }}, false as hidden, n.witness
    from read_cells
    cross join numbers n
    where status = 'shown'
    union all
    select {{ labels() }}, {{ levels() }}, m{{ persons | lit }}, true, witness
    from witness_rows
),
{% for d in by if d.multiple %}
outside as (
    select
        {% for _ in by %}part.l{{ loop.index | lit }}, {% endfor %}

        part.witness,
        whole.m{{ persons | lit }} - part.m{{ persons | lit }} as persons,
        part.hidden or whole.hidden as open
    from cells part
    join cells whole on whole.witness = part.witness and {{ same_group((d.index0 + 1) | lit) }}
    where {% for _ in by %}part.v{{ loop.index | lit }} = 0{% if not loop.last %} and {% endif %}{% endfor %}

),
low as (
    select * from outside
    qualify max(persons) over (partition by {{ labels() }}) < {{ minimum | lit }} and bool_or(open) over (partition by {{ labels() }})
),
{% endfor %}
{% endif %}
verdicts as (
    select c.l1 as grp, 1 as mismatches, coalesce(w.figure >= {{ minimum | lit }}, false) as holds
    from read_cells c
    left join largest w on {{ same_cell() }}
    where c.status = 'hidden' and {% for _ in by %}c.v{{ loop.index | lit }} = 0{% if not loop.last %} and {% endif %}{% endfor %}

    {% if multiple %}
    union all
    -- persons outside of a group who are enough in no witness must be nobody, all of them in one: the
    -- sum over several groups shows how many they are together
    select
        l1,
        1,
        exists (select 1 from (select witness, max(persons) as persons from low group by witness) as together where persons = 0)
    from low
    where witness = (select min(witness) from low)
    {% endif %}
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
-- What the largest contributions leave of the sums, by group or together.
{% macro dominance(grouped) %}
        select
            {% if grouped %}
            {% for d in by %}l{{ loop.index | lit }}_0, {% endfor %}{% for sum in sums %}sum({{ sum.name }}) as {{ sum.name }}, {% endfor %}

            {% for sum in sums %}{{ sum.dominated }}{% if not loop.last %} or {% endif %}{% endfor %} as dominated
            {% else %}
            {% for sum in sums %}
            case when not ({{ sum.dominated }}) then sum({{ sum.name }}) end as {{ sum.name }}{% if not loop.last %},{% endif %}

            {% endfor %}
            {% endif %}
        from (
            select *{% for sum in sums %}, row_number() over ({% if grouped %}partition by {% for d in by %}l{{ loop.index | lit }}_0{% if not loop.last %}, {% endif %}{% endfor %} {% endif %}order by abs({{ sum.name }}) desc) as place_{{ sum.name }}{% endfor %}

            from {% if grouped %}adds{% else %}absent_adds{% endif %}

        ) as placed
        {% if grouped %}
        group by {% for d in by %}l{{ loop.index | lit }}_0{% if not loop.last %}, {% endif %}{% endfor %}

        {% endif %}
{% endmacro %}
{% macro recomputed() %}
grouped as (
    select {{ values | join }}, {% if person %}count(distinct person){% else %}count(*){% endif %} as persons, count(*) as counted{% if multiple %}, false as together{% endif %}

    from {{ snapshot | ident }}
    group by {{ values | join }}
    {% if multiple %}
    union all
    select {% for d in by %}{% if d.multiple %}null{% else %}{{ d.value }}{% endif %}, {% endfor %}count(distinct person), count(*), true
    from {{ snapshot | ident }}
    group by grouping sets (({% for d in by if not d.multiple %}{{ d.value }}{% if not loop.last %}, {% endif %}{% endfor %}))
    {% endif %}
),
{% if sums %}
adds as (
    select
        {% for d in by %}
        {{ d.texts[0] }} as l{{ loop.index | lit }}_0,
        {% endfor %}
        {% if contributor %}s.who, {% endif %}{% for sum in sums %}s.{{ sum.name }}{% if not loop.last %}, {% endif %}{% endfor %}

    from (
        select
            {{ values | join }},
            {% if contributor %}{{ contributor }} as who, {% endif %}
            {% for sum in sums %}
            {{ sum.added }} as {{ sum.name }}{% if not loop.last %},{% endif %}

            {% endfor %}
        from {{ snapshot | ident }}
        {% if contributor %}
        group by {{ values | join }}, {{ contributor }}
        {% endif %}
    ) as s
),
{% endif %}
labelled{% if sums %}_groups{% endif %} as (
    select
        {% for d in by %}
        {% set i = loop.index | lit %}
        {% for text in d.texts %}
        {% if d.multiple %}case when s.together then '(all)' else {{ text }} end{% else %}{{ text }}{% endif %} as l{{ i }}_{{ loop.index0 | lit }},
        {% endfor %}
        {% endfor %}
        {% if multiple %}
        s.together,
        {% endif %}
        s.persons,
        s.counted
    from grouped s
    {% for d in by %}
    {% for alias, value, level in d.joins %}
    left join {{ d.hierarchy | ident }} {{ alias }} on {{ alias }}.value = s.{{ value }} and {{ alias }}.level = {{ level | lit }}
    {% endfor %}
    {% endfor %}
),
{% if sums %}
labelled as (
    select b.*, {% for sum in sums %}d.{{ sum.name }}, {% endfor %}d.dominated
    from labelled_groups b
    join ({{ dominance(true) }}) as d on {% for d in by %}d.l{{ loop.index | lit }}_0 = b.l{{ loop.index | lit }}_0{% if not loop.last %} and {% endif %}{% endfor %}

),
{% endif %}
small as (
    select * from labelled where persons < {{ minimum | lit }}{% if sums %} or dominated{% endif %}

),
{% if witnesses %}
present as (select * from labelled)
{% elif limits %}
-- a group in which one value is that of nearly everybody is left out as well
present as (
    select s.*
    from labelled s
    join read_cells c on {% for d in by %}c.l{{ loop.index | lit }} = s.l{{ loop.index | lit }}_0 and c.v{{ loop.index | lit }} = 0 and {% endfor %}c.status = 'shown'
),
absent as (select * from labelled except all select * from present)
{% else %}
next_one as (
    -- one more is enough, as it has the minimum itself
    select * from labelled
    where persons >= {{ minimum | lit }}{% if sums %} and not dominated{% endif %}

        and (select count(*) from small) > 0
        and (select sum(persons){% if listed %} - (count(*) - 1){% endif %} from small) < {{ minimum | lit }}
    order by persons, {% for d in by %}l{{ loop.index | lit }}_0{% if not loop.last %}, {% endif %}{% endfor %}

    limit 1
),
absent as (select * from small union all select * from next_one),
present as (select * from labelled except all select * from absent)
{% endif %}
{% if sums and not witnesses %}
,
absent_adds as (
    select {% for sum in sums %}{% if contributor %}sum(s.{{ sum.name }}){% else %}s.{{ sum.name }}{% endif %} as {{ sum.name }}{% if not loop.last %}, {% endif %}{% endfor %}

    from adds s
    join absent b on {% for d in by %}b.l{{ loop.index | lit }}_0 = s.l{{ loop.index | lit }}_0{% if not loop.last %} and {% endif %}{% endfor %}

    {% if contributor %}
    group by s.who
    {% endif %}
),
absent_sums as ({{ dominance(false) }})
{% endif %}
{% endmacro %}

-- The labels above each finest one of the source.
{% macro above() %}
{% for d in by %}
{% set i = loop.index | lit %}
above{{ i }} as (
    {% if d.multiple %}
    select distinct l{{ i }}_0 as finest, case when together then 1 else 0 end as level, l{{ i }}_0 as label from present
    {% else %}
    {% for _ in d.texts %}
    select distinct l{{ i }}_0 as finest, {{ loop.index0 | lit }} as level, l{{ i }}_{{ loop.index0 | lit }} as label from present
    union all
    {% endfor %}
    select distinct l{{ i }}_0, {{ d.levels | lit }}, '(all)' from present
    {% endif %}
),
{% endfor %}
{% endmacro %}
-- Of every published total: its sums, how much larger each has to be able to be, whether one
-- contributes alone, and the number of who contributes most.
{% macro needs() %}
cell_adds as (
    select
        {% for _ in by %}u{{ loop.index | lit }}.label as l{{ loop.index | lit }}, u{{ loop.index | lit }}.level as v{{ loop.index | lit }}, {% endfor %}

        {% for sum in sums %}sum(s.{{ sum.name }}) as {{ sum.name }}, {% endfor %}

        s.number
    from (select *, {% if contributor %}dense_rank() over (order by who){% else %}row_number() over (){% endif %} as number from adds) as s
    {% for _ in by %}
    join above{{ loop.index | lit }} u{{ loop.index | lit }} on u{{ loop.index | lit }}.finest = s.l{{ loop.index | lit }}_0
    {% endfor %}
    join groupings g on {% for _ in by %}g.g{{ loop.index | lit }} = u{{ loop.index | lit }}.level{% if not loop.last %} and {% endif %}{% endfor %}

    group by {% for _ in by %}u{{ loop.index | lit }}.label, u{{ loop.index | lit }}.level, {% endfor %}s.number
),
needs as (
    select
        {{ labels() }}, {{ levels() }}
        {% for sum in sums %}
        , cast(sum({{ sum.name }}) as double) as {{ sum.name }}, {{ sum.needed }} as need_{{ sum.name }}, sum(case when {{ sum.name }} <> 0 then 1 else 0 end) = 1 as alone_{{ sum.name }}, max(case when place_{{ sum.name }} = 1 then number end) as most_{{ sum.name }}
        {% endfor %}

    from (
        select *{% for sum in sums %}, row_number() over (partition by {{ labels() }}, {{ levels() }} order by abs({{ sum.name }}) desc) as place_{{ sum.name }}{% endfor %}

        from cell_adds
    ) as placed
    group by {{ labels() }}, {{ levels() }}
)
{% endmacro %}

-- name: counts_source_cells
-- Rows of the release that the source does not give, and the other way round.
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_counts" import rows, labels, levels, groupings with context %}
{% from "verify/_counts_source" import recomputed, dominance, above with context %}
with {{ rows() }},
{{ groupings() }},
{{ recomputed() }},
{{ above() }}
expected as (
    select
        {% for d in by %}
        u{{ loop.index | lit }}.label as l{{ loop.index | lit }},
        {% endfor %}
        {% for d in by %}
        u{{ loop.index | lit }}.level as v{{ loop.index | lit }},
        {% endfor %}
        {% for i in added %}
        sum(p.{{ recounted[loop.index0].shown }}) as m{{ i | lit }},
        {% endfor %}
        'shown' as status
    from present p
    {% for d in by %}
    join above{{ loop.index | lit }} u{{ loop.index | lit }} on u{{ loop.index | lit }}.finest = p.l{{ loop.index | lit }}_0
    {% endfor %}
    join groupings g on {% for d in by %}g.g{{ loop.index | lit }} = u{{ loop.index | lit }}.level{% if not loop.last %} and {% endif %}{% endfor %}

    group by {% for d in by %}u{{ loop.index | lit }}.label, u{{ loop.index | lit }}.level{% if not loop.last %}, {% endif %}{% endfor %}

    {% if not witnesses %}
    {% if listed %}
    union all
    select {% for d in by %}l{{ loop.index | lit }}_0, {% endfor %}{% for d in by %}0, {% endfor %}{% for _ in added %}null, {% endfor %}'hidden'
    from absent
    where (select sum(persons) - (count(*) - 1) from absent) >= {{ minimum | lit }}
    {% endif %}
    union all
    select {% for d in by %}'(other)', {% endfor %}{% for d in by %}null, {% endfor %}{% for one in recounted %}{{ one.other }}, {% endfor %}'other'
    from absent
    having sum(persons){% if listed %} - (count(*) - 1){% endif %} >= {{ minimum | lit }}
    {% endif %}
),
ordered_cells as (
    select {{ labels() }}, {{ levels() }}, {% for i in added %}cast(m{{ i | lit }} as {{ recounted[loop.index0].kind }}) as m{{ i | lit }}, {% endfor %}status
    from read_cells
),
ordered_expected as (
    {% if witnesses %}
    -- what is hidden has no figure, whatever it is
    select
        {% for _ in by %}e.l{{ loop.index | lit }}, {% endfor %}{% for _ in by %}e.v{{ loop.index | lit }}, {% endfor %}

        {% for i in added %}
        case when w.status is null then cast(e.m{{ i | lit }} as {{ recounted[loop.index0].kind }}) end as m{{ i | lit }},
        {% endfor %}
        coalesce(w.status, e.status) as status
    from expected e
    left join read_cells w on w.status = 'hidden' and {% for _ in by %}w.l{{ loop.index | lit }} = e.l{{ loop.index | lit }} and w.v{{ loop.index | lit }} = e.v{{ loop.index | lit }}{% if not loop.last %} and {% endif %}{% endfor %}

    {% else %}
    select {{ labels() }}, {{ levels() }}, {% for i in added %}cast(m{{ i | lit }} as {{ recounted[loop.index0].kind }}) as m{{ i | lit }}, {% endfor %}status
    from expected
    {% endif %}
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
{% from "verify/_counts_source" import recomputed, dominance with context %}
with {{ rows() }},
{{ recomputed() }},
verdicts as (
    select s.l1_0 as grp, 1 as mismatches, false as holds
    from small s
    join read_cells c on {% for d in by %}c.l{{ loop.index | lit }} = s.l{{ loop.index | lit }}_0 and c.v{{ loop.index | lit }} = 0 and {% endfor %}c.status = 'shown'
)
{{ verdict("mismatches") }}

-- name: counts_source_dominance
-- Groups in which one contribution dominates a sum, and that the release shows.
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_counts" import rows, labels, levels, groupings with context %}
{% from "verify/_counts_source" import recomputed, dominance, above, needs with context %}
with {{ rows() }},
{{ groupings() }},
{{ recomputed() }},
{% if witnesses %}
{{ above() }}
{{ needs() }},
verdicts as (
    select s.l1 as grp, 1 as mismatches, false as holds
    from needs s
    join read_cells c on {% for _ in by %}c.l{{ loop.index | lit }} = s.l{{ loop.index | lit }} and c.v{{ loop.index | lit }} = s.v{{ loop.index | lit }} and {% endfor %}c.status = 'shown'
    where {% for sum in sums %}s.need_{{ sum.name }} > 0{% if not loop.last %} or {% endif %}{% endfor %}

)
{% else %}
verdicts as (
    select s.l1_0 as grp, 1 as mismatches, false as holds
    from labelled s
    join read_cells c on {% for d in by %}c.l{{ loop.index | lit }} = s.l{{ loop.index | lit }}_0 and c.v{{ loop.index | lit }} = 0 and {% endfor %}c.status = 'shown'
    where s.dominated
)
{% endif %}
{{ verdict("mismatches") }}

-- name: counts_sums_in_source
-- The sums of every cell of the release, and what protects them, for programs over all tables that
-- agree with the release.
{% from "verify/_counts" import rows, labels, levels, groupings with context %}
{% from "verify/_counts_source" import recomputed, dominance, above, needs with context %}
with {{ rows() }},
{{ groupings() }},
{{ recomputed() }},
{{ above() }}
{{ needs() }}
select {% for _ in by %}s.l{{ loop.index | lit }}, s.v{{ loop.index | lit }}, {% endfor %}c.status = 'shown'{% for sum in sums %}, s.{{ sum.name }}, s.need_{{ sum.name }}, s.alone_{{ sum.name }}, s.most_{{ sum.name }}{% endfor %}

from needs s
join read_cells c on {% for _ in by %}c.l{{ loop.index | lit }} = s.l{{ loop.index | lit }} and c.v{{ loop.index | lit }} = s.v{{ loop.index | lit }}{% if not loop.last %} and {% endif %}{% endfor %}

-- name: counts_all_groups
-- Totals without a row for some group: every combination of the labels of the columns has one.
{% from "verify/_verdict" import verdict with context %}
{% from "verify/_counts" import rows, groupings with context %}
with {{ rows() }},
{{ groupings() }},
{% for d in by %}
{% set i = loop.index | lit %}
labels{{ i }} as (select v{{ i }} as level, count(distinct l{{ i }}) as members from read_cells group by v{{ i }}),
{% endfor %}
verdicts as (
    select
        'totals' as grp,
        1 as mismatches,
        (
            select count(*) from read_cells
            where {% for d in by %}v{{ loop.index | lit }} = g.g{{ loop.index | lit }}{% if not loop.last %} and {% endif %}{% endfor %}

        ) = {% for d in by %}labels{{ loop.index | lit }}.members{% if not loop.last %} * {% endif %}{% endfor %} as holds
    from groupings g
    {% for d in by %}
    left join labels{{ loop.index | lit }} on labels{{ loop.index | lit }}.level = g.g{{ loop.index | lit }}
    {% endfor %}
)
{{ verdict("mismatches") }}

-- name: counts_budget
-- What the releases of the ledger add up to, if it is more than its budget or less than this one
-- spends, or if this one spends more than is required.
{% from "verify/_verdict" import verdict with context %}
with verdicts as (
    select 'spent' as grp, spent as achieved, epsilon <= {{ epsilon | lit }} and epsilon <= spent and spent <= {{ noise.budget | lit }} as holds
    from (select cast({{ noise.spent | lit }} as double) as spent, cast({{ noise.epsilon | lit }} as double) as epsilon) as ledger
)
{{ verdict("achieved") }}

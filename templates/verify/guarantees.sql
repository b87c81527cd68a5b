-- name: _population
-- Published tuples with the members of the population that their cells admit. A value that no node
-- of a hierarchy is known to hold matches `*` surely and any other node possibly. Published
-- columns are renamed, since their names may be the same as the statement's own.
{% from "verify/_cells" import body, bound, unquoted, members as set_members %}
{% macro matches() -%}
tuples as materialized (
    select
        row_number() over () as tuple,
        *
        {% for one in columns %}
        {% set i = loop.index | lit %}
        , dense_rank() over (order by {% for part in one.parts %}cell{{ i }}_{{ loop.index | lit }}{% if not loop.last %}, {% endif %}{% endfor %}) as k{{ i }}
        {% endfor %}
    from (
        select
            {% if group %}min({{ group | ident }}){% else %}0{% endif %} as grp,
            {% if person %}count(distinct {{ person | ident }}){% else %}count(*){% endif %} as units
            {% for one in columns %}
            {% set i = loop.index | lit %}
            {% for part in one.parts %}
            , {{ part }} as cell{{ i }}_{{ loop.index | lit }}
            {% endfor %}
            {% endfor %}
        from {{ data | ident }}
        group by {% for one in columns %}{{ one.parts | join }}{% if not loop.last %}, {% endif %}{% endfor %}
    )
),
population as materialized (
    select
        row_number() over () as member
        , members
        {% for one in columns %}
        , {{ one.physical | ident }} as value{{ loop.index | lit }}
        , dense_rank() over (order by {{ one.physical | ident }}) as v{{ loop.index | lit }}
        {% endfor %}
    from {{ members | ident }}
),
{% for one in columns %}
{% set i = loop.index | lit %}
{% set column = one.column %}
cells_{{ i }} as (
    select distinct
        k{{ i }} as k
        {% if column.lo is not none %}
        , cell{{ i }}_1 as lo, cell{{ i }}_2 as hi, cell{{ i }}_3 as nullable
        {% elif column.list_cells %}
        , cell{{ i }}_1 as cell
        {% elif column.nullable is not none %}
        , cell{{ i }}_1 as body, cell{{ i }}_2 as nullable
        {% else %}
        {% set cell %}cell{{ i }}_1{% endset %}
        , {{ body(cell) }} as body, {{ cell }} is null or ends_with({{ cell }}, ' or NULL') as nullable
        {% endif %}
    from tuples
),
known_{{ i }} as (
    select distinct
        v{{ i }} as v
        , value{{ i }} as value
        {% if one.nodes is not none %}
        , value{{ i }} is null or exists (select 1 from {{ one.nodes | ident }} h where cast(cast(h.value as {{ one.type }}) as varchar) = cast(cast(value{{ i }} as {{ one.type }}) as varchar)) as placed
        {% else %}
        , true as placed
        {% endif %}
    from population
),
verdicts_{{ i }} as materialized (
    select
        c.k
        , p.v
        {% if one.nodes is not none %}
        , p.placed or c.body = '*' as sure
        {% else %}
        , true as sure
        {% endif %}
        {% if column.lo is not none %}
        , case when p.value is null then c.lo is null or c.nullable else p.value between c.lo and c.hi end as admitted
        {% elif column.list_cells %}
        , case when p.value is null then c.cell is null or list_count(c.cell) < len(c.cell) else list_contains(c.cell, p.value) end as admitted
        {% else %}
        , case
            when p.value is null then c.body is null or c.nullable
            when c.body is null then false
            when c.body = '*' then true
            {% if column.kind != "categorical" %}
            when starts_with(c.body, '[') then p.value between {{ bound(one.body, 1, one.type) }} and {{ bound(one.body, 2, one.type) }}
            else try_cast(c.body as {{ one.type }}) = p.value
            {% else %}
            {% set label %}{% if column.nullable is not none %}c.body{% else %}{{ unquoted(one.body) }}{% endif %}{% endset %}
            {% if column.nullable is none %}
            when starts_with(c.body, '{') then list_contains({{ set_members(one.body) }}, cast(cast(p.value as {{ one.type }}) as varchar))
            {% endif %}
            when {{ label }} = cast(cast(p.value as {{ one.type }}) as varchar) then true
            {% if one.nodes is not none %}
            when p.placed then exists (select 1 from {{ one.nodes | ident }} h where cast(cast(h.value as {{ one.type }}) as varchar) = cast(cast(p.value as {{ one.type }}) as varchar) and h.label = {{ label }})
            else exists (select 1 from {{ one.nodes | ident }} h where h.label = {{ label }} and cast(cast(h.value as {{ one.type }}) as varchar) <> {{ unquoted(one.label) }})
            {% else %}
            else false
            {% endif %}
            {% endif %}
        end as admitted
        {% endif %}
    from cells_{{ i }} c
    cross join known_{{ i }} p
),
{% endfor %}
{% for one in columns %}
{% set i = loop.index | lit %}
-- one column after the other, so that no join is larger than what the columns so far admit
pairs_{{ i }} as materialized (
    {% if loop.first %}
    select t.tuple, p.member, p.members, j.sure{% for other in columns %}, t.k{{ loop.index | lit }}, p.v{{ loop.index | lit }}{% endfor %}

    from verdicts_{{ i }} j
    join tuples t on t.k{{ i }} = j.k
    join population p on p.v{{ i }} = j.v
    where j.admitted
    {% else %}
    select p.tuple, p.member, p.members, p.sure and j.sure as sure{% for other in columns %}, p.k{{ loop.index | lit }}, p.v{{ loop.index | lit }}{% endfor %}

    from pairs_{{ loop.index0 | lit }} p
    join verdicts_{{ i }} j on j.k = p.k{{ i }} and j.v = p.v{{ i }}
    where j.admitted
    {% endif %}
),
{% endfor %}
matches as (
    select
        t.grp,
        t.units,
        cast(coalesce(sum(x.members) filter (where x.sure), 0) as bigint) as sure,
        cast(coalesce(sum(x.members), 0) as bigint) as possible
    from tuples t
    left join pairs_{{ columns | length | lit }} x on x.tuple = t.tuple
    group by t.tuple, t.grp, t.units
)
{%- endmacro %}

-- name: _shares
-- Groups by the largest share of a person (alpha) and of a value (beta), from a query of the values'
-- shares. Records count as published, and with every (person, value) pair taken once.
{% from "verify/_cells" import value %}
{% from "verify/_value_counts" import value_counts with context %}
{% macro shares() -%}
{{ value_counts() }},
published as (
    select {{ person | ident }} as person, {{ group | ident }} as grp, {{ value(column, type) }} as value
    from {{ data | ident }}
    where {{ group | ident }} is not null
),
of_persons as (
    select grp, max(n) as most, sum(n) as total from (select grp, count(*) as n from person_values group by grp, person) group by grp
    union all
    select grp, max(n), sum(n) from (select grp, count(*) as n from published group by grp, person) group by grp
),
of_values as (
    {{ caller() }}
),
shares as (
    select
        grp, 'alpha' as what,
        most / cast(total as double) as share,
        cast(most as hugeint) * {{ alpha.denominator | lit }} <= cast(total as hugeint) * {{ alpha.numerator | lit }} as holds
    from of_persons
    union all
    select grp, 'beta', most / cast(total as double), cast(most as hugeint) * {{ beta.denominator | lit }} <= cast(total as hugeint) * {{ beta.numerator | lit }}
    from of_values
),
verdicts as (
    select
        s.grp,
        s.units,
        coalesce(max(h.share) filter (where h.what = 'alpha'), 0) as alpha,
        coalesce(max(h.share) filter (where h.what = 'beta'), cast('inf' as double)) as beta,
        bool_and(h.holds) and bool_or(h.what = 'beta') as holds
    from sizes s
    join shares h on h.grp = s.grp
    group by s.grp, s.units
)
{%- endmacro %}

-- name: _value_counts
-- The values of a group: the units that count, one per (person, value) if persons are counted.
{% from "verify/_cells" import value %}
{% macro counting() -%}
select {{ group | ident }} as grp, {{ value(column, type) }} as value, count(*) as n
    from {{ data | ident }}
    where {{ group | ident }} is not null
    group by all
{%- endmacro %}
{% macro value_counts() %}
{% if not person %}
occupied as (
    {{ counting() }}
),
sizes as (select grp, cast(sum(n) as bigint) as units from occupied group by grp),
counts as (
    select grp, value, n
    from occupied
    {% if not nulls_count %}
    where value is not null
    {% endif %}
)
{%- else %}
person_values as (
    select distinct {{ person | ident }} as person, {{ group | ident }} as grp, {{ value(column, type) }} as value
    from {{ data | ident }}
    where {{ group | ident }} is not null
),
sizes as (
    select {{ group | ident }} as grp, count(distinct {{ person | ident }}) as units
    from {{ data | ident }}
    where {{ group | ident }} is not null
    group by {{ group | ident }}
),
counts as (
    select grp, value, count(*) as n
    from person_values
    {% if not nulls_count %}
    where value is not null
    {% endif %}
    group by grp, value
)
{%- endif %}
{%- endmacro %}
{% macro reference() -%}
{% if whole_beside is defined %}
-- groups overlap here: the rows of the whole release stand beside them, without a group
reference as (
    select value, count(*) as m
    from (
        select distinct {{ person | ident }} as person, {{ value(column, type) }} as value
        from {{ data | ident }}
        where {{ group | ident }} is null
    )
    {% if not nulls_count %}
    where value is not null
    {% endif %}
    group by value
)
{%- else %}
reference as (select value, sum(n) as m from counts group by value)
{%- endif %}
{%- endmacro %}
{% macro distances() %}
verdicts as (
    select
        d.grp,
        s.units,
        cast(d.numerator as hugeint) * {{ bound.denominator | lit }} <= cast(d.denominator as hugeint) * {{ bound.numerator | lit }} as holds,
        d.numerator / cast(d.denominator as double) as achieved
    from distances d
    join sizes s on s.grp = d.grp
)
{%- endmacro %}

-- name: _verdict
-- How the statement of a check ends: with the judged groups that break the condition or, where
-- `figures` are asked for, with how many these are and what the release achieves.
{% macro verdict() %}
{% if figures %}
select count(*) filter (where not coalesce(holds, false)){% for part in achieved %}, {{ part.sql }}{% endfor %}

from verdicts
{% else %}
select grp as {{ label | ident }}{% for name in varargs %}, {{ name | ident }}{% endfor %}

from verdicts
where not coalesce(holds, false)
order by 1, 2
{% endif %}
{% endmacro %}
{#- How many rows there are, of which equal ones may stand once, with their number. -#}
{% macro rows() -%}
{% if weight is defined %}cast(sum({{ weight | ident }}) as bigint){% else %}count(*){% endif %}
{%- endmacro %}

-- name: group_sizes
-- Groups in which the number of sensitive values differs from the number of rows, or of persons.
{% from "verify/_verdict" import verdict with context %}
with sizes as (select {{ group | ident }} as grp, {% if person %}count(distinct {{ person | ident }}){% else %}count(*){% endif %} as n from {{ data | ident }} group by 1),
value_counts as (select {{ group | ident }} as grp, count(*) as n from {{ values_table | ident }} group by 1),
groups_and_values as (
    select coalesce(s.grp, h.grp) as grp, coalesce(s.n, 0) as units, coalesce(h.n, 0) as value_rows
    from sizes s
    full join value_counts h on h.grp is not distinct from s.grp
),
verdicts as (select *, units = value_rows and grp is not null as holds from groups_and_values)
{{ verdict("units", "value_rows") }}

-- name: k_anonymity
-- Classes with fewer rows (persons, where there are any) than k (Samarati and Sweeney 1998).
{% from "verify/_verdict" import rows, verdict with context %}
with sizes as (
    select {{ group | ident }} as grp, {% if person %}count(distinct {{ person | ident }}){% else %}{{ rows() }}{% endif %} as units
    from {{ data | ident }}
    where {{ group | ident }} is not null
    group by {{ group | ident }}
),
verdicts as (select grp, units, units as achieved, units >= {{ k | lit }} as holds from sizes)
{{ verdict("units") }}

-- name: k_anonymity_tuples
-- Sets of equal published tuples with fewer rows (persons) than k, by one of their classes.
{% from "verify/_verdict" import rows, verdict with context %}
with tuples as (
    select
        {% if group %}min({{ group | ident }}){% else %}0{% endif %} as grp,
        {% if person %}count(distinct {{ person | ident }}){% else %}{{ rows() }}{% endif %} as units
    from {{ data | ident }}
    {% if flags or cells %}
    group by {{ (flags + cells) | join }}
    {% endif %}
),
verdicts as (select grp, units, units as achieved, units >= {{ k | lit }} as holds from tuples)
{{ verdict("units") }}

-- name: alpha
-- Groups in which one value has more than the share alpha, or (alpha,k) groups below k
-- (Wong et al. 2006). A group without any value does not hold.
{% from "verify/_value_counts" import value_counts with context %}
{% from "verify/_verdict" import verdict with context %}
with {{ value_counts() }},
sums as (
    select
        grp,
        sum(n) as total,
        {% if only is none %}
        max(n) as most
        {% else %}
        coalesce(sum(n) filter (where value = try_cast({{ only | lit }} as {{ type }})), 0) as most
        {% endif %}
    from counts
    group by grp
),
verdicts as (
    select
        s.grp,
        s.units,
        s.units as k,
        coalesce(t.most / cast(t.total as double), cast('inf' as double)) as alpha,
        coalesce(cast(t.most as hugeint) * {{ bound.denominator | lit }} <= cast(t.total as hugeint) * {{ bound.numerator | lit }}, false)
            and s.units >= {{ k | lit }} as holds
    from sizes s
    left join sums t on t.grp = s.grp
)
{{ verdict("units") }}

-- name: beta_likeness
-- Groups in which a value's share gains more than beta over its share in the release
-- (Cao and Karras 2012, basic beta-likeness). A group without any value does not hold.
{% from "verify/_value_counts" import value_counts, reference with context %}
{% from "verify/_verdict" import verdict with context %}
with {{ value_counts() }},
{{ reference() }},
total_size as (select sum(m) as everything from reference),
totals as (select grp, sum(n) as total from counts group by grp),
gains as (
    select
        c.grp,
        max(c.n * e.everything / cast(r.m * t.total as double) - 1) as gain,
        bool_and(
            (cast(c.n as hugeint) * e.everything - cast(r.m as hugeint) * t.total) * {{ bound.denominator | lit }}
                <= cast(r.m as hugeint) * t.total * {{ bound.numerator | lit }}
        ) as holds
    from counts c
    join totals t on t.grp = c.grp
    join reference r on r.value is not distinct from c.value
    cross join total_size e
    group by c.grp
),
verdicts as (
    select s.grp, s.units, greatest(coalesce(g.gain, cast('inf' as double)), 0) as achieved, coalesce(g.holds, false) as holds
    from sizes s
    left join gains g on g.grp = s.grp
)
{{ verdict("units") }}

-- name: bucket_persons
-- Buckets that hold two rows of one person: their owner would recognize the bucket.
{% from "verify/_verdict" import verdict with context %}
with buckets as (
    select {{ group | ident }} as grp, count(*) as units, count(distinct {{ person | ident }}) as persons
    from {{ data | ident }}
    where {{ group | ident }} is not null and {{ person | ident }} is not null
    group by {{ group | ident }}
),
verdicts as (select *, persons = units as holds from buckets)
{{ verdict("units", "persons") }}

-- name: bucket_unique
-- Buckets in which a value occurs twice, NULLs left out (Li and He 2022, Corollary 2).
{% from "verify/_value_counts" import value_counts with context %}
{% from "verify/_verdict" import verdict with context %}
with {{ value_counts() }},
most as (
    select grp, cast(sum(n) as bigint) as units, coalesce(max(n) filter (where value is not null), 0) as achieved
    from occupied
    group by grp
),
verdicts as (select *, achieved <= 1 as holds from most)
{{ verdict("units") }}

-- name: delta_disclosure
-- Groups in which |ln| of a value's share over its share in the release reaches delta, a value
-- that is absent being infinitely far (Brickell and Shmatikov 2008). Decided in whole numbers, by the
-- ratio of which delta is the logarithm.
{% from "verify/_value_counts" import value_counts, reference with context %}
{% from "verify/_verdict" import verdict with context %}
with {{ value_counts() }},
{{ reference() }},
total_size as (select sum(m) as everything, count(*) as distinct_values from reference),
totals as (select grp, sum(n) as total, count(*) as distinct_values from counts group by grp),
ratios as (
    select
        c.grp,
        max(abs(ln(cast(c.n as double) * e.everything / (cast(r.m as double) * t.total)))) as most,
        min(t.distinct_values) = min(e.distinct_values) as complete,
        bool_and(
            cast(c.n as hugeint) * e.everything * {{ ratio.denominator | lit }} < cast(r.m as hugeint) * t.total * {{ ratio.numerator | lit }}
            and cast(r.m as hugeint) * t.total * {{ ratio.denominator | lit }} < cast(c.n as hugeint) * e.everything * {{ ratio.numerator | lit }}
        ) as near
    from counts c
    join totals t on t.grp = c.grp
    join reference r on r.value is not distinct from c.value
    cross join total_size e
    group by c.grp
),
verdicts as (
    select
        s.grp,
        s.units,
        case when r.complete then r.most else cast('inf' as double) end as achieved,
        coalesce(r.complete and r.near, false) as holds
    from sizes s
    left join ratios r on r.grp = s.grp
)
{{ verdict("units") }}

-- name: delta_presence
-- Published tuples whose members of the population are in the table with a chance below the least
-- or above the most (Nergiz et al. 2007); members that no tuple admits are one group.
{% from "verify/_population" import matches with context %}
{% from "verify/_verdict" import verdict with context %}
with {{ matches() }},
verdicts as (
    select
        grp,
        units,
        coalesce(units / cast(nullif(possible, 0) as double), 1) as min,
        coalesce(units / cast(nullif(sure, 0) as double), cast('infinity' as double)) as max,
        cast(possible as hugeint) * {{ least.numerator | lit }} <= cast(units as hugeint) * {{ least.denominator | lit }}
            and cast(units as hugeint) * {{ most.denominator | lit }} <= cast(sure as hugeint) * {{ most.numerator | lit }} as holds
    from matches
    {% if least.numerator %}
    union all
    -- members that no tuple admits are in the table with chance 0
    select null, 0, 0, null, false
    from population
    where member not in (select member from pairs_{{ columns | length | lit }} where sure)
    having count(*) > 0
    {% endif %}
)
{{ verdict("units") }}

-- name: distinct_l
-- Groups with fewer different non-NULL values than l (Machanavajjhala et al. 2006).
{% from "verify/_value_counts" import value_counts with context %}
{% from "verify/_verdict" import verdict with context %}
with {{ value_counts() }},
verdicts as (
    {% if not person %}
    {% set different %}{% if nulls_count %}count(*){% else %}count(value){% endif %}{% endset %}
    select grp, cast(sum(n) as bigint) as units, {{ different }} as achieved, {{ different }} >= {{ l | lit }} as holds
    from occupied
    group by grp
    {% else %}
    select s.grp, s.units, count(c.grp) as achieved, count(c.grp) >= {{ l | lit }} as holds
    from sizes s
    left join counts c on c.grp = s.grp
    group by s.grp, s.units
    {% endif %}
)
{{ verdict("units") }}

-- name: eir_alpha_beta
-- Groups in which one person has more than the share alpha of the records, or one value more
-- than the share beta of the persons (Wang et al. 2018).
{% from "verify/_shares" import shares with context %}
{% from "verify/_verdict" import verdict with context %}
with {% call shares() -%}
select w.grp, w.most, h.total
    from (select grp, max(n) as most from counts group by grp) w
    join (select grp, count(distinct person) as total from person_values {% if not nulls_count %}where value is not null {% endif %}group by grp) h on h.grp = w.grp
{%- endcall %}

{{ verdict("units") }}

-- name: eir_l
-- Groups with a reasoning set of fewer than l values (Wang et al. 2018): fewer than l values meet
-- every person's. Exact: groups that three lower bounds and a greedy choice do not settle are
-- searched, branching on the values of the unmet person who has fewest. The figure is l, or less
-- where a group fails.
{% from "verify/_value_counts" import value_counts with context %}
{% from "verify/_verdict" import verdict with context %}
with recursive {{ value_counts() }},
coded as (select *, row_number() over (partition by grp order by n desc, value) as code from counts),
people as materialized (
    select
        h.grp,
        row_number() over (partition by h.grp order by count(*) filter (where c.n > 1), sum(c.n) desc, h.person) as turn,
        -- whoever shares values with the fewest others comes first
        row_number() over (partition by h.grp order by sum(c.n) - count(*), h.person) as solitude,
        -- a value that nobody else has meets no more than any other value of its person, so it is left out,
        -- and of a person who shares none all but one
        coalesce(list(cast(c.code as integer)) filter (where c.n > 1), [cast(min(c.code) as integer)]) as codes
    from person_values h
    join coded c on c.grp = h.grp and c.value is not distinct from h.value
    group by h.grp, h.person
),
bounds as (
    select grp, count(*) as persons, count(distinct codes[1]) filter (where len(codes) = 1) as singles
    from people
    group by grp
),
reach as (select grp, sum(n) as persons from coded where code < {{ l | lit }} group by grp),
open_groups as (
    select b.grp
    from bounds b
    left join reach r on r.grp = b.grp
    where b.singles < {{ l | lit }} and coalesce(r.persons, 0) >= b.persons
),
open_people as materialized (
    select grp, turn, solitude, codes from people where grp in (select grp from open_groups)
),
-- persons of whom no two share a value need a value each
apart(grp, taken, depth) as (
    select grp, cast([] as integer[]), 0 from open_groups
    union all
    select grp, list_concat(taken, codes), depth + 1
    from (
        select a.grp, a.taken, a.depth, p.codes, row_number() over (partition by a.grp order by p.solitude) as place
        from (select * from apart) a
        join open_people p on p.grp = a.grp and not list_has_any(p.codes, a.taken)
        where a.depth < {{ l | lit }}
    )
    where place = 1
),
undecided as (select grp from apart group by grp having max(depth) < {{ l | lit }}),
undecided_people as materialized (
    select grp, turn, codes from open_people where grp in (select grp from undecided)
),
greedy(grp, chosen, depth) as (
    select grp, cast([] as integer[]), 0 from undecided
    union all
    select grp, list_append(chosen, code), depth + 1
    from (
        select
            g.grp, g.chosen, g.depth, c.code,
            row_number() over (partition by g.grp order by count(*) desc, c.code) as place
        from (select * from greedy) g
        join undecided_people p on p.grp = g.grp and not list_has_any(p.codes, g.chosen),
        unnest(p.codes) as c(code)
        where g.depth < {{ l | lit }} - 1
        group by g.grp, g.chosen, g.depth, c.code
    )
    where place = 1
),
-- the most widespread values, one after the other, meet everybody: nothing to search
rejected as (
    select grp, min(depth) as smallest
    from greedy g
    where not exists (
        select 1 from undecided_people p where p.grp = g.grp and not list_has_any(p.codes, g.chosen)
    )
    group by grp
),
search(grp, chosen, depth) as (
    select grp, cast([] as integer[]), 0 from undecided where grp not in (select grp from rejected)
    union
    select grp, list_sort(list_append(chosen, code)), depth + 1
    from (
        select
            *,
            min(foremost) over (partition by grp, chosen, depth) as turn,
            coalesce(sum(case when place < {{ l | lit }} - depth then n end) over (partition by grp, chosen, depth), 0) as within,
            coalesce(sum(case when place < {{ l | lit }} - 1 - depth then n end) over (partition by grp, chosen, depth), 0) as left_within
        from (
            select
                grp, chosen, depth, persons, code, count(*) as n, min(turn) as foremost,
                row_number() over (partition by grp, chosen, depth order by count(*) desc, code) as place
            from (
                select s.grp, s.chosen, s.depth, p.turn, p.codes, count(*) over (partition by s.grp, s.chosen, s.depth) as persons
                from (select * from search) s
                join undecided_people p on p.grp = s.grp and not list_has_any(p.codes, s.chosen)
                where s.depth < {{ l | lit }} - 1
            ) e, unnest(e.codes) as u(code)
            group by grp, chosen, depth, persons, code
        )
    )
    -- what is left of the values has to reach everybody who is left, or the branch is cut
    where foremost = turn and persons <= within and (place < {{ l | lit }} - depth or persons - n <= left_within)
),
hit as (
    select grp, min(depth) as smallest
    from search s
    where not exists (
        select 1 from undecided_people p where p.grp = s.grp and not list_has_any(p.codes, s.chosen)
    )
    group by grp
    union all
    select grp, smallest from rejected
),
verdicts as (
    select
        s.grp,
        s.units,
        case when b.grp is null then 0 else coalesce(h.smallest, {{ l | lit }}) end as achieved,
        b.grp is not null and h.grp is null as holds
    from sizes s
    left join bounds b on b.grp = s.grp
    left join hit h on h.grp = s.grp
)
{{ verdict("units") }}

-- name: entropy_l
-- Groups whose entropy is below ln l (Machanavajjhala et al. 2006), with a tolerance
-- for the logarithms, which are rounded.
{% from "verify/_value_counts" import value_counts with context %}
{% from "verify/_verdict" import verdict with context %}
with {{ value_counts() }},
sums as (
    select grp, sum(n) as total, sum(n * ln(n)) as weighted
    from counts
    group by grp
),
verdicts as (
    select
        s.grp,
        s.units,
        coalesce(exp(ln(t.total) - t.weighted / t.total), 0) as achieved,
        coalesce(t.weighted <= t.total * (ln(t.total) - ln({{ l | lit }}) + {{ tolerance | lit }}), false) as holds
    from sizes s
    left join sums t on t.grp = s.grp
)
{{ verdict("units") }}

-- name: ir_alpha_beta
-- Groups in which one person has more than the share alpha of the records, or one value more
-- than the share beta of the records (Tong et al. 2010).
{% from "verify/_shares" import shares with context %}
{% from "verify/_verdict" import verdict with context %}
with {% call shares() -%}
select grp, max(n) as most, sum(n) as total from counts group by grp
    union all
    select grp, max(n), sum(n)
    from (select grp, count(*) as n from published {% if not nulls_count %}where value is not null {% endif %}group by grp, value)
    group by grp
{%- endcall %}

{{ verdict("units") }}

-- name: ir_kl
-- Groups with fewer than k persons or fewer than l different values (Tong et al. 2010).
{% from "verify/_value_counts" import value_counts with context %}
{% from "verify/_verdict" import verdict with context %}
with {{ value_counts() }},
verdicts as (
    select
        s.grp,
        s.units,
        s.units as k,
        count(c.grp) as l,
        s.units >= {{ k | lit }} and count(c.grp) >= {{ l | lit }} as holds
    from sizes s
    left join counts c on c.grp = s.grp
    group by s.grp, s.units
)
{{ verdict("units") }}

-- name: k_map
-- Published tuples that fewer than k members of the population surely match (Sweeney 2001).
{% from "verify/_population" import matches with context %}
{% from "verify/_verdict" import verdict with context %}
with {{ matches() }},
verdicts as (select grp, units, sure as achieved, sure >= {{ k | lit }} as holds from matches)
{{ verdict("units") }}

-- name: known_events
-- Classes in which fewer than k persons have some set of rows that a person of the class has: for
-- each of its rows one of their own with equal event cells (k^m-anonymity, Terrovitis et al. 2008).
-- parameters: tables with events and those that lead to them; events: rows of a set
{% from "verify/_owned" import owned with context %}
{% from "verify/_chosen" import chosen, chosen_columns with context %}
{% from "verify/_verdict" import verdict with context %}
with {{ owned() }},
{{ chosen() }},
sets as (
    select grp, count(*) as persons from chosen group by {{ chosen_columns() }}
),
verdicts as (
    select grp, min(persons) as k, min(persons) >= {{ k | lit }} as holds from sets group by grp
)
{{ verdict("k") }}

-- name: known_rows
-- Classes in which fewer than k persons have as many rows in every table as some person of the class.
{% from "verify/_owned" import owned with context %}
{% from "verify/_verdict" import verdict with context %}
with {{ owned() }},
{% for t in tables %}
counted{{ t.number | lit }} as (
    select person, count(*) as n from owned{{ t.number | lit }} group by person
),
{% endfor %}
vectors as (
    select p.grp, count(*) as persons
    from people p
    {% for t in tables %}
    left join counted{{ t.number | lit }} c{{ t.number | lit }} on c{{ t.number | lit }}.person = p.person
    {% endfor %}
    group by p.grp{% for t in tables %}, coalesce(c{{ t.number | lit }}.n, 0){% endfor %}

),
verdicts as (
    select grp, min(persons) as achieved, min(persons) >= {{ k | lit }} as holds from vectors group by grp
)
{{ verdict("achieved") }}

-- name: known_values
-- The rows of a table as seen by an observer who knows some rows of a person, or their numbers: for
-- every set of rows that somebody has, the rows of all persons of the class who have such a set; and
-- all rows once more without a set, as the distribution that a rule may compare with.
-- parameters: tables; number: of the table, NULL for that of the persons; events: rows of a set;
-- rows: whether their numbers may be known
-- source: LKC-privacy, Mohammed, Fung, Hung, Lee 2009
{% from "verify/_owned" import owned, shown_as with context %}
{% from "verify/_chosen" import chosen, chosen_columns with context %}
with {{ owned() }},
{{ chosen() }},
{% if rows %}
{% for t in tables %}
counted{{ t.number | lit }} as (
    select person, count(*) as n from owned{{ t.number | lit }} group by person
),
{% endfor %}
{% endif %}
candidates as (
    select person, dense_rank() over (order by {{ chosen_columns() }}) as candidates from chosen
    {% if rows %}
    union all
    select p.person, -dense_rank() over (order by p.grp{% for t in tables %}, coalesce(c{{ t.number | lit }}.n, 0){% endfor %})
    from people p
    {% for t in tables %}
    left join counted{{ t.number | lit }} c{{ t.number | lit }} on c{{ t.number | lit }}.person = p.person
    {% endfor %}
    {% endif %}
    union all
    select person, null from people
)
select c.candidates as {{ class_name | ident }}, c.person as {{ person_name | ident }}
{%- if number is none %}{% for column in shown %}, o.{{ column | ident }}{% endfor %}

from candidates c
join {{ persons | ident }} o on o.{{ key | ident }} = c.person
{%- else %}{% for t in tables if t.number == number %}{% for column in shown %}, o.{{ shown_as(t, column) }} as {{ column | ident }}{% endfor %}{% endfor %}

from candidates c
join owned{{ number | lit }} o on o.person = c.person
{% endif %}

-- name: level_l
-- Groups in which a value takes more than its share, 1 over the l of its security level: not
-- c(v) l_v <= size, NULLs left out (Yang, Wang and Wang 2008; one level: frequency l-diversity).
{% from "verify/_value_counts" import value_counts with context %}
{% from "verify/_verdict" import verdict with context %}
{#- Rows of NULL weigh nothing; a group of nothing else does not hold. -#}
{% set weighs %}{% if not person and not nulls_count %} filter (where value is not null){% endif %}{% endset %}
with {{ value_counts() }},
weights as (
    select
        grp,
        value,
        n,
        {% if levels %}
        case
            {% for needed, values in levels %}
            when {% for value in values %}value = try_cast({{ value | lit }} as {{ type }}){% if not loop.last %} or {% endif %}{% endfor %} then {{ needed | lit }}
            {% endfor %}
            {% if default is not none %}
            else {{ default | lit }}
            {% endif %}
        end as needed
        {% else %}
        {{ default | lit }} as needed
        {% endif %}
    from {% if person %}counts{% else %}occupied{% endif %}

),
sums as (
    select
        grp,
        cast(sum(n) as bigint) as units,
        sum(n){{ weighs }} as total,
        max(n * needed){{ weighs }} as most,
        bool_and(needed is not null){{ weighs }} as known
    from weights
    group by grp
),
verdicts as (
    select
        s.grp,
        s.units,
        coalesce(case when not known then cast('inf' as double) else most / cast(total as double) end, cast('inf' as double)) as achieved,
        coalesce(known and most <= total, false) as holds
    {% if person %}
    from sizes s
    left join sums t on t.grp = s.grp
    {% else %}
    from sums s
    {% endif %}
)
{{ verdict("units") }}

-- name: person_class
-- Persons whose rows are in more than one class (or group).
{% from "verify/_verdict" import verdict with context %}
with verdicts as (
    select
        {{ person | ident }} as grp,
        count(distinct {{ group | ident }}) as classes,
        count(distinct {{ group | ident }}) <= 1 as holds
    from {{ data | ident }}
    group by {{ person | ident }}
)
{{ verdict("classes") }}

-- name: recursive_cl
-- Groups in which the most frequent value outweighs the tail: not r1 < c (r_l + ... + r_m)
-- (Machanavajjhala et al. 2006).
{% from "verify/_value_counts" import value_counts with context %}
{% from "verify/_verdict" import verdict with context %}
with {{ value_counts() }},
ranked as (
    select grp, n, row_number() over (partition by grp order by n desc) as place
    from counts
),
sums as (
    select grp, max(n) as most, coalesce(sum(n) filter (where place >= {{ l | lit }}), 0) as tail
    from ranked
    group by grp
),
verdicts as (
    select
        s.grp,
        s.units,
        case when t.tail > 0 then t.most / cast(t.tail as double) else cast('inf' as double) end as achieved,
        coalesce(
            t.tail > 0 and cast(t.most as hugeint) * {{ bound.denominator | lit }} < cast(t.tail as hugeint) * {{ bound.numerator | lit }}, false
        ) as holds
    from sizes s
    left join sums t on t.grp = s.grp
)
{{ verdict("units") }}

-- name: t_closeness_equal
-- Groups farther than t from the release, equal ground distance (Li et al. 2007); NULL is a
-- category. Values absent from a group enter through the sum of all shares, which is 1.
{% from "verify/_value_counts" import value_counts, distances, reference with context %}
{% from "verify/_verdict" import verdict with context %}
with {{ value_counts() }},
{{ reference() }},
total_size as (select sum(m) as everything from reference),
totals as (select grp, sum(n) as total from counts group by grp),
distances as (
    select
        c.grp,
        min(t.total * e.everything) + sum(abs(c.n * e.everything - r.m * t.total) - r.m * t.total) as numerator,
        2 * min(t.total * e.everything) as denominator
    from counts c
    join totals t on t.grp = c.grp
    join reference r on r.value is not distinct from c.value
    cross join total_size e
    group by c.grp
),
{{ distances() }}
{{ verdict("units") }}

-- name: t_closeness_hierarchical
-- Groups farther than t from the release, hierarchical ground distance (Li et al. 2007): inner
-- nodes pay height/H for the smaller of their children's positive and negative extra. Nodes are
-- numbered here; NULL is a branch of its own below the root. A value without a path fails.
{% from "verify/_value_counts" import value_counts, distances, reference with context %}
{% from "verify/_verdict" import verdict with context %}
with {{ value_counts() }},
paths as (
    select try_cast(leaf as {{ type }}) as value{% for level in range(1, height + 1) %}, a{{ level | lit }}{% endfor %}

    from (
        values {% for leaf, nodes in paths %}({{ leaf | lit }}{% for node in nodes %}, {{ node | lit }}{% endfor %}){% if not loop.last %}, {% endif %}{% endfor %}

    ) as listed(leaf{% for level in range(1, height + 1) %}, a{{ level | lit }}{% endfor %})
),
{{ reference() }},
numbered as (
    select
        r.value,
        r.m,
        row_number() over (order by r.value nulls first) as a0
        {% for level in range(1, height) %}
        , case when r.value is null then -1 else p.a{{ level | lit }} end as a{{ level | lit }}
        {% endfor %}
        , 0 as a{{ height | lit }}
        , r.value is not null and p.value is null as lost
    from reference r
    left join paths p on p.value = r.value
),
total_size as (select sum(m) as everything from reference),
totals as (select grp, sum(n) as total from counts group by grp),
masses as (
    select c.grp, c.n, r.*
    from counts c
    join numbered r on r.value is not distinct from c.value
),
extras as (
    {% for level in range(1, height + 1) %}
    select
        x.grp, {{ level | lit }} as level, x.node,
        sum(greatest(x.n * e.everything - r.m * t.total, 0)) as gains,
        sum(x.n) as n
    from (
        select grp, a{{ level | lit }} as node, a{{ (level - 1) | lit }} as child, sum(n) as n from masses group by all
    ) x
    join (select a{{ level | lit }} as node, a{{ (level - 1) | lit }} as child, sum(m) as m from numbered group by all) r
        on r.node is not distinct from x.node and r.child is not distinct from x.child
    join totals t on t.grp = x.grp
    cross join total_size e
    group by x.grp, x.node
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
nodes as (
    {% for level in range(1, height + 1) %}
    select {{ level | lit }} as level, a{{ level | lit }} as node, sum(m) as m from numbered group by all
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
costs as (
    select
        x.grp,
        sum(x.level * least(x.gains, x.gains - (x.n * e.everything - n.m * t.total))) as cost
    from extras x
    join nodes n on n.level = x.level and n.node is not distinct from x.node
    join totals t on t.grp = x.grp
    cross join total_size e
    group by x.grp
),
distances as (
    select
        c.grp,
        case when (select bool_or(lost) from numbered) then t.total * e.everything * {{ height | lit }} else c.cost end as numerator,
        t.total * e.everything * {{ height | lit }} as denominator
    from costs c
    join totals t on t.grp = c.grp
    cross join total_size e
),
{{ distances() }}
{{ verdict("units") }}

-- name: t_closeness_ordered
-- Groups farther than t from the release, ordered ground distance (Li et al. 2007); NULL comes
-- first. Between two values of a group its cumulative share is constant, so that the sum over such
-- a run follows from prefix sums of the release, split where the release overtakes the group.
{% from "verify/_value_counts" import value_counts, distances, reference with context %}
{% from "verify/_verdict" import verdict with context %}
with {{ value_counts() }},
{{ reference() }},
cumulated as (
    select
        value,
        row_number() over (order by value nulls first) as place,
        sum(m) over (order by value nulls first rows unbounded preceding) as upto
    from reference
),
places as (select *, sum(upto) over (order by place rows unbounded preceding) as area from cumulated),
total_size as (select count(*) as m, max(upto) as everything, max(area) as area from places),
totals as (select grp, sum(n) as total from counts group by grp),
steps as (
    select
        c.grp,
        t.total,
        p.place,
        p.area - p.upto as before,
        sum(c.n) over w as reached,
        lead(p.place) over w as next_place,
        lead(p.area - p.upto) over w as next_before,
        row_number() over w as number
    from counts c
    join totals t on t.grp = c.grp
    join places p on p.value is not distinct from c.value
    window w as (partition by c.grp order by p.place)
),
runs as (
    select
        s.grp,
        s.total,
        s.place,
        s.before,
        s.reached * e.everything as level,
        s.reached * e.everything // s.total as level_in_release,
        coalesce(s.next_place, e.m + 1) - 1 as last_place,
        coalesce(s.next_before, e.area) as last_area,
        case when s.number = 1 then s.before * s.total else 0 end as ahead
    from steps s
    cross join total_size e
),
crossed as (
    select r.*, least(greatest(coalesce(p.place, 0), r.place - 1), r.last_place) as crossing
    from runs r
    asof left join places p on r.level_in_release >= p.upto
),
areas as (
    select
        c.grp,
        c.total,
        c.ahead
            + (c.crossing - c.place + 1) * c.level - c.total * (coalesce(p.area, 0) - c.before)
            + c.total * (c.last_area - coalesce(p.area, 0)) - (c.last_place - c.crossing) * c.level as area
    from crossed c
    left join places p on p.place = c.crossing
),
distances as (
    select
        a.grp,
        case when min(e.m) > 1 then sum(a.area) else 0 end as numerator,
        min(a.total * e.everything) * greatest(min(e.m) - 1, 1) as denominator
    from areas a
    cross join total_size e
    group by a.grp
),
{{ distances() }}
{{ verdict("units") }}

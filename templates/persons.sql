-- name: _passed
-- The groups that hold everything, as a subquery.
{% macro passed() %}
(select grp from {{ verdicts | ident }} where holds{% if searched %} union all select grp from {{ searched | ident }}{% endif %})
{%- endmacro %}

-- name: _search
-- Exact hitting sets: at most `size` values that meet every set of a group. Each step takes the
-- smallest set that is not met yet and branches on its values; the last value has to meet all sets
-- that are left. `asked` is a query whose rows have a list `sets`. It makes `problems` (its rows,
-- numbered) and `met` (problem, chosen), a row for every way to meet all sets.
{% macro search(asked, size) -%}
with recursive problems as (
    select row_number() over () as problem, *
    from (
{{ asked }}
    )
),
tried as (
    select problem, cast([] as bigint[]) as chosen, sets as missed from problems
    union
    select problem, chosen, missed
    from (
        select
            problem,
            list_sort(list_append(chosen, cast(value as bigint))) as chosen,
            list_filter(missed, lambda one: not list_contains(one, value)) as missed
        from (
            select
                problem, chosen, missed,
                unnest(list_sort(list_transform(missed, lambda one: struct_pack(n := len(one), one := one)))[1].one) as value
            from tried
            where len(chosen) < {{ size | lit }} and len(missed) > 0
        )
    )
    where len(missed) = 0 or len(chosen) < {{ size | lit }}
),
met as (
    select problem, chosen from tried where len(missed) = 0
)
{%- endmacro %}

-- name: whole_table
-- The whole table as one class fails a rule on persons, so every partition would; a share of a value
-- may count without the persons who may be left out.
with by_person as (
    select
        col, person,
        count(*) as pairs,
        sum(n) as records,
        count(*) filter (where value > 0) as known,
        min(value) filter (where value > 0) as one_value
    from {{ holdings | ident }}
    group by col, person
),
by_value as (
    select col, count(*) as holders, sum(n) as records
    from {{ holdings | ident }}
    where value > 0
    group by col, value
),
counts as (
    select
        p.col,
        count(*) as persons,
        count(*) filter (where p.known > 0) as known,
        cast(sum(p.pairs) as bigint) as pairs,
        cast(max(p.pairs) as bigint) as pairs_most,
        cast(sum(p.records) as bigint) as records,
        cast(max(p.records) as bigint) as records_most,
        count(distinct p.one_value) filter (where p.known = 1) as only_values,
        coalesce(max(v.different), 0) as different,
        coalesce(max(v.known_pairs), 0) as known_pairs,
        coalesce(max(v.known_records), 0) as known_records,
        coalesce(max(v.widest), 0) as widest,
        coalesce(max(v.widest_records), 0) as widest_records
    from by_person p
    left join (
        select
            col,
            count(*) as different,
            cast(sum(holders) as bigint) as known_pairs,
            cast(sum(records) as bigint) as known_records,
            cast(max(holders) as bigint) as widest,
            cast(max(records) as bigint) as widest_records
        from by_value
        group by col
    ) v on v.col = p.col
    group by p.col
)
select col, known, different, widest, known_pairs from counts where {{ fails }}

-- name: all_units
-- All units as one group, to be judged like any other.
create or replace table {{ asked | ident }} as
select cast(1 as bigint) as grp, unit
from {{ units | ident }}

-- name: all_units_fail
-- The number of persons, if the table fails as one class; otherwise no row.
select cast(sum(u.n) as bigint) as persons
from {{ verdicts | ident }} v
cross join {{ units | ident }} u
where not v.holds
    and v.grp not in (select grp from {{ searched | ident }})
having count(*) > 0

-- name: no_members
-- No person is in a class.
select 1 where not exists (select 1 from {{ members | ident }})

-- name: crowding
-- Persons whose records, or (person, value) pairs, are a larger share of the whole table than a
-- class may have, if they are more than may be left out.
with of_persons as (
    select col, person, sum(n) as records, count(*) as pairs
    from {{ holdings | ident }}
    group by col, person
),
shares as (
    select
        person, records,
        sum(records) over (partition by col) as all_records,
        not ({{ holds }}) as crowds
    from of_persons
)
select count(distinct person), cast(max(records) as bigint), cast(max(all_records) as bigint)
from shares
where crowds
{% if allowed %}
having count(distinct person) > (
    select {{ allowed }} from (select count(distinct person) as persons from {{ holdings | ident }}) as everybody
)
{% else %}
having count(*) > 0
{% endif %}

-- name: places
-- The codes of one attribute in whole numbers: the position in an ordered domain, or the ancestors
-- in its hierarchy and their loss, (values below the node - 1) of (values - 1).
-- source: Wang et al. 2018, equations 11 and 12
create or replace table {{ places | ident }} as
select
    code
    {% if ordered %}
    {% if step is not none %}
    , cast({{ offset }} as bigint) * cast({{ step }} as bigint) as place
    {% else %}
    , case when code > 0 then cast(round(coalesce(share, 0) * {{ scale }}) as bigint) end as place
    {% endif %}
    {% endif %}
    {% for level in levels %}
    , {{ level.a }}
    , {% if level.number == height %}cast({{ scale }} as bigint){% else %}cast(
        (count(*) filter (where code > 0) over (partition by {{ level.a }}, code > 0) - 1) * {{ each }} as bigint){% endif %} as cost{{ level.number | lit }}
    {% endfor %}
from {{ domain | ident }}

-- name: units
-- Every person as one unit with its box, numbered in secret-keyed order: the order in which seeds
-- and residual persons are taken. Where rows of a person differ, c<i> is the lowest of their codes.
create or replace table {{ units | ident }} as
with gathered as (
    select
        r.person,
        min(r.draw) as draw,
        count(*) as records
        {% for a in attributes %}
        , min(r.{{ a.c }}) as {{ a.c }}
        {% endfor %}
        {% for expression, name in points %}
        , {{ expression }} as {{ name }}
        {% endfor %}
    from {{ coded | ident }} r
    {% for s in shapes %}
    join {{ s.places | ident }} {{ s.d }} on {{ s.d }}.code = r.{{ s.c }}
    {% endfor %}
    group by r.person
)
select
    row_number() over (order by {{ order_draw }}, person) as unit,
    cast(1 as bigint) as n,
    *,
    cast({{ loss }} as bigint) as loss
from gathered

-- name: extents
-- The distinct tuples of every unit, where the rows of a person may differ: what cells must cover.
create or replace table {{ extents | ident }} as
select u.unit, min(u.n) as n, min(r.draw) as draw{% for code in codes %}, r.{{ code }}{% endfor %}

from {{ coded | ident }} r
join {{ units | ident }} u on u.person = r.person
group by u.unit{% for code in codes %}, r.{{ code }}{% endfor %}

-- name: numbered_values
-- Numbers for the values of one sensitive column, the most widespread first; 0 is NULL that does
-- not count as a value.
create or replace table {{ numbered_values | ident }} as
select
    original,
    cast(case when {% if null_as_value %}false{% else %}original is null{% endif %} then 0
        else row_number() over (partition by {% if null_as_value %}false{% else %}original is null{% endif %} order by persons desc, original nulls last) end as integer) as value
from (
    select {{ column }} as original, count(distinct {{ person }}) as persons
    from {{ coded | ident }}
    group by 1
)

-- name: holdings
-- The values of every person: every (person, value) pair once, with the number of its records.
create or replace table {{ holdings | ident }} as
{% for column in columns %}
select
    u.unit,
    {% if numbers %}p.number{% else %}u.unit{% endif %} as person,
    {{ column.index | lit }} as col,
    v.value,
    count(*) as n
from {{ coded | ident }} r
join {{ units | ident }} u on {% for key in keys %}u.{{ key }} = r.{{ key }}{% if not loop.last %} and {% endif %}{% endfor %}

{% if numbers %}
join {{ numbers | ident }} p on p.person = r.person
{% endif %}
join {{ column.numbered_values | ident }} v on v.original is not distinct from r.{{ column.s }}
group by all
{% if not loop.last %}
union all
{% endif %}
{% endfor %}

-- name: sets
-- The value set of every person who has a value, S(p).
create or replace table {{ sets | ident }} as
select unit, col, list(value order by value) as codes
from {{ holdings | ident }}
where value > 0
group by unit, person, col

-- name: value_pairs
-- The values of every person, for the bounds on hitting sets: every (person, value) pair, and
-- every person who has a value once more, as a holder of 0.
create or replace table {{ value_pairs | ident }} as
select unit, col, unnest(codes) as value, len(codes) = 1 as alone from {{ sets | ident }}
union all
select unit, col, 0, false from {{ sets | ident }}

-- name: judge_hitting
-- Groups of units under EIR l-diversity alone, judged by counts: those that hold and those that
-- fail. Any other needs the exact search. A person with only one value forces it into every
-- hitting set, so l - 1 values meet no more persons than the forced values together with the most
-- widespread of the others.
-- source: Wang et al. 2018
create or replace table {{ verdicts | ident }} as
with by_value as (
    select a.grp, h.col, h.value, count(*) as holders, bool_or(h.alone) as forced
    from {{ asked | ident }} a
    join {{ value_pairs | ident }} h on h.unit = a.unit
    group by a.grp, h.col, h.value
),
counts as (
    select
        grp, col,
        max(holders) filter (value = 0) as known,
        count(*) - 1 as different,
        coalesce(max(holders) filter (value > 0), 0) as widest,
        count(*) filter (forced) as forced,
        coalesce(sum(holders) filter (forced), 0) as forced_reach,
        max(holders, {{ (l - 1) | lit }}) filter (value > 0 and not forced) as others
    from by_value
    group by grp, col
),
results as (
    select
        grp,
        -- where nobody has a value of a column there is no row of it
        count(*) = {{ columns | lit }} and bool_and(
            forced >= {{ l | lit }}
            or forced_reach + coalesce(list_sum(others[1:{{ (l - 1) | lit }} - forced]), 0) < known
        ) as holds,
        count(*) < {{ columns | lit }} or bool_or(
            different < {{ l | lit }} or known < {{ l | lit }} or known - widest + 1 < {{ l | lit }}
        ) as fails
    from counts
    group by grp
)
{% if large %}
select grp, holds, fails from results
{% else %},
sizes as (
    select a.grp, sum(u.n) as persons
    from {{ asked | ident }} a
    join {{ units | ident }} u on u.unit = a.unit
    group by a.grp
)
select
    s.grp,
    s.persons >= {{ least | lit }} and coalesce(j.holds, false) as holds,
    s.persons < {{ least | lit }} or coalesce(j.fails, true) as fails
from sizes s
left join results j on j.grp = s.grp
{% endif %}

-- name: judge
-- Groups of units judged by counts: those that hold and those that fail. Any other needs the exact
-- search.
-- source: Tong et al. 2010; Wang et al. 2018
create or replace table {{ verdicts | ident }} as
with sizes as (
    select a.grp, cast(sum(u.n) as bigint) as persons
    from {{ asked | ident }} a
    join {{ units | ident }} u on u.unit = a.unit
    group by a.grp
)
{% if screen %},
pairs as materialized (
    select a.grp, h.col, h.person, h.value, h.n
    from {{ asked | ident }} a
    join {{ holdings | ident }} h on h.unit = a.unit
),
by_person as (
    select
        grp, col, person,
        {% if "pairs_most" in needed %}
        count(*) as pairs,
        {% endif %}
        {% if "records_most" in needed %}
        sum(n) as records,
        {% endif %}
        {% if "only_values" in needed %}
        min(value) filter (where value > 0) as one_value,
        {% endif %}
        count(*) filter (where value > 0) as known
    from pairs
    group by grp, col, person
),
of_persons as (
    select
        grp, col,
        {% if "pairs_most" in needed %}
        cast(sum(pairs) as bigint) as pairs,
        cast(max(pairs) as bigint) as pairs_most,
        {% endif %}
        {% if "records_most" in needed %}
        cast(sum(records) as bigint) as records,
        cast(max(records) as bigint) as records_most,
        {% endif %}
        {% if "only_values" in needed %}
        count(distinct one_value) filter (where known = 1) as only_values,
        {% endif %}
        count(*) filter (where known > 0) as known,
        count(*) as persons
    from by_person
    group by grp, col
),
by_value as (
    select grp, col, count(*) as holders{% if "widest_records" in needed %}, sum(n) as records{% endif %}

    from pairs
    where value > 0
    group by grp, col, value
),
of_values as (
    select
        grp, col,
        count(*) as different,
        cast(max(holders) as bigint) as widest
        {% if "known_pairs" in needed %}
        , cast(sum(holders) as bigint) as known_pairs
        {% endif %}
        {% if "widest_records" in needed %}
        , cast(sum(records) as bigint) as known_records
        , cast(max(records) as bigint) as widest_records
        {% endif %}
        {% if screen.reach %}
        , cast(list_sum(max(holders, {{ screen.reach | lit }})) as bigint) as reach_{{ screen.reach | lit }}
        {% endif %}
    from by_value
    group by grp, col
),
counts as (
    select
        p.*
        {% for name in of_values %}
        , coalesce(v.{{ name }}, 0) as {{ name }}
        {% endfor %}
        {% if screen.reach %}
        , coalesce(v.reach_{{ screen.reach | lit }}, 0) as reach_{{ screen.reach | lit }}
        {% endif %}
    from of_persons p
    left join of_values v on v.grp = p.grp and v.col = p.col
),
results as (
    select grp, bool_and({{ screen.holds }}) as holds, bool_or({{ screen.fails }}) as fails
    from counts
    group by grp
)
{% endif %}

select
    s.grp,
    s.persons >= {{ least | lit }}{% if screen %} and j.holds{% endif %} as holds,
    s.persons < {{ least | lit }}{% if screen %} or j.fails{% endif %} as fails
from sizes s
{% if screen %}
join results j on j.grp = s.grp
{% endif %}

-- name: undecided
-- The persons' value sets of the groups that counts leave open, one list of sets per column.
select a.grp, s.col, list(distinct s.codes) as sets
from {{ verdicts | ident }} v
join {{ asked | ident }} a on a.grp = v.grp
join {{ sets | ident }} s on s.unit = a.unit
where not v.holds and not v.fails
group by a.grp, s.col

-- name: undecided.postgres
-- The persons' value sets of the groups that counts leave open, one list of sets per column.
-- (Sets differ in length, which arrays within an array of Postgres may not.)
select a.grp, s.col, jsonb_agg(distinct s.codes) as sets
from {{ verdicts | ident }} v
join {{ asked | ident }} a on a.grp = v.grp
join {{ sets | ident }} s on s.unit = a.unit
where not v.holds and not v.fails
group by a.grp, s.col

-- name: search_groups
-- The groups that counts leave undecided and that the search finds to satisfy l: no column has a
-- hitting set of fewer than l values.
{% from "persons/_search" import search %}
create or replace table {{ searched | ident }} as
{{ search(asked, size) }}
select distinct cast(grp as bigint) as grp
from problems
where grp not in (select p.grp from problems p join met m on m.problem = p.problem)

-- name: cover
-- The values that each cell of one column admits, as codes: 0 is NULL, -1 an unknown value. A
-- bucketized cell admits the values of its bucket and, to be safe, NULL.
create or replace table {{ cover | ident }} as
with cells as (
    select distinct k{{ i | lit }} as cell, bucket{{ i | lit }} as bucket{% for part, name in parts %}, {{ part }}{{ i | lit }} as {{ part }}{% endfor %}

    from {{ rows | ident }}
)
select cell, cast(code as bigint) as code from {{ members | ident }}
{% if ordered %}
union
select s.cell, cast(d.code as bigint) from {{ spans | ident }} s join {{ domain | ident }} d on d.place >= s.lo and d.place <= s.hi
{% endif %}
{% if column.bucket is not none %}
union
select cell, cast(-1 as bigint) from cells
{% endif %}
union
select cell, cast(0 as bigint)
from cells
where bucket is not null
    {% if column.lo is not none %}
    or lo is null or coalesce(nullable, false)
    {% elif column.list_cells %}
    or name is null or list_count(name) < len(name)
    {% elif column.nullable is not none %}
    or name is null or coalesce(nullable, false)
    {% else %}
    or name is null or ends_with(name, ' or NULL')
    {% endif %}

-- name: weights
-- What an observer expects of a sensitive column in every tuple of cells: the expected number of
-- rows with each value (in a bucket, by its share there), the number of rows that can have it, and
-- the number of distinct persons among those (of rows, where the release does not distinguish
-- persons).
{% from "verify/_cells" import value as published %}
create or replace table {{ weights | ident }} as
with placed as (
    select c.combo_id, r.{{ carried }} as holder, {% if person %}r.{{ person }}{% else %}cast(null as bigint){% endif %} as person
    from {{ rows | ident }} r
    join {{ combos | ident }} c
        on {% for a in attributes %}{% if not loop.first %} and {% endif %}c.k{{ a.index | lit }} = r.k{{ a.index | lit }}{% endfor %}

),
{% if bucket is not none %}
value_counts as (
    select {{ bucket | ident }} as holder, cast({{ published(column, type) }} as varchar) as value, count(*) as n
    from {{ data | ident }}
    where {{ bucket | ident }} is not null
    group by all
),
shares as (
    select holder, value, n / cast(sum(n) over (partition by holder) as double) as share from value_counts
),
counts as (select combo_id, holder, count(*) as n, {% if person %}count(distinct person){% else %}count(*){% endif %} as bearers from placed group by combo_id, holder)
select c.combo_id, s.value, sum(c.n * s.share) as weight, cast(sum(c.n) as bigint) as possible, cast(sum(c.bearers) as bigint) as bearers
from counts c
join shares s on s.holder = c.holder
group by c.combo_id, s.value
{% else %}
counts as (
    select combo_id, cast(holder as varchar) as value, count(*) as n, {% if person %}count(distinct person){% else %}count(*){% endif %} as bearers
    from placed
    group by combo_id, holder
)
select combo_id, value, cast(n as double) as weight, cast(n as bigint) as possible, cast(bearers as bigint) as bearers from counts
{% endif %}

-- name: beliefs
-- The probability of every value of one sensitive column for every target, as seen by the attacker.
create or replace table {{ beliefs | ident }} as
with sums as (
    select c.tuple_id, w.value, sum(w.weight) as weight, cast(sum(w.possible) as bigint) as possible, cast(sum(w.bearers) as bigint) as bearers
    from {{ candidates | ident }} c
    join {{ weights | ident }} w on w.combo_id = c.combo_id
    group by c.tuple_id, w.value
)
select *, round(weight / sum(weight) over (partition by tuple_id), 9) as chance from sums

-- name: beliefs_persons
-- The probability that a target has a value, for every value of one sensitive column: every person of its candidate
-- rows is equally likely to be the target, and has the value if one of their rows does. A row in a bucket has it
-- with the value's share there, independently of rows in other buckets. Candidates that are the same tuples of cells
-- are judged once.
{% from "verify/_cells" import value as published %}
create or replace table {{ beliefs | ident }} as
with chosen as (
    select tuple_id, list(combo_id order by combo_id) as combos from {{ candidates | ident }} group by tuple_id
),
distinct_sets as (select distinct combos from chosen),
sets as (select combos, row_number() over (order by combos) as set_id from distinct_sets),
members as (select set_id, unnest(combos) as combo_id from sets),
sums as (
    select m.set_id, w.value, sum(w.weight) as weight, cast(sum(w.possible) as bigint) as possible, cast(sum(w.bearers) as bigint) as bearers
    from members m
    join {{ weights | ident }} w on w.combo_id = m.combo_id
    group by m.set_id, w.value
),
person_cells as (
    select distinct m.set_id, r.{{ person }} as person, r.{{ carried }} as holder
    from members m
    join {{ combos | ident }} c on c.combo_id = m.combo_id
    join {{ rows | ident }} r
        on {% for a in attributes %}{% if not loop.first %} and {% endif %}c.k{{ a.index | lit }} = r.k{{ a.index | lit }}{% endfor %}

),
persons as (select set_id, count(distinct person) as many from person_cells group by set_id),
{% if bucket is not none %}
value_counts as (
    select {{ bucket | ident }} as holder, cast({{ published(column, type) }} as varchar) as value, count(*) as n
    from {{ data | ident }}
    where {{ bucket | ident }} is not null
    group by all
),
shares as (select holder, value, n / cast(sum(n) over (partition by holder) as double) as share from value_counts),
of_person as (
    select h.set_id, h.person, s.value, 1 - product(1 - s.share) as chance
    from person_cells h
    join shares s on s.holder = h.holder
    group by h.set_id, h.person, s.value
),
{% else %}
of_person as (select set_id, person, cast(holder as varchar) as value, 1.0::double as chance from person_cells),
{% endif %}
expected as (select set_id, value, sum(chance) as persons from of_person group by set_id, value)
select c.tuple_id, s.value, s.weight, s.possible, s.bearers, round(e.persons / p.many, 9) as chance
from chosen c
join sets t on t.combos = c.combos
join sums s on s.set_id = t.set_id
join persons p on p.set_id = t.set_id
join expected e on e.set_id = t.set_id and e.value is not distinct from s.value

-- name: targets
-- The attacker's targets: a share of the source's rows (or of its persons, with all their rows),
-- sampled by a hash of their contents, with their quasi-identifiers as codes; a sensitive cell is
-- unknown (-1).
create or replace table {{ targets | ident }} as
with known as (
    select
        {% for a in attributes %}
        {% if a.column.column in flags %}
        case when o.{{ flags[a.column.column] | ident }} is not false then -1 else cast(coalesce(d{{ a.index | lit }}.code, 0) as bigint) end as c{{ a.index | lit }},
        {% else %}
        cast(coalesce(d{{ a.index | lit }}.code, 0) as bigint) as c{{ a.index | lit }},
        {% endif %}
        {% endfor %}
        {% for physical, name in sensitive %}
        {{ physical }} as {{ name }},
        {% endfor %}
        {% if person %}cast(o.{{ person }} as varchar){% else %}cast(null as varchar){% endif %} as person
    from {{ original | ident }} o
    {% for a in attributes %}
    left join {{ a.domain | ident }} d{{ a.index | lit }} on d{{ a.index | lit }}.value = cast(o.{{ a.physical | ident }} as {{ a.type }})
    {% endfor %}
)
select *
from known
{% if person %}
where md5_number_lower(concat({{ seed | lit }}, ':', person)) % 1000000 < {{ millionths | lit }}
{% else %}
where md5_number_lower(concat_ws(':', {{ seed | lit }}{% for a in attributes %}, c{{ a.index | lit }}{% endfor %}{% for _, name in sensitive %}, {{ name }}{% endfor %})) % 1000000 < {{ millionths | lit }}
{% endif %}

-- name: tuples
-- The distinct quasi-identifiers of the targets; `units` is the number of their rows or persons.
create or replace table {{ tuples | ident }} as
select
    row_number() over (order by {% for a in attributes %}c{{ a.index | lit }}{% if not loop.last %}, {% endif %}{% endfor %}) as tuple_id,
    *
from (
    select
        {% for a in attributes %}
        c{{ a.index | lit }},
        {% endfor %}
        {% if by_person %}count(distinct person){% else %}count(*){% endif %} as units
    from {{ targets | ident }}
    group by {% for a in attributes %}c{{ a.index | lit }}{% if not loop.last %}, {% endif %}{% endfor %}

)

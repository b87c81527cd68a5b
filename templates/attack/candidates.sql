-- name: linking
-- How well targets are found: the number of candidate rows (persons) of each.
with found as (
    select t.tuple_id, min(t.units) as units, coalesce(sum(r.units), 0) as candidates
    from {{ tuples | ident }} t
    left join {{ candidates | ident }} c on c.tuple_id = t.tuple_id
    left join {{ combos | ident }} r on r.combo_id = c.combo_id
    group by t.tuple_id
)
select
    cast(coalesce(sum(units), 0) as bigint) as targets,
    cast(coalesce(sum(units) filter (where candidates = 0), 0) as bigint) as not_found,
    cast(min(candidates) filter (where candidates > 0) as bigint) as fewest,
    sum(units * candidates) / cast(nullif(sum(units) filter (where candidates > 0), 0) as double) as mean_candidates,
    coalesce(sum(units / cast(nullif(candidates, 0) as double)) / sum(units), 0) as success,
    cast(coalesce(sum(units) filter (where candidates between 1 and {{ k | lit }} - 1), 0) as bigint) as beyond
from found

-- name: inference
-- How well the targets' values can be guessed: the guess is the likeliest value, and ties are
-- broken by chance.
with truth as (
    select t.tuple_id, cast(a.{{ value }} as varchar) as value, count(*) as n
    from {{ targets | ident }} a
    join {{ tuples | ident }} t
        on {% for a in attributes %}{% if not loop.first %} and {% endif %}t.c{{ a.index | lit }} = a.c{{ a.index | lit }}{% endfor %}

    group by t.tuple_id, a.{{ value }}
),
best as (
    select tuple_id, max(chance) as chance from {{ beliefs | ident }} where value is not null group by tuple_id
),
modes as (
    select b.tuple_id, count(*) as modes
    from {{ beliefs | ident }} b
    join best m on m.tuple_id = b.tuple_id and m.chance = b.chance
    where b.value is not null
    group by b.tuple_id
),
guessed as (
    select
        t.n,
        m.chance as confidence,
        case when b.chance = m.chance then 1 / cast(d.modes as double) else 0 end as success
    from truth t
    left join best m on m.tuple_id = t.tuple_id
    left join modes d on d.tuple_id = t.tuple_id
    left join {{ beliefs | ident }} b on b.tuple_id = t.tuple_id and b.value = t.value
    where t.value is not null
),
blind as (
    select value, sum(weight) as weight from {{ weights | ident }} where value is not null group by value
)
select
    cast(coalesce(sum(n), 0) as bigint) as targets,
    max(confidence) as most_confident,
    sum(n * success) / cast(sum(n) as double) as success,
    (select max(weight) / sum(weight) from blind) as blind_success
from guessed

-- name: known_value
-- The number of candidate rows of a target for an attacker who also knows one sensitive value.
with truth as (
    select t.tuple_id, cast(a.{{ value }} as varchar) as value, count(*) as n
    from {{ targets | ident }} a
    join {{ tuples | ident }} t
        on {% for a in attributes %}{% if not loop.first %} and {% endif %}t.c{{ a.index | lit }} = a.c{{ a.index | lit }}{% endfor %}

    where a.{{ value }} is not null
    group by t.tuple_id, a.{{ value }}
),
found as (
    select t.n, coalesce(b.possible, 0) as possible
    from truth t
    left join {{ beliefs | ident }} b on b.tuple_id = t.tuple_id and b.value = t.value
)
select
    cast(coalesce(sum(n), 0) as bigint) as targets,
    min(possible) filter (where possible > 0) as fewest,
    coalesce(sum(n / cast(nullif(possible, 0) as double)) / sum(n), 0) as success,
    cast(coalesce(sum(n) filter (where possible = 1), 0) as bigint) as singled_out,
    cast(coalesce(sum(n) filter (where possible between 1 and {{ k | lit }} - 1), 0) as bigint) as below
from found

-- name: intersection
-- What an attacker who has both releases can conclude about each target: the possible values, and
-- the number of candidate rows (persons). A candidate in one release needs a candidate with the
-- same value in the other, so of each value the smaller number counts, and the total is at most
-- that of either release. A target can be in both releases if both allow its own value.
with found_now as (
    select c.tuple_id, sum(r.units) as n
    from {{ candidates | ident }} c
    join {{ combos | ident }} r on r.combo_id = c.combo_id
    group by c.tuple_id
),
found_earlier as (
    select c.tuple_id, sum(r.units) as n
    from {{ earlier_candidates | ident }} c
    join {{ earlier_combos | ident }} r on r.combo_id = c.combo_id
    group by c.tuple_id
),
allowed as (
    select b.tuple_id, b.value, least(b.bearers, e.bearers) as bearers
    from {{ beliefs | ident }} b
    join {{ earlier | ident }} e on e.tuple_id = b.tuple_id and e.value is not distinct from b.value
),
compared as (
    select
        b.tuple_id,
        count(distinct b.value) as now,
        min(a.left_over) as left_over,
        least(min(a.bearers), min(f.n), min(g.n)) as bearers
    from {{ beliefs | ident }} b
    join found_now f on f.tuple_id = b.tuple_id
    join found_earlier g on g.tuple_id = b.tuple_id
    left join (
        select tuple_id, count(distinct value) as left_over, sum(bearers) as bearers
        from allowed
        group by tuple_id
    ) a on a.tuple_id = b.tuple_id
    group by b.tuple_id
),
verdicts as (
    select
        t.person,
        c.now,
        coalesce(c.left_over, 0) as left_over,
        c.bearers,
        a.value is not null as in_both
    from {{ targets | ident }} t
    join {{ tuples | ident }} u
        on {% for a in attributes %}{% if not loop.first %} and {% endif %}u.c{{ a.index | lit }} = t.c{{ a.index | lit }}{% endfor %}

    join compared c on c.tuple_id = u.tuple_id
    left join allowed a on a.tuple_id = u.tuple_id and a.value = cast(t.{{ value }} as varchar)
    where c.now > 0
)
select
    {% if by_person %}count(distinct person){% else %}count(*){% endif %} as targets,
    avg(now) as values_now,
    avg(left_over) as values_left,
    {% if by_person %}count(distinct person){% else %}count(*){% endif %} filter (where in_both and now > 1 and left_over = 1) as exposed,
    {% if by_person %}count(distinct person){% else %}count(*){% endif %} filter (where in_both and left_over < {{ l | lit }}) as below_l,
    min(bearers) filter (where in_both) as fewest,
    {% if by_person %}count(distinct person){% else %}count(*){% endif %} filter (where in_both and bearers < {{ k | lit }}) as below_k
from verdicts

-- name: differences
-- The differences of two releases: rows of one of them only. Classes of the two are joined where somebody
-- of the source could be in both, until nobody could have come from elsewhere; what the classes
-- joined so show in one release and not in the other is of those who left, joined or changed.
-- parameters: shown: the columns of values that both publish as they are, in each of the two; least: by
-- column, how many values are promised
with recursive pairs as (
    select distinct n.combo_id as here, -e.combo_id as there
    from {{ candidates | ident }} n
    join {{ earlier_candidates | ident }} e on e.tuple_id = n.tuple_id
),
edges as (
    select here, there from pairs
    union all
    select there, here from pairs
),
labels using key (node) as (
    select node, node as label
    from (
        select combo_id as node from {{ combos | ident }}
        union all
        select -combo_id from {{ earlier_combos | ident }}
    )
    union all
    select e.there, min(l.label)
    from labels l
    join edges e on e.here = l.node
    join recurring.labels k on k.node = e.there
    group by e.there, k.label
    having min(l.label) < k.label
),
now as (
    select l.label, [{% for pair in shown %}cast(r.{{ pair[0] }} as varchar){% if not loop.last %}, {% endif %}{% endfor %}] as value, count(*) as n
    from {{ rows | ident }} r
    join {{ combos | ident }} c
        on {% for a in attributes %}{% if not loop.first %} and {% endif %}c.k{{ a.index | lit }} = r.k{{ a.index | lit }}{% endfor %}

    join labels l on l.node = c.combo_id
    group by all
),
before as (
    select l.label, [{% for pair in shown %}cast(r.{{ pair[1] }} as varchar){% if not loop.last %}, {% endif %}{% endfor %}] as value, count(*) as n
    from {{ earlier_rows | ident }} r
    join {{ earlier_combos | ident }} c
        on {% for a in earlier_attributes %}{% if not loop.first %} and {% endif %}c.k{{ a.index | lit }} = r.k{{ a.index | lit }}{% endfor %}

    join labels l on l.node = -c.combo_id
    group by all
),
compared as (
    select coalesce(n.label, b.label) as label, coalesce(n.value, b.value) as value, coalesce(n.n, 0) - coalesce(b.n, 0) as more
    from now n
    full join before b on b.label = n.label and b.value = n.value
),
told as (
    select
        label, more > 0 as came, sum(abs(more)) as n
        {% for at, l in least %}
        , count(distinct value[{{ at | lit }}]) as v{{ at | lit }}
        {% endfor %}
    from compared
    where more <> 0
    group by label, more > 0
)
select
    cast(coalesce(sum(n) filter (where not came), 0) as bigint) as gone,
    cast(coalesce(sum(n) filter (where came), 0) as bigint) as come,
    cast(coalesce(sum(n) filter (where n < {{ k | lit }}), 0) as bigint) as below_k,
    cast(min(n) as bigint) as fewest
    {% for at, l in least %}
    , cast(coalesce(sum(n) filter (where v{{ at | lit }} < {{ l | lit }}), 0) as bigint) as below_{{ at | lit }}
    {% endfor %}
from told

-- name: candidates
-- The tuples of cells that could be a target's: every cell admits the target's value.
create or replace table {{ candidates | ident }} as
select t.tuple_id, r.combo_id
from {{ tuples | ident }} t
join {{ first.cover | ident }} f on f.code = t.c{{ first.index | lit }}
join {{ combos | ident }} r on r.k{{ first.index | lit }} = f.cell
where true
    {% for a in rest %}
    and exists (select 1 from {{ a.cover | ident }} v where v.cell = r.k{{ a.index | lit }} and v.code = t.c{{ a.index | lit }})
    {% endfor %}

-- name: combos
-- The distinct tuples of cells in the release, with the number of their rows or persons.
create or replace table {{ combos | ident }} as
select
    row_number() over (order by {% for a in attributes %}k{{ a.index | lit }}{% if not loop.last %}, {% endif %}{% endfor %}) as combo_id,
    *
from (
    select
        {% for a in attributes %}
        k{{ a.index | lit }},
        {% endfor %}
        count(*) as n,
        {% if person %}count(distinct {{ person }}){% else %}count(*){% endif %} as units
    from {{ rows | ident }}
    group by {% for a in attributes %}k{{ a.index | lit }}{% if not loop.last %}, {% endif %}{% endfor %}

)

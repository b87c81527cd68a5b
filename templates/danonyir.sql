-- name: _near
-- The distance from person `x` to cluster `y`, the order of clusters at that distance, and the
-- cluster's number, as one integer. Clusters and persons have numbers of one kind, drawn from the
-- secret: at equal distance the first cluster after the person is the nearest, and after the last
-- one comes the first.
{% macro near() -%}
{{ distance }} * {{ wide }}
        + case when y.unit < x.unit then {{ narrow }} else 0 end + y.unit
{%- endmacro %}

-- name: _pieces
-- The piece of a person `u` in a part `m` that is too large: by the order of the codes.
{% macro along_codes() -%}
floor((row_number() over (partition by m.class_id order by {{ codes | join }}, u.unit) - 1)
            * ceil(count(*) over (partition by m.class_id) / {{ size | lit }}) / count(*) over (partition by m.class_id))
{%- endmacro %}

-- name: grow
-- All blocks grow their clusters in parallel, one move per iteration: the open cluster takes the
-- nearest person of its block, or merges with the nearest closed cluster. Once it satisfies the
-- guarantees it is closed, and the next person in order becomes the seed of the next cluster. At
-- equal distance a person is preferred to a cluster, and the earlier in order to the later. A
-- block stops when none of its persons is left{% if waits %}, or when only a search can tell
-- whether its cluster holds{% endif %}.
-- source: Wang et al. 2018, algorithm 1, lines 3 to 9; equations 17 and 18
{% macro opened() -%}
select *, size = 0 or holds as fresh
from (
    select *, {{ holds }} as holds
    from blocks
    where remaining > 0{% if waits %} and not {{ waits }}{% endif %}

)
{%- endmacro %}
create or replace table {{ grown | ident }} as
with recursive blocks using key (block) as (
    select * from {{ state | ident }}
    union all
    select
        block,
        seed,
        size,
        records,
        cast({{ loss }} as bigint) as loss,
        members,
        {% for name in columns + carried %}
        {{ name }},
        {% endfor %}
        {% for _, proof, _ in proofs %}
        {{ proof }},
        {% endfor %}
        closed,
        taken,
        remaining
    from (
        select
            x.block,
            case when x.fresh then y.seed else x.seed end as seed,
            case when x.fresh then 1 else x.size + y.size end as size,
            case when x.fresh then y.records else x.records + y.records end as records,
            case when x.fresh then y.members else list_concat(x.members, y.members) end as members
            {% for expression, name in union %}
            , case when x.fresh then y.{{ name }} else {{ expression }} end as {{ name }}
            {% endfor %}
            {% for _, proof, values in proofs %}
            , case
                when x.fresh then {{ values }}[1:1]
                when x.kind = 1 or x.{{ proof }} is null then null
                when len({{ values }}) = 0 or list_has_any(x.{{ proof }}, {{ values }}) then x.{{ proof }}
                when len(x.{{ proof }}) < {{ (l - 1) | lit }} then list_append(x.{{ proof }}, {{ values }}[1])
                else cast({{ unknown }} as integer[])
            end as {{ proof }}
            {% endfor %}
            , case
                when x.holds then list_append(x.closed, struct_pack({% for name in cluster %}{{ name }} := x.{{ name }}{% if not loop.last %}, {% endif %}{% endfor %}))
                when x.kind = 1 then list_filter(x.closed, lambda c: c.seed <> y.seed)
                else x.closed
            end as closed
            , case when x.kind = 0 then set_bit(x.taken, cast(y.seed - 1 as integer), 1) else x.taken end as taken
            , x.remaining - 1 + x.kind as remaining
        from (
            select
                x,
                case when kind = 1 then list_filter(closed, lambda c: c.seed = slot)[1] else struct_pack(
                    {% for name in cluster %}
                    {{ name }} := {% if name.text == "seed" %}h.place{% elif name.text == "size" %}cast(1 as bigint){% elif name.text == "members" %}[h.place]{% else %}h.{{ name }}{% endif %}{% if not loop.last %},{% endif %}

                    {% endfor %}
                ) end as y
                {% for _, _, values in proofs %}
                , h.{{ values }}
                {% endfor %}
            from (
                select o.*, cast(b.choice % {{ narrow }} as bigint) as slot, cast((b.choice // {{ narrow }}) % 2 as integer) as kind
                from ({{ opened() }}) o
                join (
                    select block, min(choice) as choice
                    from (
                        select x.block, case when x.fresh then cast(y.place as hugeint) else {{ distance }} * {{ wide }} + y.place end as choice
                        from ({{ opened() }}) x
                        join {{ neighbours | ident }} y on y.block = x.block
                        where get_bit(x.taken, cast(y.place - 1 as integer)) = 0
                        union all
                        select block, {{ distance }} * {{ wide }} + {{ narrow }} + y.seed
                        from (select block, x, unnest(closed) as y from ({{ opened() }}) x where not fresh)
                    )
                    group by block
                ) b on b.block = o.block
            ) x
            left join {{ neighbours | ident }} h on h.block = x.block and h.place = x.slot and x.kind = 0
        )
    )
)
select * from blocks

-- name: blocks
-- Blocks before the first move: no cluster, and nobody taken but those who stand aside, who are residual.
create or replace table {{ state | ident }} as
select
    block,
    {% for name in cluster %}
    open.{{ name }},
    {% endfor %}
    {% for _, proof, _ in proofs %}
    cast([] as integer[]) as {{ proof }},
    {% endfor %}
    list_filter([open], lambda c: false) as closed,
    taken,
    remaining
from (
    select
        block,
        struct_pack(
            seed := max(place) filter (where false),
            size := cast(0 as bigint),
            records := max(records) filter (where false),
            loss := max(loss) filter (where false),
            members := cast([] as bigint[])
            {% for name in columns + carried %}
            , {{ name }} := max({{ name }}) filter (where false)
            {% endfor %}
        ) as open,
        coalesce(
            bit_or(case when aside then set_bit(bitstring('0', cast(persons as integer)), cast(place - 1 as integer), 1) end),
            bitstring('0', cast(max(persons) as integer))
        ) as taken,
        count(*) filter (where not aside) as remaining
    from (select *, count(*) over (partition by block) as persons from {{ neighbours | ident }})
    group by block
)

-- name: searched
-- The clusters after the search: those whose proof became invalid have the new one, or none.
create or replace table {{ state | ident }} as
select g.* replace (
    {% for number, proof, _ in proofs %}
    case when g.{{ proof }} = {{ unknown }} then f.{{ proof }} else g.{{ proof }} end as {{ proof }}{% if not loop.last %},{% endif %}

    {% endfor %}
)
from {{ grown | ident }} g
left join (
    select block
        {% for number, proof, _ in proofs %}
        , cast(list(value order by value) filter (where col = {{ number }}) as integer[]) as {{ proof }}
        {% endfor %}
    from {{ found | ident }}
    group by block
) f on f.block = g.block

-- name: waiting_blocks
-- The number of blocks that waited for the search and have persons left.
select count(*) from {{ grown | ident }} where remaining > 0 and {{ waits }}

-- name: start
-- Every person with its block, its place in the order of the block, and the columns of a cluster
-- of this person alone. Parts of the partition that cannot be cut further and are still too large
-- are split into even pieces along the codes. Where no class can be formed in one of them, as in one
-- of equal persons, every set of values is spread over all pieces of the part instead. Persons
-- whose rows are too many for any class of the block stand aside, and the fewest persons such that no
-- value is too frequent among the others: otherwise all with the value would end in one cluster.
{% from "danonyir/_pieces" import along_codes with context %}
{% from "persons/_passed" import passed with context %}
create or replace table {{ neighbours | ident }} as
with {% if own %}value_counts as (
    select unit{% for expression, name in own %}, {{ expression }} as {{ name }}{% endfor %}

    from {{ holdings | ident }}
    group by unit
),
{% endif %}placed as (
    {% if size %}
    select
        m.class_id,
        {% if verdicts %}
        case
            when m.class_id not in (
                select x.class_id
                from {{ members | ident }} x
                join {{ asked | ident }} a on a.unit = x.unit
                where a.grp not in {{ passed() }}
            ) then {{ along_codes() }}
            else (row_number() over (partition by m.class_id order by {% for _, name in own %}h.{{ name }}, {% endfor %}{{ codes | join }}, u.unit) - 1)
                % ceil(count(*) over (partition by m.class_id) / {{ size | lit }})
        end as piece,
        {% else %}
        {{ along_codes() }} as piece,
        {% endif %}
        u.unit
    from {{ units | ident }} u
    join {{ members | ident }} m on m.unit = u.unit
    {% if own and verdicts %}
    join value_counts h on h.unit = u.unit
    {% endif %}
    {% else %}
    select 1 as class_id, 1 as piece, unit from {{ units | ident }}
    {% endif %}
),
numbered as (
    select unit, cast(dense_rank() over (order by class_id, piece) as bigint) as block
    from placed
){% if fits %},
ranked as (
    select n.block, u.unit, row_number() over (partition by n.block order by u.records, u.unit) as rank, {{ fits }} as fits
    from {{ units | ident }} u
    join numbered n on n.unit = u.unit
),
fitting as (
    select block, unit
    from ranked
    qualify rank <= max(case when fits then rank end) over (partition by block)
){% endif %}{% if value_share %},
-- if the j most frequent values of a block have at most m holders each, and the others `rest`, then no
-- share is above p/d for m = p rest / (d - p j)
pairs as (
    select f.block, h.unit, h.col, h.value, count(*) over (partition by h.unit, h.col) as different
    from {{ kept }} f
    join {{ holdings | ident }} h on h.unit = f.unit
    where h.value > 0
),
frequent as (
    select
        block, col, value, count(*) as holders,
        row_number() over (partition by block, col order by count(*) desc, value) as j,
        sum(count(*)) over (partition by block, col order by count(*) desc, value rows unbounded preceding) as upto
    from pairs
    group by block, col, value
),
amounts as (select block, col, {{ value_share.among }} as known from pairs group by block, col),
caps as (
    select
        f.block, f.col, f.j,
        floor({{ value_share.p | lit }} * cast(a.known - f.upto as hugeint) / ({{ value_share.d | lit }} - {{ value_share.p | lit }} * cast(f.j as hugeint))) as most,
        coalesce(lead(f.holders) over (partition by f.block, f.col order by f.j), 0) as next
    from frequent f
    join amounts a on a.block = f.block and a.col = f.col
    where f.upto <= a.known and {{ value_share.p | lit }} * cast(f.j as hugeint) < {{ value_share.d | lit }}
    qualify first_value(f.holders * {{ value_share.d | lit }} > {{ value_share.p | lit }} * a.known) over (partition by f.block, f.col order by f.j)
),
capped as (
    select block, col, j, most from caps where next <= most qualify row_number() over (partition by block, col order by j) = 1
),
widespread as (
    select p.unit
    from pairs p
    join frequent f on f.block = p.block and f.col = p.col and f.value = p.value
    join capped c on c.block = f.block and c.col = f.col and f.j <= c.j
    qualify row_number() over (partition by p.block, p.col, p.value order by p.different, p.unit) <= f.holders - c.most
){% endif %}

select
    n.block,
    cast(row_number() over (partition by n.block order by u.unit) as bigint) as place,
    u.unit,
    u.records,
    u.loss,
    false{% if fits %} or u.unit not in (select unit from fitting){% endif %}{% if value_share %} or u.unit in (select unit from widespread){% endif %} as aside
    {% for column in columns %}
    , u.{{ column }}
    {% endfor %}
    {% for _, name in own %}
    , h.{{ name }}
    {% endfor %}
from {{ units | ident }} u
join numbered n on n.unit = u.unit
{% if own %}
join value_counts h on h.unit = u.unit
{% endif %}
order by block, place

-- name: pieces
-- The pieces along the codes of the parts that are too large, to be judged.
{% from "danonyir/_pieces" import along_codes with context %}
create or replace table {{ asked | ident }} as
with pieces as (
    select m.class_id, {{ along_codes() }} as piece, u.unit
    from {{ units | ident }} u
    join {{ members | ident }} m on m.unit = u.unit
    qualify count(*) over (partition by m.class_id) > {{ size | lit }}
)
select dense_rank() over (order by class_id, piece) as grp, unit
from pieces

-- name: empty
-- An empty table of whole numbers.
create or replace table {{ target | ident }} as
select {% for name in names %}cast(null as {{ type }}) as {{ name }}{% if not loop.last %}, {% endif %}{% endfor %} where false

-- name: broken
-- The value sets of the open clusters whose proof of failure (fewer than l values that hit every
-- member) became invalid. If l different values are each the only value of some person, no such
-- proof exists, and nothing is searched.
select o.block, s.col, list(distinct s.codes) as sets
from (
    {% for number, proof, _ in proofs %}
    select block, {{ number }} as col, unnest(members) as place
    from {{ grown | ident }}
    where {{ proof }} = {{ unknown }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
) o
join {{ neighbours | ident }} n on n.block = o.block and n.place = o.place
join {{ sets | ident }} s on s.unit = n.unit and s.col = o.col
group by o.block, s.col
having count(distinct s.codes[1]) filter (where len(s.codes) = 1) < {{ l | lit }}

-- name: search_clusters
-- Fewer than l values that hit everybody in a cluster whose proof became invalid, if there are any.
{% from "persons/_search" import search %}
create or replace table {{ searched | ident }} as
{{ search(asked, size) }},
proofs as (
    select p.block, p.col, min(m.chosen) as chosen
    from problems p
    join met m on m.problem = p.problem
    group by p.block, p.col
)
select cast(block as bigint) as block, cast(col as bigint) as col, unnest(chosen) as value
from proofs

-- name: offers
-- The nearest clusters within reach of every person without a class, with their distances; `near`
-- puts clusters at the same distance in an order that differs from person to person, so that
-- persons with equal quasi-identifiers do not all ask for the same one.
-- source: Wang et al. 2018, algorithm 7
{% from "danonyir/_near" import near with context %}
create or replace table {{ offers | ident }} as
with measured as (
    select
        x.unit,
        y.unit as grp,
        {{ near() }} as near
    from {{ residual | ident }} t
    join {{ units | ident }} x on x.unit = t.unit
    join {{ reach | ident }} r on r.unit = t.unit
    join {{ closed | ident }} y on y.unit = r.grp
)
select row_number() over (order by unit, grp) as offer, unit, grp, near
from measured
qualify row_number() over (partition by unit order by near) <= {{ nearest | lit }}

-- name: joined
-- Residual persons become members of the clusters they join.
insert into {{ members | ident }}
select unit, grp from {{ placed | ident }}

-- name: grown
-- The clusters after residual persons joined them.
create or replace table {{ closed | ident }} as
with united as (
    select
        x.block, x.unit, cast(x.records + sum(y.records) as bigint) as records
        {% for expression, name in box_union_of_all %}
        , {{ expression }} as {{ name }}
        {% endfor %}
    from {{ placed | ident }} p
    join {{ closed | ident }} x on x.unit = p.grp
    join {{ units | ident }} y on y.unit = p.unit
    group by x.block, x.unit, x.records
)
select block, unit, records, loss{% for column in columns %}, {{ column }}{% endfor %}

from {{ closed | ident }}
where unit not in (select unit from united)
union all
select block, unit, records, cast({{ loss }} as bigint){% for column in columns %}, {{ column }}{% endfor %}

from united

-- name: pending
-- The number of residual persons still waiting, of whom nobody waits for longer than `rounds`.
select count(*) from {{ residual | ident }} where round < {{ rounds | lit }}

-- name: reach
-- The clusters that a person without a class may try: the nearest of the current ones, in blocks
-- as far away as the limit on comparisons allows. Blocks are numbered along the cuts.
{% from "danonyir/_near" import near with context %}
create or replace table {{ reach | ident }} as
with sizes as (
    select
        (select count(*) from {{ residual | ident }}) as persons,
        (select count(*) from {{ closed | ident }}) as clusters,
        (select greatest(max(block), 1) from {{ closed | ident }}) as blocks
),
measured as (
    select
        x.unit,
        y.unit as grp,
        {{ near() }} as near
    from {{ residual | ident }} t
    join {{ units | ident }} x on x.unit = t.unit
    join {{ closed | ident }} y on abs(y.block - t.block) <= (
        select greatest(8, {{ comparisons | lit }} * blocks // greatest(2 * persons * clusters, 1)) from sizes
    )
)
select unit, grp
from measured
qualify row_number() over (partition by unit order by near) <= {{ in_reach | lit }}

-- name: places
-- The clusters that residual persons ask for: the nearest one that satisfies the guarantees with
-- them, unless suppressing them costs less and is allowed (`whole`, the cost of one row). In the
-- first round a cluster hears one person, in each further round four times as many; the others
-- wait.
-- source: Wang et al. 2018, algorithm 7
{% from "persons/_passed" import passed with context %}
create or replace table {{ asking | ident }} as
with nearest as (
    select unit, min(near) as near
    from {{ offers | ident }}
    {% if verdicts %}
    where offer in {{ passed() }}
    {% endif %}
    group by unit
),
ranked as (
    select
        n.unit,
        cast(n.near % {{ narrow }} as bigint) as grp,
        row_number() over (partition by n.near % {{ narrow }} order by n.unit) as rank
    from nearest n
    join {{ units | ident }} u on u.unit = n.unit
    {% if row_cost is not none %}
    where n.near // {{ wide }} <= u.records * cast({{ row_cost }} as hugeint)
    {% endif %}
)
select unit, grp, rank
from ranked
where rank <= (select cast(1 as bigint) << cast(2 * least(max(round), 15) as bigint) from {{ residual | ident }})

-- name: waiting
-- The persons without a class who try again: those who have an offer but were not placed. If this
-- round placed nobody, nobody tries again.
{% from "persons/_passed" import passed with context %}
create or replace table {{ residual | ident }} as
select block, unit, round + 1 as round
from {{ residual | ident }}
where unit not in (select unit from {{ placed | ident }})
    and unit in (select unit from {{ offers | ident }}{% if verdicts %} where offer in {{ passed() }}{% endif %})
    and exists (select 1 from {{ placed | ident }})

-- name: offered
-- Every candidate cluster with the person who would join it, to be judged.
create or replace table {{ asked | ident }} as
select o.offer as grp, m.unit
from {{ offers | ident }} o
join {{ members | ident }} m on m.class_id = o.grp
union all
select offer, unit from {{ offers | ident }}

-- name: crowds
-- For every cluster that somebody asks for, how many of them it could take at once: the first one,
-- the first four, the first sixteen, and so on, and all.
create or replace table {{ crowds | ident }} as
with counts as (
    select grp, max(rank) as n from {{ asking | ident }} group by grp
)
select row_number() over (order by grp, power) as crowd, grp, least(n, cast(1 as bigint) << (2 * power)) as last
from counts
cross join (select unnest(range(0, 17)) as power)
where power = 0 or cast(1 as bigint) << (2 * (power - 1)) < n

-- name: crowded
-- Every cluster together with those who would join it at once, to be judged.
create or replace table {{ asked | ident }} as
select c.crowd as grp, m.unit
from {{ crowds | ident }} c
join {{ members | ident }} m on m.class_id = c.grp
union all
select c.crowd, a.unit
from {{ crowds | ident }} c
join {{ asking | ident }} a on a.grp = c.grp and a.rank <= c.last

-- name: placed
-- The residual persons who join a cluster: as many at once as it takes and still satisfies the
-- guarantees.
{% from "persons/_passed" import passed with context %}
create or replace table {{ placed | ident }} as
with taken as (
    select grp, max(last) as last
    from {{ crowds | ident }}
    where crowd in {{ passed() }}
    group by grp
)
select a.unit, a.grp
from {{ asking | ident }} a
join taken t on t.grp = a.grp and a.rank <= t.last

-- name: settling
-- Every block with its clusters that satisfy the guarantees, and its residual persons: those in
-- clusters that never did, and those that no cluster took.
create or replace table {{ settling | ident }} as
with final_blocks as (
    select
        block,
        case when {{ holds }} then list_append(closed, struct_pack({% for name in cluster %}{{ name }} := {{ name }}{% if not loop.last %}, {% endif %}{% endfor %})) else closed end as closed
    from {{ last | ident }}
),
settled as (
    select block, unnest(members) as place
    from (select block, unnest(closed).members as members from final_blocks)
),
residual as (
    select n.block, list(n.place order by n.place) as waiting
    from {{ neighbours | ident }} n
    where (n.block, n.place) not in (select (block, place) from settled)
    group by n.block
)
select h.block, h.closed, coalesce(r.waiting, []) as waiting, cast([] as bigint[]) as unassigned
from final_blocks h
left join residual r on r.block = h.block

-- name: residual
-- The number of residual persons, whether or not they joined a class afterwards.
select cast(coalesce(sum(len(waiting)), 0) as bigint) as residual_persons from {{ settling | ident }}

-- name: settle
-- The residual persons of every block join clusters of their block, one person per iteration: the
-- nearest cluster that satisfies the guarantees with them, unless suppressing them costs less and is
-- allowed (`whole`, the cost of one row). A person that no cluster of the block can take is unassigned.
-- source: Wang et al. 2018, algorithm 7
{% macro next_waiting() -%}
select b.closed, b.waiting, b.unassigned, cast(1 as bigint) as size, h.*
from blocks b
join {{ neighbours | ident }} h on h.block = b.block and h.place = b.waiting[1]
{%- endmacro %}
create or replace table {{ settled | ident }} as
with recursive blocks using key (block) as (
    select * from {{ settling | ident }}
    union all
    select
        block,
        case when chosen is null then closed else list_append(
            list_filter(closed, lambda c: c.seed <> chosen),
            struct_pack(
                {% for name in cluster %}
                {{ name }} := {% if name.text == "loss" %}cast({{ loss }} as bigint){% else %}{{ name }}{% endif %}{% if not loop.last %},{% endif %}

                {% endfor %}
            )
        ) end as closed,
        waiting[2:] as waiting,
        case when nearest is null then list_append(unassigned, waiting[1]) else unassigned end as unassigned
    from (
        select
            x.block, x.closed, x.waiting, x.unassigned, x.nearest, x.chosen,
            y.seed, x.size + y.size as size, x.records + y.records as records, list_append(y.members, x.place) as members
            {% for expression, name in union %}
            , {{ expression }} as {{ name }}
            {% endfor %}
        from (
            select
                t.*,
                c.nearest,
                {% if row_cost is not none %}
                case when c.nearest // {{ wide }} <= t.records * cast({{ row_cost }} as hugeint) then cast(c.nearest % {{ wide }} as bigint) end as chosen,
                {% else %}
                cast(c.nearest % {{ wide }} as bigint) as chosen,
                {% endif %}
                list_filter(t.closed, lambda e: e.seed = c.nearest % {{ wide }})[1] as y
            from ({{ next_waiting() }}) t
            left join (
                select block, min(distance * {{ wide }} + seed) as nearest
                from (
                    select
                        x.block,
                        y.seed,
                        {{ distance }} as distance
                        {% if not monotone %}
                        , x.size + y.size as size, x.records + y.records as records
                        {% for expression, name in carried_union %}
                        , {{ expression }} as {{ name }}
                        {% endfor %}
                        {% endif %}
                    from (select x, unnest(closed) as y from ({{ next_waiting() }}) x)
                )
                {% if not monotone %}
                where {{ holds_united }}
                {% endif %}
                group by block
            ) c on c.block = t.block
        ) x
    )
)
select * from blocks

-- name: settled
-- The members of the clusters that satisfy the guarantees.
create or replace table {{ members | ident }} as
with placed as (
    select block, closed.seed as seed, unnest(closed.members) as place
    from (select block, unnest(closed) as closed from {{ settled | ident }})
)
select n.unit, s.unit as class_id
from placed p
join {{ neighbours | ident }} n on n.block = p.block and n.place = p.place
join {{ neighbours | ident }} s on s.block = p.block and s.place = p.seed

-- name: closed
-- The clusters that satisfy the guarantees, which persons of other blocks may join; a cluster has
-- the number of its seed.
create or replace table {{ closed | ident }} as
select n.block, n.unit, c.records, c.loss{% for name in columns %}, c.{{ name }}{% endfor %}

from (select block, unnest(closed, max_depth := 2) from {{ settled | ident }}) c
join {{ neighbours | ident }} n on n.block = c.block and n.place = c.seed

-- name: unassigned
-- The persons that no cluster of their block admits.
create or replace table {{ residual | ident }} as
select n.block, n.unit, 0 as round
from (select block, unnest(unassigned) as place from {{ settled | ident }}) s
join {{ neighbours | ident }} n on n.block = s.block and n.place = s.place

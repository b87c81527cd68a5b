-- name: optimum
-- The node that is published: the one with the smallest loss, and of equals the lowest number.
create or replace table {{ batch | ident }} as
select n.*
from {{ evaluations | ident }} j
join {{ nodes | ident }} n on n.number = j.number
where j.holds
order by j.loss, j.number
limit 1

-- name: chosen
-- The levels of the node that is published, 0 being the values themselves, how far it may be from
-- the optimum, and how many nodes it took to find it, rounded up to a power of ten: the exact number
-- depends on rows that may not be published. After a full search it is the optimum; else no node
-- loses less than the bound, a mean per cell (of c_dm: a sum) like the loss.
{% if size is none %}
select
    (select count(*) from {{ nodes | ident }}) as lattice_nodes,
    (select cast(power(10, length(cast(count(*) as varchar))) as bigint) from {{ evaluations | ident }}) as lattice_judged,
    cast(0 as double) as lattice_gap
    {% for level, name in named %}
    , {{ level }} as {{ name }}
    {% endfor %}
from {{ batch | ident }}
{% else %}
with counts as (
    select
        cast(j.loss + cast(l.left_out as hugeint) * {{ row_loss }} as double) as loss,
        cast(f.found + cast(l.left_out as hugeint) * {{ row_loss }} as double) as bound,
        {% if additive %}cast(l.records as double) * {{ row_loss }}{% else %}cast(1 as double){% endif %} as scale
    from {{ batch | ident }} b
    join {{ evaluations | ident }} j on j.number = b.number
    cross join {{ limits | ident }} l
    cross join (
        {% if additive %}
        select coalesce(sum(lost), 0) as found
        from (select slice, min(lost) as lost from {{ subsets | ident }} group by slice) s
        {% else %}
        -- every row is in a class of k or costs more
        select cast(records - left_out as hugeint) * {{ k | lit }} as found from {{ limits | ident }}
        {% endif %}
    ) f
)
select
    {{ size | lit }} as lattice_nodes,
    (select cast(power(10, length(cast(count(*) as varchar))) as bigint) from {{ evaluations | ident }}) as lattice_judged,
    -- rounded, as they depend on rows that may not be published
    floor(10000 * (c.loss / c.scale) + 0.5) / 10000 as lattice_loss,
    floor(10000 * (c.bound / c.scale)) / 10000 as lattice_bound,
    ceil(1000 * (1 - c.bound / greatest(c.loss, 1))) / 1000 as lattice_gap
    {% for level, name in named %}
    , {{ level }} as {{ name }}
    {% endfor %}
from {{ batch | ident }}
cross join counts c
{% endif %}

-- name: members
-- The units of the published classes of the chosen node; all others are suppressed.
create or replace table {{ members | ident }} as
with masked as materialized (
    select t.unit{% for word in words %}, t.{{ word.w }} & b.{{ word.m }} as {{ word.g }}{% endfor %}

    from {{ tuples | ident }} t
    cross join {{ batch | ident }} b
)
select m.unit, c.class_id
from masked m
join {{ classes | ident }} c on {% for word in words %}c.{{ word.g }} = m.{{ word.g }}{% if not loop.last %} and {% endif %}{% endfor %}

where c.published

-- name: class_levels
-- Every class is published at the levels of the chosen node.
create or replace table {{ class_levels | ident }} as
select c.class_id{% for a in attributes %}, b.{{ a.level }}{% endfor %}

from {{ classes | ident }} c
cross join {{ batch | ident }} b
where c.published

-- name: none_holds
-- No node holds: not even the one that generalizes everything.
select {% if size is none %}(select count(*) from {{ nodes | ident }}){% else %}{{ size | lit }}{% endif %}, (select count(*) from {{ evaluations | ident }}), (select allowed from {{ limits | ident }})
where not exists (select 1 from {{ evaluations | ident }} where holds)

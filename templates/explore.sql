-- name: costly_cells
-- The published cells of one column that cost most: how many rows have each, and how many of the
-- column's values those rows had before, as a share of all its values (of its range, where it is
-- ordered). Cells of fewer than `floor` rows are left out.
with pairs as (
    select {{ cell }} as cell, o.{{ physical | ident }} as value
    from {{ link | ident }} l
    join {{ original | ident }} o on o.row_ref = l.row_ref
    where o.{{ physical | ident }} is not null
),
total as (
    select
        {% if ordered %}
        max({{ place }}) - min({{ place }}) as extent
        {% else %}
        count(distinct value) - 1 as extent
        {% endif %}
    from pairs
),
cells as (
    select
        cell,
        count(*) as n,
        {% if ordered %}
        max({{ place }}) - min({{ place }}) as extent
        {% else %}
        count(distinct value) - 1 as extent
        {% endif %}
    from pairs
    where cell is not null
    group by cell
)
select c.cell, c.n, cast(c.extent as double) / nullif(cast(w.extent as double), 0) as share
from cells c
cross join total w
where c.n >= {{ floor | lit }} and c.extent > 0
order by c.n * cast(c.extent as double) desc, c.cell
limit {{ shown | lit }}

-- name: rare_labels
-- The labels in which a value occurs that fewer than `floor` rows (persons) have.
with rare as (
    select cast({{ value }} as varchar) as value
    from {{ relation }}
    where {{ value }} is not null
    group by 1
    having {{ unit }} < {{ floor | lit }}
),
labels as (select unnest([{{ labels | lits | join(", ") }}]) as label)
select l.label
from labels l
where exists (
    select 1
    from rare r
    where r.value <> ''
        {% if number %}
        and list_contains(regexp_extract_all(l.label, '[-+0-9.eE]+'), r.value)
        {% else %}
        and contains(l.label, r.value)
        {% endif %}
)

-- name: examples
-- Some published rows of different classes, as text. Classes of fewer than `floor` rows are left
-- out, and so is every cell whose text fewer than `floor` rows have.
-- parameters: lost: statements with the loss of every class, by column: the classes that lose most
-- come first, each with its rows, the mean loss of its cells, and its share of all that is lost
{% if lost %}
with lost as (
    {% for text in lost %}
    select holder, cells, ncp_sum from ({{ text }}){% if not loop.last %} union all{% endif %}

    {% endfor %}
),
classes as (
    select
        holder,
        sum(ncp_sum) as ncp_sum,
        sum(ncp_sum) / nullif(sum(cells), 0) as loss,
        sum(ncp_sum) / nullif(sum(sum(ncp_sum)) over (), 0) as share
    from lost
    group by holder
),
{% else %}
with
{% endif %}
counts as (
    select
        {{ group | ident }} as holder,
        {% for text, name, many in cells %}
        {{ text }} as {{ name }},
        count(*) over (partition by {{ text }}) as {{ many }},
        {% endfor %}
        count(*) over (partition by {{ group | ident }}) as n,
        row_number() over (partition by {{ group | ident }} order by {{ group | ident }}) as place
    from {{ data | ident }}
)
select
    {% for _, name, many in cells %}
    case when r.{{ many }} >= {{ floor | lit }} then r.{{ name }} else '(rare)' end as {{ name }}{% if lost or not loop.last %},{% endif %}

    {% endfor %}
    {% if lost %}
    r.n, c.loss, c.share
    {% endif %}
from counts r
{% if lost %}
join classes c on c.holder = r.holder and c.ncp_sum > 0
{% endif %}
where r.place = 1 and r.n >= {{ floor | lit }}
order by {% if lost %}c.ncp_sum desc, {% endif %}md5(cast(r.holder as varchar))
limit {{ shown | lit }}

-- name: raw_rows
-- Some rows of the source as they are.
select {% for column in columns %}{{ column | ident }}{% if not loop.last %}, {% endif %}{% endfor %} from {{ relation }} limit {{ shown | lit }}

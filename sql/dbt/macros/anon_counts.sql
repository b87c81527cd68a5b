{#- Counts of persons by groups, with all totals, of which no small group can be computed: the method
    `rest` of a policy with `aggregate`, and the rows of the DuckDB macro of that name. Groups of fewer
    than n persons are left out of the table and its totals, and then the next smallest one where these
    are fewer than n together; their persons are counted in one row (other). A model's SQL, or a part of it.

    by: columns that make groups, a list; labels are written as the adapter casts the values to text.
    person: the column that identifies the person; default: a row is a person.

    A source that cannot be counted fails when the query runs. -#}
{% macro anon_counts(relation, by, n, person=none) -%}
{{ anonymizer.anon_number("anon_counts", "n", n, 3) }}
{%- if by is string or by is not iterable or not by -%}
  {{ anonymizer.anon_fail("anon_counts", "by", "is no list", "a list of columns") }}
{%- endif -%}
{%- if by | map("lower") | select("in", ["persons", "status"]) | list -%}
  {{ anonymizer.anon_fail("anon_counts", "by", "persons and status are columns of the result", "other names, in a view") }}
{%- endif -%}
{%- set text = anonymizer.anon_text() -%}
{%- set names %}{% for name in by %}anon_{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}{% endset %}
with labelled as (
    select
        {%- for name in by %}
        coalesce(cast({{ adapter.quote(name) }} as {{ text }}), '(null)') as anon_{{ loop.index }},
        {%- endfor %}
        case when {% for name in by %}cast({{ adapter.quote(name) }} as {{ text }}) in ('(all)', '(other)', '(null)'){{ " or " if not loop.last }}{% endfor %} then 1 else 0 end as odd,
        {{ "1" if person is none else adapter.quote(person) }} as someone
    from {{ relation }}
),
atoms as (
    select
        {{ names }},
        {{ "count(*)" if person is none else "count(distinct someone)" }} as members,
        max(odd) as odd,
        max(case when someone is null then 1 else 0 end) as nobody
    from labelled
    group by {{ names }}
),
sound as (
    select cast(case
        when max(odd) = 1 then {{ anonymizer.anon_failing("anon_counts: by: a group is called (all), (other) or (null), which are labels of the macro (hint: rename it in a view)") }}
        when max(nobody) = 1 then {{ anonymizer.anon_failing("anon_counts: person: some rows have no person (hint: leave them out in a view)") }}
        {%- if person is not none %}
        when sum(members) > (select count(distinct someone) from labelled) then {{ anonymizer.anon_failing("anon_counts: person: some persons are in several groups, so that counts do not add up (hint: choose one row for every person in a view)") }}
        {%- endif %}
        else '0' end as bigint) as faults
    from atoms
),
placed as (
    select
        {{ names }},
        members,
        row_number() over (order by members, {% for name in by %}{{ anonymizer.anon_by_code_point("anon_" ~ loop.index) }}{{ ", " if not loop.last }}{% endfor %}) as place,
        sum(case when members < {{ n }} then 1 else 0 end) over () as small,
        sum(case when members < {{ n }} then members else 0 end) over () as short
    from atoms
    cross join sound
    where sound.faults = 0
),
split as (
    select
        {{ names }},
        members,
        case when members < {{ n }} or (small > 0 and short < {{ n }} and place = small + 1) then 1 else 0 end as left_out
    from placed
),
cells as (
    select
        {%- for name in by %}
        case when grouping(anon_{{ loop.index }}) = 1 then '(all)' else anon_{{ loop.index }} end as label_{{ loop.index }},
        {%- endfor %}
        sum(members) as figure,
        'shown' as state
    from split
    where left_out = 0
    group by cube ({{ names }})
    having count(*) > 0
    union all
    select {{ "'(other)', " * (by | length) }}sum(members), 'other'
    from split
    where left_out = 1
    having sum(members) >= {{ n }}
)
select
    {%- for name in by %}
    label_{{ loop.index }} as {{ adapter.quote(name) }},
    {%- endfor %}
    cast(figure as bigint) as persons,
    state as status
from cells
{%- endmacro %}

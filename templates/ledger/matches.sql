-- name: _candidates
-- The candidates for every person: for every set of releases in which some person is,
-- the persons who are in all of them, grouped by their classes there. `own`: whether the person is
-- in no other of the releases; others are candidates only. With `series`, the groups of a series
-- that the releases expose.
{% macro candidates() %}
{% if series %}
{#- (a group of the series has the same releases throughout: what is not in one is NULL for all) #}
candidates as materialized (
    select person{% for r in releases[1:] %}, true as {{ r.p }}{% endfor %}, true as own, dense_rank() over (order by grp) as grp
    from {{ series | ident }}
    where exposed and absent
)
{% else %}
patterns as materialized (
    select *, row_number() over () as pattern
    from (
        select distinct {% for r in releases[1:] %}{{ r.c }} is not null as {{ r.p }}{% if not loop.last %}, {% endif %}{% endfor %}

        from {{ seen | ident }}
    )
),
candidates as materialized (
    select
        s.person,
        {% for r in releases[1:] %}
        p.{{ r.p }},
        {% endfor %}
        {% for r in releases[1:] %}p.{{ r.p }} = (s.{{ r.c }} is not null){% if not loop.last %} and {% endif %}{% endfor %} as own,
        dense_rank() over (order by p.pattern, s.c0{% for r in releases[1:] %}, case when p.{{ r.p }} then s.{{ r.c }} end{% endfor %}) as grp
    from {{ seen | ident }} s
    join patterns p on {% for r in releases[1:] %}(not p.{{ r.p }} or s.{{ r.c }} is not null){% if not loop.last %} and {% endif %}{% endfor %}

)
{% endif %}
{%- endmacro %}
{% macro lines(r) -%}
{% if r.at %}{{ old_rows | ident }} where release = {{ r.release | lit }}{% else %}{{ rows | ident }} where remembered{% endif %}
{%- endmacro %}
{% macro in_pattern(r) -%}
{% if r.at %}case when c.{{ r.p }} then m.{{ r.e }} end{% else %}m.{{ r.e }}{% endif %}
{%- endmacro %}

-- name: rows
-- The published rows of the further tables, each with its person, with digests by which it is found
-- again, and with its own values: by its key, and by its person and true events (`content`). What it
-- looks like is digested with the run's secret, as it is compared within the release only.
{% from "ledger/_digests" import person with context %}
create or replace table {{ rows | ident }} as
with persons as (
    -- (a number of 128 bits takes long to be written as text)
    select rowid as row_ref, {{ person() }} as person, md5(concat($ledger_key, ':rows of:', {{ identity }})) as name
    from {{ snapshot | ident }}
)
{% for t in tables %}
{% if t.values %}
, copies{{ loop.index | lit }} as (
    -- which of the rows of a person that look alike a row is
    select o.rowid as row_ref, row_number() over (partition by o.person, {{ t.content }} order by {{ t.event_text }}) as copy
    from {{ t.link | ident }} l
    join {{ t.kept | ident }} o on o.rowid = l.{{ row_ref | ident }}
)
{% endif %}
{% endfor %}
{% for t in tables %}
select
    p.person,
    {{ t.name | lit }} as source,
    {{ t.remembered | lit }} as remembered,
    {% if t.key and t.values %}md5_number(concat($ledger_key, ':row', {{ t.label }}, o.own)){% else %}cast(null as uhugeint){% endif %} as by_key,
    {% if t.values %}
    md5_number(concat($ledger_key, ':event', {{ t.label }}, p.name, {{ t.content }}, copies.copy)) as content,
    md5_number(concat($secret, ':cells', {{ t.label }}, {{ t.event_text }})) as cells,
    {% else %}
    cast(null as uhugeint) as content,
    cast(null as uhugeint) as cells,
    {% endif %}
    {% if t.marks %}cast([{% for mark in pseudonyms %}{% if mark in t.marks %}{{ mark.digest }}{% else %}null{% endif %}{% if not loop.last %}, {% endif %}{% endfor %}] as uhugeint[]){% else %}cast(null as uhugeint[]){% endif %} as marks
    {% for f in facets %}
    , {% if f in t.facets %}{{ f.alias }}.value{% else %}cast(null as bigint){% endif %} as {{ f.truth }}
    {% endfor %}
from {{ t.link | ident }} l
join {{ t.kept | ident }} o on o.rowid = l.{{ row_ref | ident }}
join persons p on p.row_ref = o.person
{% if t.values %}
join copies{{ loop.index | lit }} copies on copies.row_ref = o.rowid
{% endif %}
{% for f in t.facets %}
left join (
    select value, {{ f.named }} as own from {{ numbered | ident }} where facet = {{ f.column | lit }}
) {{ f.alias }} on {{ f.alias }}.own = {{ f.own }}
{% endfor %}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}

-- name: events
-- Persons whom an observer who knows some of their rows can single out from the releases together:
-- fewer than k persons were in the same classes and have, for each of the rows, one of
-- their own that looks the same in every release. A row that a release does not have looks like
-- nothing else there.
-- parameters: knowing: releases with rows that somebody may know; by_key: tables whose rows are found
-- again by their keys; events: rows of a set
{% from "ledger/_candidates" import candidates, lines, in_pattern with context %}
with {{ candidates() }},
lines as (
    {% for r in knowing %}
    select {{ r.at | lit }} as place, person, source, {% if by_key %}case when source in ({% for name in by_key %}{{ name | lit }}{% if not loop.last %}, {% endif %}{% endfor %}) then by_key else content end{% else %}content{% endif %} as original, cells
    from {{ lines(r) }} and cells is not null
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
matched as (
    select person, source{% for r in knowing %}, min(cells) filter (where place = {{ r.at | lit }}) as {{ r.e }}{% endfor %}

    from lines
    group by person, source, original
),
looks as (
    select c.person, c.grp, c.own, m.source{% for r in knowing %}, {{ in_pattern(r) }} as {{ r.e }}{% endfor %}

    from candidates c
    join matched m on m.person = c.person
),
told as (
    select person, grp, own, dense_rank() over (order by source{% for r in knowing %}, {{ r.e }}{% endfor %}) as cells
    from looks
    where {% for r in knowing %}{{ r.e }} is not null{% if not loop.last %} or {% endif %}{% endfor %}

),
known as materialized (
    -- a row that is the second of its kind needs persons with two of the kind
    select person, grp, own, cells, count(*) as copies
    from told
    group by person, grp, own, cells
),
items as materialized (
    select k.person, k.grp, k.own, k.cells, c.copy
    from known k
    join (values {% for copy in range(1, events + 1) %}({{ copy | lit }}){% if not loop.last %}, {% endif %}{% endfor %}) c(copy) on c.copy <= k.copies
),
sets as (
    -- fewer than k persons are left of a set, so that all of them are listed
    select count(*) as persons, min(person, {{ (k - 1) | lit }}) filter (where own) as whose
    from items
    group by grp, cells, copy
    having count(*) < {{ k | lit }} and bool_or(own)
    {% if events > 1 %}
    union all
    select count(*), min(a.person, {{ (k - 1) | lit }}) filter (where a.own)
    from items a
    join items b on b.grp = a.grp and b.person = a.person and b.cells > a.cells
    where a.copy + b.copy <= {{ events | lit }}
    group by a.grp, a.cells, a.copy, b.cells, b.copy
    having count(*) < {{ k | lit }} and bool_or(a.own)
    {% endif %}
    {% if events > 2 %}
    union all
    select count(*), min(a.person, {{ (k - 1) | lit }}) filter (where a.own)
    from items a
    join items b on b.grp = a.grp and b.person = a.person and b.cells > a.cells
    join items c on c.grp = a.grp and c.person = a.person and c.cells > b.cells
    where a.copy + b.copy + c.copy <= {{ events | lit }}
    group by a.grp, a.cells, b.cells, c.cells
    having count(*) < {{ k | lit }} and bool_or(a.own)
    {% endif %}
)
select
    (select count(*) from {% if series %}candidates{% else %}{{ seen | ident }}{% endif %}) as persons,
    (select count(distinct person) from (select unnest(whose) as person from sets)) as narrowed,
    (select min(persons) from sets) as fewest

-- name: row_numbers
-- Persons whom an observer who knows how many rows they have can single out from the releases
-- together: fewer than k persons were in the same classes and had as many rows in every table.
-- parameters: counting: releases in which somebody may know the numbers of rows
{% from "ledger/_candidates" import candidates, lines, in_pattern with context %}
with {{ candidates() }},
counts as (
    {% for r in counting %}
    select {{ r.at | lit }} as place, person, source, count(*) as n
    from {{ lines(r) }}
    group by person, source
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
),
numbers as (
    select person{% for r in counting %}, list_sort(list(concat(n, ' ', source)) filter (where place = {{ r.at | lit }})) as {{ r.e }}{% endfor %}

    from counts
    group by person
),
vectors as (
    select
        c.grp,
        count(*) as persons,
        count(*) filter (where c.own) as told
    from candidates c
    left join numbers m on m.person = c.person
    where {% for r in counting %}{% if r.at %}c.{{ r.p }}{% else %}true{% endif %}{% if not loop.last %} or {% endif %}{% endfor %}

    group by c.grp{% for r in counting %}, {{ in_pattern(r) }}{% endfor %}

)
select
    (select count(*) from {% if series %}candidates{% else %}{{ seen | ident }}{% endif %}) as persons,
    cast(coalesce(sum(told) filter (where persons < {{ k | lit }}), 0) as bigint) as narrowed,
    min(persons) filter (where persons < {{ k | lit }} and told > 0) as fewest
from vectors

-- name: row_joins
-- What a join of rows discloses, on columns that the new release and an earlier one both publish as
-- they are, and that only together tell rows apart. An observer knows both classes of a person; in
-- either release the row is one of those that have a partner in the other class.
-- parameters: places: positions of the common columns among the marks; release: number of the earlier
-- one; truth: the column of values in the new one, of which at least `least` are to be
-- left, or nothing: the earlier one alone has them, and no row of a class may be ruled out
-- source: Ganta et al. 2008, by rows
with here as (
    select person, class_id as c{% if truth %}, {{ truth }} as v{% endif %},
        md5_number(concat_ws('|'{% for place in places %}, coalesce(cast(marks[{{ place | lit }}] as varchar), '-'){% endfor %})) as u
    from {{ members | ident }}
    where person is not null
),
met as (
    select distinct h.person, h.u, h.c as here, o.class_id as there
    from here h
    join {{ old_members | ident }} o on o.person = h.person
    where o.release = {{ release | lit }}
),
pairs as (
    select here, there, count(distinct person) as persons from met group by here, there
),
{% if truth %}
shown as (
    select distinct there, u from met
),
remaining as (
    select p.here, p.there, p.persons, count(distinct h.v) as admitted
    from pairs p
    join shown s on s.there = p.there
    join here h on h.c = p.here and h.u = s.u
    group by p.here, p.there, p.persons
),
totals as (
    select c, count(distinct v) as admitted from here group by c
),
{% else %}
shown as (
    select distinct c as here, u from here
),
remaining as (
    select p.here, p.there, p.persons, count(distinct m.person) as admitted
    from pairs p
    join shown s on s.here = p.here
    join met m on m.there = p.there and m.u = s.u
    group by p.here, p.there, p.persons
),
totals as (
    select there as c, count(distinct person) as admitted from met group by there
),
{% endif %}
verdicts as (
    select r.persons, r.admitted, r.admitted < w.admitted as learned
    from remaining r
    join totals w on w.c = r.{% if truth %}here{% else %}there{% endif %}

)
select
    cast(coalesce(sum(persons), 0) as bigint) as persons,
    cast(coalesce(sum(persons) filter (where learned{% if truth %} and admitted < {{ least | lit }}{% endif %}), 0) as bigint) as narrowed
from verdicts

-- name: _digests
-- The person of each row, as a digest keyed with the ledger's secret, with the originals of protected
-- columns.
{% macro person(whose=identity) -%}
md5_number(concat($ledger_key, ':person:', {{ whose }}))
{%- endmacro %}
{#- (copies of a row are numbered before anything is digested: digests of a server are subqueries) -#}
{% set whose %}whose{% endset %}
{% macro digested(facets=()) -%}
select
    row_ref,
    {{ person(whose) }} as person
    {% for mark in marks %}
    , {{ mark.digest }} as {{ mark.name }}
    {% endfor %}
    {% for f in facets %}
    , {{ f.physical }}
    {% endfor %}
from (select *, rowid as row_ref, {{ identity }} as whose from {{ snapshot | ident }})
{%- endmacro %}

-- name: _groups
-- The values of one column, by group: of the new members, of groups that earlier releases have seen,
-- and of persons whom the new release takes from these.
{% macro values_of_groups() %}
shown as (
    select distinct s.grp, s.earlier_grp, s.exposed, m.person, m.{{ facet.truth }} as value
    from {{ members | ident }} m
    join {{ series | ident }} s on s.person = m.person
    where {{ lines }}
),
taken as (
    select earlier_grp as grp, value, count(*) as n from shown where earlier_grp is not null group by all
),
known as (
    select grp, value, n
    from {{ groups | ident }}
    where facet = {{ facet.column | lit }}
    qualify release = max(release) over (partition by grp)
),
remaining as (
    select k.grp, k.value, k.n - coalesce(t.n, 0) as n
    from known k
    left join taken t on t.grp = k.grp and t.value is not distinct from k.value
    union all
    -- (a value that nobody had: it has changed)
    select t.grp, t.value, -t.n
    from taken t
    where t.grp in (select grp from known)
        and not exists (select 1 from known k where k.grp = t.grp and k.value is not distinct from t.value)
)
{%- endmacro %}

-- name: members
-- Every published row with its person, its class, its buckets and its own values. Counterfeits are
-- among the originals and belong to nobody; without any, one join finds persons and values. Rows
-- are stored in the order of the source, block by block: in the order of the release, the position
-- of a row would tell whose it is.
{% from "ledger/_digests" import digested with context %}
{% set whose %}{% if signature_since %}d{% else %}o{% endif %}{% endset %}
create or replace table {{ members | ident }} as
select
    {{ whose }}.person,
    l.{{ group | ident }} as class_id
    {% if number %}
    , l.{{ number | ident }} as number
    {% endif %}
    {% if marks %}
    , cast([{% for mark in marks %}{{ whose }}.{{ mark.name }}{% if not loop.last %}, {% endif %}{% endfor %}{% for mark in further_marks %}, null{% endfor %}] as uhugeint[]) as marks
    {% elif further_marks %}
    , cast(null as uhugeint[]) as marks
    {% endif %}
    {% if signature_since %}
    , z.since
    {% endif %}
    {% for f in own_facets %}
    , {% if f.dealt %}cast({{ f.group }} as bigint) as {{ f.place }}, {% endif %}{{ f.alias }}.value as {{ f.truth }}
    {% endfor %}
    {% if tables %}
    , true as whole
    {% for f in further_facets %}
    , cast(null as bigint) as {{ f.truth }}
    {% endfor %}
    {% endif %}
from {{ link | ident }} l
{% if signature_since %}
left join ({{ digested() }}) d on d.row_ref = l.row_ref
join {{ original | ident }} o on o.row_ref = l.row_ref
{% else %}
left join ({{ digested(own_facets) }}) o on o.row_ref = l.row_ref
{% endif %}
{% for f in own_facets %}
left join (
    select value, {{ f.named }} as own from {{ numbered | ident }} where facet = {{ f.column | lit }}
) {{ f.alias }} on {{ f.alias }}.own = {{ f.own }}
{% endfor %}
{% if signature_since %}
left join {{ signature_since | ident }} z on z.person = d.person
{% endif %}
order by l.row_ref

-- name: numbers
-- Numbers that the same persons have in the new release and in an earlier one.
-- parameters: marks: pairs of positions of the same nearly unique column in both releases; of its values
-- count those that fewer than k persons have in one of the two: more share no pseudonym
{% macro rare(position, release) -%}
select m.marks[{{ position | lit }}] from {% if release %}{{ old_members | ident }} m where m.release = {{ release | lit }} and{% else %}{{ members | ident }} m where{% endif %} m.person is not null group by 1 having count(distinct m.person) < {{ k | lit }}
{%- endmacro %}
{% for r in releases[1:] %}
select
    {{ r.release | lit }} as release,
    count(*) filter (where n0 = {{ r.n }}) as numbers,
    -- the persons of a class get their old number together, so classes are counted
    count(distinct case when c0 = {{ r.c }} then c0 end) as classes,
    (select count(*) from (select distinct c0, {{ r.c }} from {{ seen | ident }} where {{ r.c }} is not null)) as meetings,
    (select count(distinct class_id) from {{ members | ident }}) as different,
    {% if r.marks %}
    (
        select count(*)
        from {{ seen | ident }}
        where
            {% for here, there in r.marks %}
            {% if not loop.first %}or {% endif %}m0[{{ here | lit }}] = {{ r.m }}[{{ there | lit }}] and (
                m0[{{ here | lit }}] in ({{ rare(here, 0) }})
                or m0[{{ here | lit }}] in ({{ rare(there, r.release) }})
            )
            {% endfor %}
    ) as marks
    {% else %}
    0 as marks
    {% endif %}
from {{ seen | ident }}
{% if not loop.last %}
union all
{% endif %}
{% endfor %}

-- name: series
-- The groups of a series: persons with the same class, or absence, in every release. A group is exposed
-- if it is no whole class of a release and the new release makes it, or makes it absent: the
-- differences of the releases show its values.
-- parameters: numbers: the earlier releases of the series; new: the number of the new one, or nothing
-- source: Byun et al. 2006; Bu et al. 2008
create or replace table {{ series | ident }} as
with placed as (
    select {% if several %}distinct {% endif %}release, person, class_id
    from {{ old_members | ident }}
    where person is not null and release in ({% for number in numbers %}{{ number | lit }}, {% endfor %}null)
    {% if new %}
    union all
    select {% if several %}distinct {% endif %}{{ new | lit }} as release, person, class_id
    from {{ members | ident }}
    where person is not null
    {% endif %}
),
classes as (
    -- the digests of a person's classes are combined to one, whatever their order
    select release, class_id, count(*) as size, md5_number(concat(release, ':', class_id)) as mark
    from placed
    group by release, class_id
),
grouped as (
    select
        p.person,
        bit_xor(c.mark) as grp,
        bit_xor(c.mark) {% if new %}filter (where p.release <> {{ new | lit }}) {% endif %}as earlier_grp,
        count({% if several %}distinct {% endif %}p.release) as times,
        count({% if several %}distinct {% endif %}p.release) {% if new %}filter (where p.release <> {{ new | lit }}) {% endif %}as earlier_times,
        {% if new %}bool_or(p.release = {{ new | lit }}){% else %}false{% endif %} as here,
        min(c.size) as alone
    from placed p
    join classes c on c.release = p.release and c.class_id = p.class_id
    group by p.person
),
counts as (
    select
        *,
        times < {{ ((numbers | length) + (1 if new else 0)) | lit }} as absent,
        earlier_times < {{ numbers | length | lit }} as absent_before,
        count(*) over (partition by grp) as persons,
        case when earlier_times > 0 then count(*) over (partition by earlier_grp) else 0 end as earlier_persons
    from grouped
)
select
    person,
    grp,
    earlier_grp,
    persons,
    here,
    absent,
    persons < alone and not (persons = earlier_persons and (absent_before or not absent)) as exposed
from counts

-- name: series_sizes
-- The persons in exposed groups that are absent from a release, and how many of them are in groups of fewer than k.
select
    count(*) as persons,
    count(*) filter (where persons < {{ k | lit }}) as narrowed,
    min(persons) as fewest
from {{ series | ident }}
where exposed and absent

-- name: group_values
-- The values of the groups of persons that the new release makes: those in it, and those that it leaves
-- of groups of earlier releases.
-- parameters: lines: the new members that have values of the column
{% from "ledger/_groups" import values_of_groups with context %}
insert into {{ groups | ident }}
with {{ values_of_groups() }}
select {{ new | lit }}, grp, {{ facet.column | lit }}, value, count(*)
from shown
group by grp, value
union all
select {{ new | lit }}, grp, {{ facet.column | lit }}, value, greatest(n, 0)
from remaining
where grp in (select earlier_grp from {{ series | ident }} where earlier_grp is not null group by earlier_grp having bool_or(here) and not bool_and(here))

-- name: series_values
-- The persons in exposed groups whose values of one column break a rule by themselves. A group that has
-- gone breaks every rule if its values are not known, or have changed.
-- parameters: shows: the earlier releases that show the column; lines: the new members that have
-- values of it
{% from "ledger/_groups" import values_of_groups with context %}
with {{ values_of_groups() }},
exposed as (
    select person, grp, here from {{ series | ident }} where exposed{% if facet.dealt %} and absent{% endif %}

),
gone as (
    select distinct grp from exposed where not here
),
histogram as (
    select grp, value, count(*) as n from shown where exposed group by grp, value
    union all
    select grp, value, n from remaining where n > 0 and grp in (select grp from gone)
),
layer_0 as (
    select grp, case when value is null then 0 else dense_rank() over (order by value nulls last) end as value, n
    from histogram
),
{% for layer in layers %}
layer_{{ loop.index | lit }} as (
    select *{% for name, expression in layer %}, {{ expression }} as {{ name | ident }}{% endfor %}

    from layer_{{ loop.index0 | lit }}
),
{% endfor %}
broken as (
    select grp from layer_{{ layers | length | lit }} group by grp having not ({{ holds }})
    union
    select grp from remaining where n < 0
    union
    select e.grp
    from exposed e
    join {{ old_members | ident }} m on m.person = e.person
    where not e.here and m.release in ({% for number in shows %}{{ number | lit }}, {% endfor %}null)
        and e.grp not in (select grp from known)
)
select count(*) as persons, count(*) filter (where grp in (select grp from broken)) as narrowed
from exposed

-- name: seen
-- Every person of the new release (0) who is also in an earlier one, with the person's class,
-- number and groups in each of them.
{% macro number(new) %}{% if new and "number" in absent %}cast(null as bigint){% else %}number{% endif %}{% endmacro %}
{% macro since(new) %}{% if new and "since" in absent %}0{% else %}since{% endif %}{% endmacro %}
{% macro pseudonyms(r) %}cast([{% for place in range(1, r.pseudonyms + 1) %}max(marks[{{ place | lit }}]){% if not loop.last %}, {% endif %}{% endfor %}] as uhugeint[]){% endmacro %}
create or replace table {{ seen | ident }} as
with {% for r in releases %}{{ r.alias }} as (
    {% if several %}
    select
        person, min(class_id) as c, min({{ number(loop.first) }}) as n, {% if marked %}{{ pseudonyms(r) }} as m, {% endif %}min({{ since(loop.first) }}) as since
        {% for place in r.places %}, list_sort(list_distinct(list({{ place.group }}))) as {{ place.g }}{% endfor %}
        {% if loop.first %}{% for place in r.places %}, list_distinct(list({{ place.truth }})) as {{ place.truth }}{% endfor %}{% endif %}

    {% else %}
    select
        person, class_id as c, {{ number(loop.first) }} as n, {% if marked %}marks as m, {% endif %}{{ since(loop.first) }} as since
        {% for place in r.places %}, {{ place.group }} as {{ place.g }}{% endfor %}
        {% if loop.first %}{% for place in r.places %}, {{ place.truth }}{% endfor %}{% endif %}

    {% endif %}
    {% if loop.first %}
    from {{ members | ident }}
    where person is not null
    {% else %}
    from {{ old_members | ident }}
    where release = {{ r.release | lit }} and person is not null
    {% endif %}
    {% if several %}
    group by person
    {% endif %}
){% if not loop.last %},
{% endif %}{% endfor %}

select
    r0.person,
    r0.since
    {% for place in releases[0].places %}
    , r0.{{ place.truth }}
    {% endfor %}
    {% for r in releases %}
    , {{ r.alias }}.c as {{ r.c }}, {{ r.alias }}.n as {{ r.n }}{% if marked %}, {{ r.alias }}.m as {{ r.m }}{% endif %}

    {% for place in r.places %}
    , {{ r.alias }}.{{ place.g }} as {{ place.column }}
    {% endfor %}
    {% endfor %}
from r0
{% for r in releases[1:] %}
left join {{ r.alias }} on {{ r.alias }}.person = r0.person
{% endfor %}
where {% for r in releases[1:] %}{{ r.alias }}.person is not null{% if not loop.last %} or {% endif %}{% endfor %}

-- name: signatures
-- The values of every class, bucket or group for each protected column, including NULL; users of a
-- signature remove duplicates. Values of a class are distinct already. In the few rows of a bucket
-- or group they hardly repeat, and removing duplicates would cost more than storing them all.
-- Every list is sorted, so that the position of a value does not tell which person has it. Rows of
-- buckets and groups are sorted by group first: a list then stays in the processor's cache while
-- it grows.
create or replace table {{ signatures | ident }} as
with {% for place, facets in places %}shown_{{ loop.index | lit }} as (
    select {{ place }} as grp{% for f in facets %}, list({{ f.truth }}) as {{ f.truth }}{% endfor %}

    from (
        select {% if facets[0].once %}distinct {% endif %}{{ place }}{% for f in facets %}, {{ f.truth }}{% endfor %}

        from {{ members | ident }}
        where {{ place }} is not null
        {% if not facets[0].once %}
        order by {{ place }}
        {% endif %}
    )
    group by {{ place }}
){% if not loop.last %},
{% endif %}{% endfor %}

{% for place, facets in places %}
{% set shown = loop.index %}
{% set last = loop.last %}
{% for f in facets %}
select {{ f.column | lit }} as facet, grp, list_sort({{ f.truth }}) as signature from shown_{{ shown | lit }}
{% if not (last and loop.last) %}
union all
{% endif %}
{% endfor %}
{% endfor %}

-- name: candidates
-- Persons with fewer than k candidates once the classes of all releases are intersected, and fewer
-- than in any single release. The candidates are the persons who were in the same classes in all
-- releases.
-- source: Ganta et al. 2008
with vectors as (
    select {% for r in releases %}{{ r.c }}, {% endfor %}count(*) as persons
    from {{ seen | ident }}
    group by all
),
-- a person who is in all releases: the candidates are those with the same class in each of them
complete as (
    select *
    from vectors
    where {% for r in releases[1:] %}{{ r.c }} is not null{% if not loop.last %} and {% endif %}{% endfor %}

),
partial as (
    select *
    from vectors
    where {% for r in releases[1:] %}{{ r.c }} is null{% if not loop.last %} or {% endif %}{% endfor %}

),
patterns as (
    select distinct {% for r in releases[1:] %}{{ r.c }} is not null as {{ r.p }}{% if not loop.last %}, {% endif %}{% endfor %}

    from partial
),
projected as (
    select
        v.c0
        {% for r in releases[1:] %}
        , p.{{ r.p }}, case when p.{{ r.p }} then v.{{ r.c }} end as {{ r.c }}
        {% endfor %}
        , sum(v.persons) as candidates
    from patterns p
    join vectors v on {% for r in releases[1:] %}(not p.{{ r.p }} or v.{{ r.c }} is not null){% if not loop.last %} and {% endif %}{% endfor %}

    group by all
),
{% for r in releases %}
{{ r.sizes }} as (
    select class_id, {% if several %}count(distinct person){% else %}count(*){% endif %} as size
    {% if loop.first %}
    from {{ members | ident }}
    where person is not null
    {% else %}
    from {{ old_members | ident }}
    where release = {{ r.release | lit }} and person is not null
    {% endif %}
    group by class_id
),
{% endfor %}
told as (
    select *, persons as candidates from complete
    union all
    select v.*, j.candidates
    from partial v
    join projected j on j.c0 = v.c0
        {% for r in releases[1:] %}
        and j.{{ r.p }} = (v.{{ r.c }} is not null) and j.{{ r.c }} is not distinct from v.{{ r.c }}
        {% endfor %}
),
verdicts as (
    select
        v.persons,
        v.candidates,
        least({% for r in releases %}coalesce({{ r.sizes }}.size, {{ releases[0].sizes }}.size){% if not loop.last %}, {% endif %}{% endfor %}) as alone
    from told v
    {% for r in releases %}
    left join {{ r.sizes }} on {{ r.sizes }}.class_id = v.{{ r.c }}
    {% endfor %}
)
select
    cast(coalesce(sum(persons), 0) as bigint) as persons,
    cast(coalesce(sum(persons) filter (where candidates < {{ k | lit }} and candidates < alone), 0) as bigint) as narrowed,
    cast(min(candidates) as bigint) as fewest
from verdicts

-- name: values
-- Persons for whom all releases together admit fewer values of one column than required, and fewer
-- than any single release admits; also how many have one value left. They count only if the
-- person's own value is among those left, and only with releases since the value is known to have
-- changed.
-- source: Xiao and Tao 2007 (the signature of a person)
with vectors as (
    select
        {% for r in releases %}
        {% if loop.first %}{{ r.column }}{% else %}case when since <= {{ r.release | lit }} then {{ r.column }} end as {{ r.column }}{% endif %},
        {% endfor %}
        {{ truth }} as truth,
        count(*) as persons
    from {{ seen | ident }}
    where {% for r in releases[1:] %}(since <= {{ r.release | lit }} and {{ r.column }} is not null){% if not loop.last %} or {% endif %}{% endfor %}

    group by all
),
{% for r in releases %}
{{ r.own }} as (
    select grp, list_distinct(signature) as signature
    {% if loop.first %}
    from {{ signatures | ident }}
    where facet = {{ facet | lit }}
    {% else %}
    from {{ old_signatures | ident }}
    where facet = {{ facet | lit }} and release = {{ r.release | lit }}
    {% endif %}
),
{{ r.sets }} as (
    {% if several %}
    select v.groups, list_distinct(flatten(list(s.signature))) as signature
    from (select distinct {{ r.column }} as groups, unnest({{ r.column }}) as grp from vectors) v
    join {{ r.own }} s on s.grp = v.grp
    group by v.groups
    {% else %}
    select grp as groups, signature from {{ r.own }}
    {% endif %}
),
{% endfor %}
compared as (
    select
        v.persons,
        v.truth,
        {{ common }} as common,
        least({% for r in releases %}len(coalesce({{ r.sets }}.signature, {{ releases[0].sets }}.signature)){% if not loop.last %}, {% endif %}{% endfor %}) as alone
    from vectors v
    {% for r in releases %}
    left join {{ r.sets }} on {{ r.sets }}.groups = v.{{ r.column }}
    {% endfor %}
),
verdicts as (
    select
        persons,
        len(common) as admitted,
        len(common) < alone and coalesce({% if several %}list_has_any(common, truth){% else %}list_contains(common, truth){% endif %}, false) as learned
    from compared
)
select
    cast(coalesce(sum(persons), 0) as bigint) as persons,
    cast(coalesce(sum(persons) filter (where learned and admitted = 1), 0) as bigint) as certain,
    cast(coalesce(sum(persons) filter (where learned and admitted < {{ least | lit }}), 0) as bigint) as narrowed,
    cast(min(admitted) filter (where learned) as bigint) as fewest
from verdicts

-- name: joined
-- What a join of the new release with an earlier one discloses, on a column that identifies persons
-- in both: how many values both have, and for how many of them the classes of the two leave fewer than
-- k candidates, and fewer than either release alone.
-- parameters: here, there: positions of the column among the marks; release: number of the earlier
-- one; named: whether every value is a person's, not only those that few rows have
{% macro rare(position, of) -%}
select m.marks[{{ position | lit }}] from {% if of %}{{ old_members | ident }} m where m.release = {{ of | lit }} and{% else %}{{ members | ident }} m where{% endif %} m.person is not null group by 1 having count(distinct m.person) < {{ k | lit }}
{%- endmacro %}
with
new_all as (
    select distinct marks[{{ here | lit }}] as mark, class_id
    from {{ members | ident }}
    where person is not null and marks[{{ here | lit }}] is not null
),
old_all as (
    select distinct marks[{{ there | lit }}] as mark, class_id
    from {{ old_members | ident }}
    where release = {{ release | lit }} and person is not null and marks[{{ there | lit }}] is not null
),
new_sizes as (
    select class_id, count(*) as size from new_all group by class_id
),
old_sizes as (
    select class_id, count(*) as size from old_all group by class_id
),
joined as (
    select n.mark, n.class_id as here, o.class_id as there
    from new_all n
    join old_all o on o.mark = n.mark
    {% if not named %}
    where n.mark in ({{ rare(here, 0) }}) or n.mark in ({{ rare(there, release) }})
    {% endif %}
),
candidates as (
    select here, there, count(*) as left_over from joined group by here, there
),
verdicts as (
    select j.mark, min(c.left_over) as fewest, bool_or(c.left_over < {{ k | lit }} and c.left_over < least(n.size, o.size)) as narrowed
    from joined j
    join candidates c on c.here = j.here and c.there = j.there
    join new_sizes n on n.class_id = j.here
    join old_sizes o on o.class_id = j.there
    group by j.mark
)
select count(*) as persons, count(*) filter (where narrowed) as narrowed, min(fewest) as fewest
from verdicts

-- name: digests
-- The person of each row, as a digest keyed with the ledger's secret.
{% from "ledger/_digests" import digested with context %}
create or replace table {{ digests | ident }} as
{{ digested() }}

-- name: numbered
-- The distinct values of the protected columns with their numbers, so that no value is hashed
-- twice. Values of rows that are not published are included.
create or replace table {{ numbered | ident }} as
{% for f in facets %}
select {{ f.column | lit }} as facet, {{ f.numbered }} as value, text
from (
    select distinct {{ f.text_of("value") }} as text
    from (select distinct o.{{ f.physical }} as value from {% if f.rows %}{{ f.rows | ident }}{% else %}{{ original | ident }}{% endif %} o)
    where value is not null
)
{% if not loop.last %}
union all
{% endif %}
{% endfor %}

-- name: members_of_rows
-- What the rows of the further tables add to the members: values and pseudonyms of their persons.
insert into {{ members | ident }}
select distinct
    r.person,
    m.class_id
    {% if pseudonyms %}
    , r.marks
    {% endif %}
    {% for f in own_facets %}
    , cast(null as bigint)
    {% endfor %}
    , false
    {% for f in further_facets %}
    , r.{{ f.truth }}
    {% endfor %}
from {{ rows | ident }} r
join {{ members | ident }} m on m.person = r.person
where {% if further_marks %}r.marks is not null{% if further_facets %} or {% endif %}{% endif %}{% for f in further_facets %}r.{{ f.truth }} is not null{% if not loop.last %} or {% endif %}{% endfor %}

-- name: dictionary
-- The values in the signatures, with their numbers.
create or replace table {{ dictionary | ident }} as
{% for f in facets %}
select facet, value, text
from {{ numbered | ident }}
where facet = {{ f.column | lit }}
    and value in (select {{ f.truth }} from {{ members | ident }} where {{ f.place }} is not null)
{% if not loop.last %}
union all
{% endif %}
{% endfor %}

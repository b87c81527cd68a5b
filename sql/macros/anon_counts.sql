-- Counts of persons by groups, with all totals, of which no small group can be computed: groups of
-- fewer than n persons are left out of the table and its totals, and then the next smallest one
-- where these are fewer than n together; their persons are counted in one row (other). It is the
-- method `rest` of a policy with `aggregate`; equal groups are taken in the order of their labels.
--
-- tbl      name of a table or view
-- by       columns that make groups, a list; a NULL is the group (null)
-- n        fewest persons of a group, at least 3
-- person   the column that identifies the person; default: a row is a person
-- returns  for every group and total: the labels, (all) for a total; persons; status: shown or other
-- empty    no rows
--
-- example  from anon_counts('visits', ['age', 'sex'], 3);
create or replace temp macro anon_counts(tbl varchar, "by" varchar[], n, person := null) as table
from query(
    _anon_with(
        'anon_counts',
        tbl,
        _anon_columns('anon_counts', 'by', "by")
        || case when person is null then [] else _anon_columns('anon_counts', 'person', [person]) end
    )
    || _anon_checked(_anon_at_least('anon_counts', 'n', n, 3))
    || _anon_checked(
        case
            when len(list_filter("by", lambda name: _anon_fold(name) in ('persons', 'status'))) > 0
            then error('anon_counts: by: persons and status are columns of the result (hint: rename the column in a view)')
            else true
        end
    )
    || ', _anon_labels as (select '
    || array_to_string(
        list_transform(
            "by", lambda name, i: 'coalesce(cast(' || _anon_name(name) || ' as varchar), ''(null)'') as _anon_' || i
                || ', coalesce(cast(' || _anon_name(name) || ' as varchar) in (''(all)'', ''(other)'', ''(null)''), false) as _anon_odd_' || i
        ),
        ', '
    )
    || ', ' || case when person is null then '1' else _anon_name(person) end || ' as _anon_person from _anon_source)'
    || ', _anon_groups as materialized (select '
    || array_to_string(list_transform("by", lambda name, i: '_anon_' || i), ', ')
    || ', bool_or(' || array_to_string(list_transform("by", lambda name, i: '_anon_odd_' || i), ' or ') || ') as odd'
    || ', bool_or(_anon_person is null) as nobody, '
    || case when person is null then 'count(*)' else 'count(distinct _anon_person)' end
    || ' as persons from _anon_labels group by '
    || array_to_string(list_transform("by", lambda name, i: '_anon_' || i), ', ')
    || '), _anon_sound as (select case'
    || ' when bool_or(odd) then error(''anon_counts: by: a group is called (all), (other) or (null), which are labels of the macro (hint: rename it in a view)'')'
    || ' when bool_or(nobody) then error(''anon_counts: person: some rows have no person (hint: leave them out in a view)'')'
    || case
        when person is null then ''
        else ' when sum(persons) > (select count(distinct _anon_person) from _anon_labels)'
            || ' then error(''anon_counts: person: some persons are in several groups, so that counts do not add up (hint: choose one row for every person in a view)'')'
    end
    || ' else true end as sound from _anon_groups)'
    || ', _anon_sure as materialized (select * from _anon_groups where coalesce((select sound from _anon_sound), true))'
    || ', _anon_short as (select count(*) as members, coalesce(sum(persons), 0) as short from _anon_sure where persons < ' || n || ')'
    || ', _anon_more as (select * from _anon_sure where persons >= ' || n
    || ' and (select members > 0 and short < ' || n || ' from _anon_short) order by persons, '
    || array_to_string(list_transform("by", lambda name, i: '_anon_' || i), ', ')
    || ' limit 1), _anon_split as materialized (select g.*, g.persons < ' || n
    || ' or m.persons is not null as left_out from _anon_sure as g left join _anon_more as m on '
    || array_to_string(list_transform("by", lambda name, i: 'm._anon_' || i || ' = g._anon_' || i), ' and ')
    || ')'
    || ', _anon_cells as (select '
    || array_to_string(
        list_transform(
            "by", lambda name, i: 'case when grouping(_anon_' || i || ') = 1 then ''(all)'' else _anon_' || i || ' end as '
                || _anon_name(name)
        ),
        ', '
    )
    || ', cast(sum(persons) as bigint) as persons, ''shown'' as status from _anon_split where not left_out group by cube ('
    || array_to_string(list_transform("by", lambda name, i: '_anon_' || i), ', ')
    || ') having count(*) > 0 union all select '
    || array_to_string(list_transform("by", lambda name: '''(other)'''), ', ')
    || ', cast(sum(persons) as bigint), ''other'' from _anon_split where left_out having sum(persons) >= ' || n
    || ') select * from _anon_cells'
    || _anon_else_checked(len("by") + 2)
);

comment on macro table anon_counts is
    'Counts by groups with all totals, none of them small: from anon_counts(table, [columns], n, person := column)';

-- mondrian_identity_reserved, undecided groups: The groups that counts leave undecided and that the search finds to satisfy l: no column has a hitting set of fewer than l values.
create or replace table anon_scratch.main.everybody_searched as
with recursive problems as (
    select row_number() over () as problem, *
    from (
select a.grp, s.col, list(distinct s.codes) as sets
from anon_scratch.main.everybody_verdicts v
join anon_scratch.main.everybody a on a.grp = v.grp
join anon_scratch.main.held_sets s on s.unit = a.unit
where not v.holds and not v.fails
group by a.grp, s.col
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
            where len(chosen) < 1 and len(missed) > 0
        )
    )
    where len(missed) = 0 or len(chosen) < 1
),
met as (
    select problem, chosen from tried where len(missed) = 0
)
select distinct cast(grp as bigint) as grp
from problems
where grp not in (select p.grp from problems p join met m on m.problem = p.problem)

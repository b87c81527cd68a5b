-- mondrian_identity_reserved, undecided halves: Whether the halves that counts leave undecided satisfy l: no column has a hitting set of fewer than l values.
create or replace table anon_scratch.main.halves_searched as
with recursive problems as (
    select row_number() over () as problem, *
    from (
with judged as (
    select t.offer, t.class_id, t.rank, bool_and(v.holds) as holds
    from anon_scratch.main.halves_verdicts v
    join anon_scratch.main.offered_cuts t on t.offer = cast(floor(v.grp / 2) as bigint)
    group by t.offer, t.class_id, t.rank
    having count(*) = 2 and not bool_or(v.fails)
),
known as (
    select class_id, min(rank) as rank from judged where holds group by class_id
)
select j.class_id, j.offer, v.grp, s.col, list(s.codes) as sets
from judged j
left join known k on k.class_id = j.class_id
join anon_scratch.main.halves_verdicts v on cast(floor(v.grp / 2) as bigint) = j.offer
join anon_scratch.main.halves a on a.grp = v.grp
join anon_scratch.main.held_sets s on s.unit = a.unit
where not v.holds and j.rank < coalesce(k.rank, j.rank + 1)
group by j.class_id, j.offer, v.grp, s.col
order by j.offer, v.grp, s.col
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
select cast(p.grp as bigint) as grp, count(m.problem) = 0 as holds
from problems p
left join (select distinct problem from met) m on m.problem = p.problem
group by p.grp

-- danonyir_eir_l, broken proofs: Fewer than l values that hit everybody in a cluster whose proof became invalid, if there are any.
create or replace table anon_scratch.main.found_proofs as
with recursive problems as (
    select row_number() over () as problem, *
    from (
select o.block, s.col, list(distinct s.codes) as sets
from (
    select block, 1 as col, unnest(members) as place
    from anon_scratch.main.grown_clusters
    where proof_1 = [0]
    union all
    select block, 2 as col, unnest(members) as place
    from anon_scratch.main.grown_clusters
    where proof_2 = [0]
) o
join anon_scratch.main.neighbours n on n.block = o.block and n.place = o.place
join anon_scratch.main.held_sets s on s.unit = n.unit and s.col = o.col
group by o.block, s.col
having count(distinct s.codes[1]) filter (where len(s.codes) = 1) < 2
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
),
proofs as (
    select p.block, p.col, min(m.chosen) as chosen
    from problems p
    join met m on m.problem = p.problem
    group by p.block, p.col
)
select cast(block as bigint) as block, cast(col as bigint) as col, unnest(chosen) as value
from proofs

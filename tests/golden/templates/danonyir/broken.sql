-- danonyir_eir_l, broken proofs: The value sets of the open clusters whose proof of failure (fewer than l values that hit every member) became invalid. If l different values are each the only value of some person, no such proof exists, and nothing is searched.
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

-- danonyir_eir_l, clusters after the search: The clusters after the search: those whose proof became invalid have the new one, or none.
create or replace table anon_scratch.main.clusters as
select g.* replace (
    case when g.proof_1 = [0] then f.proof_1 else g.proof_1 end as proof_1,
    case when g.proof_2 = [0] then f.proof_2 else g.proof_2 end as proof_2
)
from anon_scratch.main.grown_clusters g
left join (
    select block
        , cast(list(value order by value) filter (where col = 1) as integer[]) as proof_1
        , cast(list(value order by value) filter (where col = 2) as integer[]) as proof_2
    from anon_scratch.main.found_proofs
    group by block
) f on f.block = g.block

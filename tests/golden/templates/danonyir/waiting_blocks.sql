-- danonyir_eir_l, blocks that waited: The number of blocks that waited for the search and have persons left.
select count(*) from anon_scratch.main.grown_clusters where remaining > 0 and (coalesce(proof_1 = [0], false) or coalesce(proof_2 = [0], false))

-- full_domain_budget, sets that fail: Sets of columns that cannot all be so fine: the shortest failed one of every chain.
create or replace table anon_scratch.main.lattice_learned as
with shortest as (
    select slice, chain, min(place) as place
    from anon_scratch.main.lattice_probed
    where not kept
    group by slice, chain
)
select distinct s.part, s.depth, p.bits
from anon_scratch.main.lattice_probed p
join shortest f on f.slice = p.slice and f.chain = p.chain and f.place = p.place
join (select distinct slice, part, depth from anon_scratch.main.lattice_slices) s on s.slice = p.slice

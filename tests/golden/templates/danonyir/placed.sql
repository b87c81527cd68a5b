-- geneir_alpha_beta, places: The residual persons who join a cluster: as many at once as it takes and still satisfies the guarantees.
create or replace table anon_scratch.main.placed as
with taken as (
    select grp, max(last) as last
    from anon_scratch.main.crowds
    where crowd in (select grp from anon_scratch.main.crowded_verdicts where holds)
    group by grp
)
select a.unit, a.grp
from anon_scratch.main.asking a
join taken t on t.grp = a.grp and a.turn <= t.last

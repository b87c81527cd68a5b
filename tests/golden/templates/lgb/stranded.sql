-- lgb_mdp, rows that no pattern takes: More rows than may be suppressed have a flag pattern that is too rare to be published.
select count(*) as stranded
from anon_scratch.main.coded r
join anon_scratch.main.patterns p on p.pattern = r.pattern
where p.target is null
having count(*) > 0

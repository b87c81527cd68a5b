-- m_invariance, earlier signatures: Persons who stay but whose earlier signature has fewer than m values.
select count(*) as persons, min(v.n) as fewest
from anon_scratch.main.standing s
join (select signature, count(*) as n from anon_scratch.main.history_values group by signature) v on v.signature = s.signature
where v.n < 3
having count(*) > 0

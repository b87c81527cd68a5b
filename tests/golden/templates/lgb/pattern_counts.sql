-- lgb_mdp, patterns of sensitive cells: How many rows share each pattern of sensitive cells (LGB Definition 8, the QI partition).
select pattern, count(*) as n
from anon_scratch.main.coded
group by pattern
order by pattern

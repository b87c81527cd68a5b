-- several_tables, orphans of visits: Rows whose link leads to no row of the table above; a NULL leads nowhere.
select count(*) as orphans
from anon_scratch.main.read_1 r
left join anon_scratch.main.snapshot a on a.identity = r.link
where a.identity is null
having count(*) > 0

-- mondrian_refine, searches left: Whether the swaps since near classes were looked for saved enough to look again.
select count(*) from anon_scratch.main.refine_rounds where saved * 100 > lost

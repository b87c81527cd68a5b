-- m_invariance, enough values: Fewer values than a signature needs.
select count(*) as n from anon_scratch.main.known_values having count(*) < 3

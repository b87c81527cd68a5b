-- m_invariance, open nodes: Nodes that still have several rows of a value.
select count(*) from anon_scratch.main.nodes where copies > 1

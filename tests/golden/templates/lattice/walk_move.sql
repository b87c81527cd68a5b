-- full_domain_budget_c_dm, move walkers: The next node of every walker. Down: the node that holds and loses less, by what it saves in relation to its cost; walkers differ in their cost: units suppressed, classes split (the entropy of two rows being in one class), the size of the smallest class, or nothing. As long as no node holds: any node that may have a finer one that does. Swapping, or at the start: the node that loses least. If there is none, walkers that went down swap, and the others begin a new turn.
create or replace table anon_scratch.main.lattice_walkers as
-- 12 lines of the template, 8ff57a61
    from anon_scratch.main.lattice_reached r
    join anon_scratch.main.lattice_nodes n on n.m0 = r.m0
    join anon_scratch.main.lattice_judged j on j.number = n.number
    where n.number not in (select number from anon_scratch.main.lattice_failed)
-- 11 lines of the template, fa87e01b
    from anon_scratch.main.lattice_walkers w
    left join anon_scratch.main.lattice_nodes n on n.number = w.number
    left join anon_scratch.main.lattice_judged j on j.number = w.number
-- 48 lines of the template, 37c5cb8b
-- 1 branch as in the template, e3ee915a

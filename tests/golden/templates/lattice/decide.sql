-- full_domain_c_dm_persons, nodes still to judge: {% if optimum == "c_dm" %}
    -- merging classes only adds to the sum of their squares: a coarser node loses at least that of a finer one
    and not exists (
        select 1 from anon_scratch.main.lattice_verdicts f
        cross join (select loss from anon_scratch.main.lattice_judged where holds order by loss, number limit 1) best
        where f.squares > best.loss and u.m0 & f.m0 = u.m0
    )

-- privacyfrost_recursive, pre-sampling: Pre-sampling: leave out the rows of classes smaller than k' at the levels of the pre-sampling. The classes themselves are discarded.
create or replace table anon_scratch.main.coded as
with tuples as (
    select c1, c2, count(*) as n
    from anon_scratch.main.coded
    group by c1, c2
),
generalized as (
    select
t.c1, t.c2, 
        d1.code as node_1,
        d2.code as node_2,
        t.n
    from tuples t
    join anon_scratch.main.domain_1 d1 on d1.code = t.c1
    join anon_scratch.main.domain_2 d2 on d2.code = t.c2
),
isolated as (
    select node_1, node_2
    from generalized
    group by node_1, node_2
    having sum(n) < 2
),
removed as (
    select g.c1, g.c2
    from generalized g
    join isolated i on i.node_1 = g.node_1 and i.node_2 = g.node_2
)
select r.*
from anon_scratch.main.coded r
anti join removed x on x.c1 = r.c1 and x.c2 = r.c2

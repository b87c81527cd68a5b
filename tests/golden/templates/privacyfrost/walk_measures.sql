-- privacyfrost_suppressing, levels of the best table: The levels of the table with which the search ended, 0 being the values themselves, its score, an upper bound of the score of all other tables, and how many tables it took to find it, rounded up to a power of ten. Scores are rounded, because they depend on rows that may not be published.
-- 4 lines as in templates/privacyfrost/walk_verdicts.sql, privacyfrost_suppressing, verdicts
levels as (
    select
        max(case when attribute = 0 then 5 - depth end) as l1,
        max(case when attribute = 1 then 1 - depth end) as l2
    from anon_scratch.main.search_state
),
least as (
    select cast(coalesce(sum(lost), 0) as hugeint) as lost
    from (select slice, min(lost) as lost from anon_scratch.main.lattice_subsets group by slice) s
-- 6 lines of the template, 422c1e5d
    join anon_scratch.main.lattice_nodes n on n.l1 = v.l1 and n.l2 = v.l2
    join anon_scratch.main.lattice_judged j on j.number = n.number
    cross join least f
    cross join (select cast(replace(cast(score as varchar), '.', '') as hugeint) as best from top) t
)
select
    12 as lattice_nodes,
    (select cast(power(10, length(cast(count(*) as varchar))) as bigint) from anon_scratch.main.lattice_judged) as lattice_judged,
    -- 4 lines of the template, e035e5ed
    , v.l1 as "level.zip"
    , v.l2 as "level.ward"
from levels v
cross join counted c
-- privacyfrost_budget, levels of the best table: {% if score == "log" %}
    -- only one column counts: the best that any has at a level that is not too fine for it alone
    select b.best - cast(max(cast(replace(cast(score as varchar), '.', '') as hugeint)) as hugeint) as lost
    from (
        select d.merit as score
        from anon_scratch.main.search_depths d
        cross join anon_scratch.main.lattice_limits l
        where d.small <= l.allowed
    ) d
    cross join (select cast(replace(cast(score as varchar), '.', '') as hugeint) as best from top) b
    group by b.best

counts."meant.early.3.n",  -- lgb_ncp, values that may not be meant: {% for _, name in counts %}
-- lgb_ncp, values that may not be meant: {% if counts %}
    (
        select
            count(*) filter (where q2 < cast('1500-01-01' as DATE) and not isinf(q2)) as "meant.early.3.n"
        from anon_scratch.main.snapshot
    ) as counts
-- 1 branch as in the template, af90462c

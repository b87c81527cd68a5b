, case when c2 between 0 and 2 then cast(1 as bigint) << (c2 + 0) else 0 end as w1  -- lgb_promoted_persons, units as points: {% for name, expression in words %}

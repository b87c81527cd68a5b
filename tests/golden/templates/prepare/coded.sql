, case when coalesce(s.f3, true) then 1 else 0 end as pattern  -- lgb_ncp, encode rows: {% if flagged %}
-- 7 branches as in the template, d99b535d

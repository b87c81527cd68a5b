placed  -- masks_with_a_key, encode rows: from {% if copies %}copied{% else %}placed{% endif %} ... {% else %}
row_ref  -- mondrian_many_values, encode rows: {% if parts %}
(select rowid as row_ref, * from anon_scratch.main.snapshot)  -- mondrian_many_values, encode rows: from {% if parts %}(select rowid as row_ref, * from {{ snapshot | ident }}){% else %}{{ snapshot | ident }}{% endif %} s
join anon_scratch.main.codes_part_1 using (row_ref)  -- mondrian_many_values, encode rows: {% for part in parts %}
, case when coalesce(s.f3, true) then 1 else 0 end as pattern  -- lgb_ncp, encode rows: {% if flagged %}
, pattern  -- lgb_ncp, encode rows: {% if flagged %}
, c1  -- m_invariance_persons, encode rows: {% if parts %}
+  -- lgb_parts, encode rows: , {% for a in flagged %}case when coalesce(s.{{ a.f }}, true) then {{ a.bit }} else 0 end{% if not loop.last %} + {% endif %}{% endfor %} as pattern

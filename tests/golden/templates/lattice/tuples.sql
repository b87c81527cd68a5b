+  -- full_domain_ncp, packed tuples: , {% for a in attributes %}{{ a.p }}.{{ word.w }}{% if not loop.last %} + {% endif %}{% endfor %} as {{ word.w }}
-- full_domain_c_dm_persons, packed tuples: {% if persons %}
with records as (
    select t1, t2, t3, count(*) as records
    from anon_scratch.main.coded
    group by t1, t2, t3
)
r.records  -- full_domain_c_dm_persons, packed tuples: {% if persons %}r.records{% else %}u.n{% endif %} as records
join records r on r.t1 = u.t1 and r.t2 = u.t2 and r.t3 = u.t3  -- full_domain_c_dm_persons, packed tuples: {% if persons %}

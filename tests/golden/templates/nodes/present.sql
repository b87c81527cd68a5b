-- lgb_ncp, published values of zip: {% if dealt is not none %}
union
select distinct r3 from anon_scratch.main.coded where r3 is not null

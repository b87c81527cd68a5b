,  -- msb_exact_mbf, write the release: select t.*{% if cells %}, struct_pack({% for name, expression in cells %}{{ name }} := {{ expression }}{% if not loop.last %}, {% endif %}{% endfor %}) as c{% endif %}
join anon_scratch.main.persons p on p.person = r.person  -- msb_persons, write the release: {% if persons %}

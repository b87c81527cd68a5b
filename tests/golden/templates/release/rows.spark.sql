-- mondrian, write the release: The release as on the other engines. Tuples are joined with their classes before the rows are: two joins of the rows, both with tables too large to broadcast, would shuffle every row twice.
-- 6 lines as in plans/mondrian.sql, write the release
join (
    select u.t1, m.class_id
    from anon_scratch.main.units u
    join anon_scratch.main.members m on m.unit = u.unit
) u on u.t1 = r.t1
join anon_scratch.main.cells c on c.class_id = u.class_id
order by r.draw
left join anon_scratch.main.dealt_1 b1 on b1.row_id = r.row_id  -- lgb, write the release: {% for b in buckets_used %}
join anon_scratch.main.persons p on p.person = r.person  -- danonyir, write the release: {% if persons %}
and  -- mondrian_identity_reserved, write the release: ) u on {% for key in keys %}u.{{ key }} = r.{{ key }}{% if not loop.last %} and {% endif %}{% endfor %}

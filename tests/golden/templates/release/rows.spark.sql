-- mondrian, write the release: The release as on the other engines. Tuples are joined with their classes before the rows are: two joins of the rows, both with tables too large to broadcast, would shuffle every row twice.
-- 6 lines as in plans/mondrian.sql, write the release
join (
    select u.t1, m.class_id
    from anon_scratch.main.units u
    join anon_scratch.main.members m on m.unit = u.unit
) u on u.t1 = r.t1
join anon_scratch.main.cells c on c.class_id = u.class_id
order by r.draw
-- 3 branches as in the template, 90019d49

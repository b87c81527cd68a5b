-- mondrian_many_values, partition: {% if thinned %}
-- 4 lines of mondrian/_cuts.sql.j2, acfac3d2
            partition by class_id, attribute, single, floor(128 * n_left / n_all)
            order by cast(gain / sqrt(case when attribute in (1) then least(kept_left, n_all - kept_left) when attribute in (2) then n_all end) as decimal(18, 8)) desc, code
        -- 6 lines of mondrian/_cuts.sql.j2, 55bea8f4
    select * exclude (place) from worthwhile where place = 1 or values_all <= 4
),
-- mondrian_many_values, partition: {% for p in protections %}
ends_1 as (
    select class_id, attribute, value, min(code) as first_code, max(code) as last_code
    from occurrences_1
    where value > 0
    group by class_id, attribute, value
),
different_1 as (
    select class_id, attribute, count(*) as different from ends_1 group by class_id, attribute
),
line_1 as (
    select class_id, attribute, first_code as code, 1 as begun, 0 as ended, 0 as candidate from ends_1
    union all
    select class_id, attribute, last_code, 0, 1, 0 from ends_1
    union all
    select class_id, attribute, code, 0, 0, 1 from candidates where not single
),
told_1 as (
    select class_id, attribute, code, candidate, sum(begun) over below as begun, sum(ended) over below as ended
    from line_1
    -- 6 lines of mondrian/_judged.sql.j2, 70df98ae
judged_1 as (
    select t.class_id, t.attribute, t.code, false as single
    from told_1 t
    join different_1 d on d.class_id = t.class_id and d.attribute = t.attribute
    where t.candidate = 1 and t.begun >= 2 and d.different - t.ended >= 2
    union all
    -- one code against all others: the values that occur there, and all but those that occur only there
    select c.class_id, c.attribute, c.code, true
    from candidates c
    join different_1 d on d.class_id = c.class_id and d.attribute = c.attribute
    join (
        select class_id, attribute, code, count(*) as here
        from occurrences_1
        -- 5 lines of mondrian/_judged.sql.j2, cd62c599
        from ends_1
        where first_code = last_code
        group by class_id, attribute, first_code
    ) e on e.class_id = c.class_id and e.attribute = c.attribute and e.code = c.code
    where c.single and h.here >= 2 and d.different - coalesce(e.only_here, 0) >= 2
),
-- mondrian_dealt, partition: {% if singles %}
    union all
    select c.class_id, c.attribute, c.code, true, w.value, coalesce(o.n, 0), w.n_all
    from candidates_1 c
    join found_1 w on w.class_id = c.class_id
    left join occurrences_1 o on o.class_id = c.class_id and o.attribute = c.attribute and o.code = c.code and o.value = w.value
    where c.single
-- 14 branches as in the template, d18a349c

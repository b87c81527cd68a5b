, lead(h.code) over below as next_code  -- mondrian_persons, partition: {% if levels %}
, p.a1, p.z1, lead(p.a1) over below as next_a1  -- mondrian_persons, partition: {% for level in levels %}
, p.next_code  -- mondrian_persons, partition: {% if levels %}
-- mondrian_persons, partition: {% for level in levels %}
        , p.a1, p.z1
        , f.a1 as first_a1, l.a1 as last_a1, l.z1 as last_z1
        , case when p.code < s.last_code then p.next_a1 end as next_a1
-- mondrian_persons, partition: {% if levels %}
    join anon_scratch.main.positions f on f.attribute = s.attribute and f.code = s.first_code
    join anon_scratch.main.positions l on l.attribute = s.attribute and l.code = s.last_code
values_all,  -- mondrian_many_values, partition: class_id, attribute, code, false as single, level, n_left, n_all,{% if thinned %} values_all,{% endif %}
values_all,  -- mondrian_many_values, partition: select class_id, attribute, code, true, level, n, n_all,{% if thinned %} values_all,{% endif %} units, n, {{ single_gain }}
-- mondrian_many_values, partition: {% if thinned %}
worthwhile as (
    select
        *,
        row_number() over (
            partition by class_id, attribute, single, floor(128 * n_left / n_all)
            order by cast(gain / sqrt(case when attribute in (1) then least(kept_left, n_all - kept_left) when attribute in (2) then n_all end) as decimal(18, 8)) desc, code
        ) as place
    from scored
    where cast(gain as decimal(18, 8)) > 0
),
-- of an attribute with many values in a class, the best cut of every stretch of its rows is judged
candidates as (
    select * exclude (place) from worthwhile where place = 1 or values_all <= 4
),
-- mondrian_many_values, partition: {% if p.distinct %}
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
    window below as (
        partition by class_id, attribute
        order by code, candidate
        rows between unbounded preceding and current row
    )
),
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
        where value > 0
        group by class_id, attribute, code
    ) h on h.class_id = c.class_id and h.attribute = c.attribute and h.code = c.code
    left join (
        select class_id, attribute, first_code as code, count(*) as only_here
        from ends_1
        where first_code = last_code
        group by class_id, attribute, first_code
    ) e on e.class_id = c.class_id and e.attribute = c.attribute and e.code = c.code
    where c.single and h.here >= 2 and d.different - coalesce(e.only_here, 0) >= 2
),
-- mondrian_parts_of_rows, partition: {% if relaxed %}
    -- units that share the median may go to either side; each counts on the side where the cut puts it
    select o.class_id, 1 as attribute, o.code, s.value, cast(sum(s.n) as bigint) as n
    from (
        select
            o.class_id, o.unit,
            case when row_number() over (partition by o.class_id order by o.c1, o.unit) <= c.units_left then c.code else c.code + 1 end as code
        from partition o
        left join candidates c on c.class_id = o.class_id and c.attribute = 1
        where not o.closed
    ) o
    join anon_scratch.main.cells_1 s on s.unit = o.unit
    group by o.class_id, o.code, s.value
-- mondrian_parts_of_rows, partition: {% if p.dense %}
whole_1 as (
    select c.class_id, v.value, coalesce(f.n_all, 0) as n_all
    from (select distinct class_id from found_1) c
    cross join (select value from anon_scratch.main.reference_1) v
    left join found_1 f on f.class_id = c.class_id and f.value = v.value
),
whole_  -- mondrian_parts_of_rows, partition: {% set whole %}{% if p.dense %}whole_{% else %}found_{% endif %}{{ i }}{% endset %}
where not c.single  -- mondrian_dealt, partition: {% if singles %}
-- mondrian_dealt, partition: {% if singles %}
    union all
    select c.class_id, c.attribute, c.code, true, w.value, coalesce(o.n, 0), w.n_all
    from candidates c
    join found_1 w on w.class_id = c.class_id
    left join occurrences_1 o on o.class_id = c.class_id and o.attribute = c.attribute and o.code = c.code and o.value = w.value
    where c.single
-- append_only, partition: {% if shape(a) == "range" and (a.nulls or a.flagged) %}
        , min(case when c2 > 0 then c2 end) as low2, max(c2) as high2
        , max(case when c2 = 0 then 1 else 0 end) as different2
different2  -- append_only, partition: select class_id, cut, is_left, n, {{ i }} as attribute, low{{ i }} as low, high{{ i }} as high, {% if mixed %}different{{ i }}{% else %}0{% endif %} as different
or different2 > 0  -- append_only, partition: where low{{ i }} < high{{ i }}{% if mixed %} or different{{ i }} > 0{% endif %}

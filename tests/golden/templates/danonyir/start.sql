-- danonyir_eir_l, persons of blocks: with {% if own %}held as (
held as (
    select unit, coalesce(list(value order by value) filter (where col = 1 and value > 0), []) as values_1, coalesce(list(value order by value) filter (where col = 2 and value > 0), []) as values_2
    from anon_scratch.main.holdings
    group by unit
),
-- danonyir_eir_l, persons of blocks: {% if verdicts %}
        case
            when m.class_id not in (
                select x.class_id
                from anon_scratch.main.members x
                join anon_scratch.main.pieces a on a.unit = x.unit
                where a.grp not in (select grp from anon_scratch.main.pieces_verdicts where holds union all select grp from anon_scratch.main.pieces_searched)
            ) then floor((row_number() over (partition by m.class_id order by c1, c2, u.unit) - 1)
            * ceil(count(*) over (partition by m.class_id) / 128) / count(*) over (partition by m.class_id))
            else (row_number() over (partition by m.class_id order by h.values_1, h.values_2, c1, c2, u.unit) - 1)
                % ceil(count(*) over (partition by m.class_id) / 128)
        end as piece,
-- 4 branches as in the template, e55cd8ba

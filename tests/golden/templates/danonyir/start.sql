-- danonyir_eir_l, persons of blocks: {% if own %}
, held as (
    select unit, coalesce(list(value order by value) filter (where col = 1 and value > 0), []) as values_1, coalesce(list(value order by value) filter (where col = 2 and value > 0), []) as values_2
    from anon_scratch.main.holdings
    group by unit
)
, h.values_1  -- danonyir_eir_l, persons of blocks: {% for _, name in own %}
join held h on h.unit = u.unit  -- danonyir_eir_l, persons of blocks: {% if own %}
select 1 as class_id, 1 as piece, unit from anon_scratch.main.units  -- danonyir_alpha_beta, persons of blocks: {% if size %} ... {% else %}

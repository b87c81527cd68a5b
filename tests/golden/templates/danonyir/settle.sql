case when c.nearest // 17179869184 <= t.records * cast(2000000000 as hugeint) then cast(c.nearest % 17179869184 as bigint) end as chosen,  -- danonyir_eir_l, place residual persons: {% if whole is not none %}
-- danonyir_alpha_beta, place residual persons: {% if not monotone %}
                        , x.size + y.size as size, x.records + y.records as records
                        , greatest(x.most_records, y.most_records) as most_records
                        , (x.pairs_1 + y.pairs_1) as pairs_1
                        , greatest(x.most_pairs_1, y.most_pairs_1) as most_pairs_1
                        , list_concat(x.values_1, y.values_1) as values_1
                        , (x.known_1 + y.known_1) as known_1
where (case when size >= 2 then (cast(most_pairs_1 as decimal(38, 0)) * 2 <= cast(pairs_1 as decimal(38, 0)) * 1 and cast(most_records as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1) and (known_1 > 0 and cast(coalesce(list_max(map_values(list_histogram(values_1))), 0) as decimal(38, 0)) * 10 <= cast(known_1 as decimal(38, 0)) * 7) else false end)  -- danonyir_alpha_beta, place residual persons: {% if not monotone %}

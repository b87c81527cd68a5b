-- mondrian_identity_reserved, judge: {% if screen %},
,
pairs as materialized (
    select a.grp, h.col, h.person, h.value, h.n
    from anon_scratch.main.everybody a
    join anon_scratch.main.holdings h on h.unit = a.unit
-- 4 lines of the template, 1ea140f9
        count(*) as pairs,
        sum(n) as records,
        min(value) filter (where value > 0) as one_value,
        -- 7 lines of the template, 0a3894ff
        cast(sum(pairs) as bigint) as pairs,
        cast(max(pairs) as bigint) as pairs_most,
        cast(sum(records) as bigint) as records,
        cast(max(records) as bigint) as records_most,
        count(distinct one_value) filter (where known = 1) as alone,
        -- 6 lines of the template, 679db2d2
    select grp, col, count(*) as holders, sum(n) as records
    -- 9 lines of the template, 2d340621
        , cast(sum(holders) as bigint) as known_pairs
        , cast(sum(records) as bigint) as known_records
        , cast(max(records) as bigint) as widest_records
        , cast(list_sum(max(holders, 1)) as bigint) as reach_1
    -- 6 lines of the template, 497e2042
        , coalesce(v.different, 0) as different
        , coalesce(v.known_pairs, 0) as known_pairs
        , coalesce(v.known_records, 0) as known_records
        , coalesce(v.widest, 0) as widest
        , coalesce(v.widest_records, 0) as widest_records
        , coalesce(v.reach_1, 0) as reach_1
    -- 4 lines of the template, f21d3604
    select grp, bool_and((cast(pairs_most as decimal(38, 0)) * 2 <= cast(pairs as decimal(38, 0)) * 1 and cast(records_most as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1) and (known > 0 and cast(widest as decimal(38, 0)) * 10 <= cast(known_pairs as decimal(38, 0)) * 7 and cast(widest_records as decimal(38, 0)) * 10 <= cast(known_records as decimal(38, 0)) * 7) and (known > 0 and (alone >= 2 or reach_1 < known))) as holds, bool_or((not (cast(pairs_most as decimal(38, 0)) * 2 <= cast(pairs as decimal(38, 0)) * 1 and cast(records_most as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1)) or (not (known > 0 and cast(widest as decimal(38, 0)) * 10 <= cast(known_pairs as decimal(38, 0)) * 7 and cast(widest_records as decimal(38, 0)) * 10 <= cast(known_records as decimal(38, 0)) * 7)) or (different < 2 or known < 2 or known - widest + 1 < 2)) as fails
    from counted
    group by grp
)
-- 3 branches as in the template, e642a91a

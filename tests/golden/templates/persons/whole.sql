-- mondrian_identity_reserved, the table as one class: The whole table as one class fails a rule on persons, so every partition would.
with by_person as (
    select
        col, person,
        count(*) as pairs,
        sum(n) as records,
        count(*) filter (where value > 0) as known,
        min(value) filter (where value > 0) as one_value
    from anon_scratch.main.holdings
    group by col, person
),
by_value as (
    select col, count(*) as holders, sum(n) as records
    from anon_scratch.main.holdings
    where value > 0
    group by col, value
),
counted as (
    select
        p.col,
        count(*) as persons,
        count(*) filter (where p.known > 0) as known,
        cast(sum(p.pairs) as bigint) as pairs,
        cast(max(p.pairs) as bigint) as pairs_most,
        cast(sum(p.records) as bigint) as records,
        cast(max(p.records) as bigint) as records_most,
        count(distinct p.one_value) filter (where p.known = 1) as alone,
        coalesce(max(v.different), 0) as different,
        coalesce(max(v.known_pairs), 0) as known_pairs,
        coalesce(max(v.known_records), 0) as known_records,
        coalesce(max(v.widest), 0) as widest,
        coalesce(max(v.widest_records), 0) as widest_records
    from by_person p
    left join (
        select
            col,
            count(*) as different,
            cast(sum(holders) as bigint) as known_pairs,
            cast(sum(records) as bigint) as known_records,
            cast(max(holders) as bigint) as widest,
            cast(max(records) as bigint) as widest_records
        from by_value
        group by col
    ) v on v.col = p.col
    group by p.col
)
select col, known, different, widest from counted where (not (cast(pairs_most as decimal(38, 0)) * 2 <= cast(pairs as decimal(38, 0)) * 1 and cast(records_most as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1)) or (not (known > 0 and cast(widest as decimal(38, 0)) * 10 <= cast(known_pairs as decimal(38, 0)) * 7 and cast(widest_records as decimal(38, 0)) * 10 <= cast(known_records as decimal(38, 0)) * 7)) or (different < 2 or known < 2 or known - widest + 1 < 2)

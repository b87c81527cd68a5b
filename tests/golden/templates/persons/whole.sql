-- mondrian_identity_reserved, the table as one class: The whole table as one class fails a rule on persons, so every partition would.
-- 7 lines of the template, b77e6eb5
    from anon_scratch.main.holdings
    -- 4 lines of the template, 366e6812
    from anon_scratch.main.holdings
    -- 32 lines of the template, c355da49
select col, known, different, widest from counted where (not (cast(pairs_most as decimal(38, 0)) * 2 <= cast(pairs as decimal(38, 0)) * 1 and cast(records_most as decimal(38, 0)) * 2 <= cast(records as decimal(38, 0)) * 1)) or (not (known > 0 and cast(widest as decimal(38, 0)) * 10 <= cast(known_pairs as decimal(38, 0)) * 7 and cast(widest_records as decimal(38, 0)) * 10 <= cast(known_records as decimal(38, 0)) * 7)) or (different < 2 or known < 2 or known - widest + 1 < 2)

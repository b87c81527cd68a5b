-- mondrian_identity_reserved, the table as one class: The whole table as one class fails a rule on persons, so every partition would; a share of a value may count without the persons who may be left out.
-- 7 lines of the template, b77e6eb5
    from anon_scratch.main.holdings
    -- 4 lines of the template, 366e6812
    from anon_scratch.main.holdings
    -- 32 lines of the template, c355da49
select col, known, different, widest, known_pairs from counted where (not (known > 0 and cast(widest as decimal(38, 0)) * 10 <= cast(known_pairs as decimal(38, 0)) * 7 and cast(widest_records as decimal(38, 0)) * 10 <= cast(known_records as decimal(38, 0)) * 7)) or (different < 2 or known < 2 or known - widest + 1 < 2)

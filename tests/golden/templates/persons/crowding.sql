-- mondrian_identity_reserved, persons with too many rows: Persons whose records, or (person, value) pairs, are a larger share of the whole table than a class may have, if they are more than may be left out.
with of_persons as (
    select col, person, sum(n) as records, count(*) as pairs
    from anon_scratch.main.holdings
    -- 6 lines of the template, 837b4598
        cast(records as decimal(38, 0)) * 2 > 1 * sum(records) over (partition by col)
            or cast(pairs as decimal(38, 0)) * 2 > 1 * sum(pairs) over (partition by col) as crowds
    -- 5 lines of the template, 212ffd2d
having count(*) > 0

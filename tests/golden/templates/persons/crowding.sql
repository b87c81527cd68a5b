-- mondrian_identity_reserved, persons with too many rows: Persons whose records, or (person, value) pairs, are a larger share of the whole table than a class may have.
with of_persons as (
    select col, person, sum(n) as records, count(*) as pairs
    from anon_scratch.main.holdings
    group by col, person
),
shares as (
    select
        person, records,
        sum(records) over (partition by col) as all_records,
        cast(records as decimal(38, 0)) * 2 > 1 * sum(records) over (partition by col)
            or cast(pairs as decimal(38, 0)) * 2 > 1 * sum(pairs) over (partition by col) as crowds
    from of_persons
)
select count(distinct person), cast(max(records) as bigint), cast(max(all_records) as bigint)
from shares
where crowds
having count(*) > 0

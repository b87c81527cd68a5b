-- mondrian_dealt, shares of values: The share of every value in the table, and the largest share in a class. Under an ordered distance, consecutive values that hold about one part of the rows are combined.
create or replace table anon_scratch.main.deal_shares as
with placed as (
    select
        value, q, q_size,
        value as bin
    from anon_scratch.main.reference_1
)
select
    value, bin, cast(sum(q) over (partition by bin) as bigint) as q, q_size as total,
    1.0 as most
from placed
-- 1 branch as in the template, 286a9949

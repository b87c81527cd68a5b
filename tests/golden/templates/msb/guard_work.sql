-- msb_exact_mbf, work of the exact mode: The exact choice of one record at a time would take too many comparisons.
select cast(sum(n) as bigint) as records, count(*) as vectors
from anon_scratch.main.msb_buckets
having sum(n) * count(*) > 200000000

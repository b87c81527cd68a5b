-- privacyfrost_recursive, size of the pre-sampling: Refuse a pre-sampling that leaves out more than the limit, or everything.
with counted as (
    select
        (select count(*) from anon_scratch.main.snapshot) as total,
        (select count(*) from anon_scratch.main.coded) as kept
)
select total - kept, total
from counted
where total - kept > floor(cast('0.000000000000' as decimal(18, 12)) * total) or kept = 0

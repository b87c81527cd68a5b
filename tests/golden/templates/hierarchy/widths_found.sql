-- full_domain_ncp, hierarchy_1.widths_found: Divisor hierarchy: the widths of its levels, from the divisors of the largest value. A prime has no divisor to use, so the number after it is divided instead.
create or replace table anon_scratch.main.widths_1 as
with recursive extent as (
    select cast(ceil(points / 1) as bigint) as whole
    from anon_scratch.main.grid_1
-- 34 lines of the template, ee3bd610

kept as (
    select divisor, whole
    from divisors
    where divisor >= 1 or divisor = whole
)

select divisor * 1 as width
from kept
where divisor * 1 > 1 or whole = 1
-- 1 branch as in the template, 365153b8

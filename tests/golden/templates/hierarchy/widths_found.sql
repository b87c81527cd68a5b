-- full_domain_ncp, hierarchy_1.widths_found: Divisor hierarchy: the widths of its levels, from the divisors of the largest value. A prime has no divisor to use, so the number after it is divided instead.
create or replace table anon_scratch.main.widths_1 as
with recursive extent as (
    select cast(ceil(points / 1) as bigint) as whole
    from anon_scratch.main.grid_1
),

candidates as (
    select unnest([whole, whole + 1]) as whole, unnest([0, 1]) as added
    from extent
),

factors as (
    select c.whole, c.added, f.divisor
    from candidates as c
    cross join lateral generate_series(1, cast(floor(sqrt(c.whole)) as bigint)) as f (divisor)
    where c.whole % f.divisor = 0
),

divided as (
    select whole, added, divisor
    from factors
    union
    select whole, added, cast(whole / divisor as bigint)
    from factors
),

chosen as (
    select whole, added, count(*) = 2 and whole > 2 as prime
    from divided
    group by whole, added
),

divisors as (
    select d.whole, d.divisor
    from divided as d
    inner join chosen as given on given.added = 0
    where d.added = case when given.prime then 1 else 0 end
),

kept as (
    select divisor, whole
    from divisors
    where divisor >= 1 or divisor = whole
)

select divisor * 1 as width
from kept
where divisor * 1 > 1 or whole = 1
-- hierarchy_divisor_chain, hierarchy_1.widths_found: {% if chain %}
primes as (
    select d.divisor as prime
    from divisors as d
    left join divisors as smaller
        on smaller.divisor > 1 and smaller.divisor < d.divisor and d.divisor % smaller.divisor = 0
    where d.divisor > 1
    group by d.divisor
    having count(smaller.divisor) = 0
),

kept (divisor, whole) as (
    select min(divisor), whole
    from divisors
    where divisor >= 10 or divisor = whole
    group by whole
    union all
    -- multiply by the largest prime that is left: narrow levels first grow fast, then double
    -- (Postgres has no aggregates over what a recursion has reached)
    select k.divisor * p.prime, k.whole
    from kept as k
    cross join lateral (
        select max(prime) as prime
        from primes
        where cast(k.whole / k.divisor as bigint) % prime = 0
    ) as p
    where p.prime is not null
)

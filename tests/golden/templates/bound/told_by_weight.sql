-- mondrian_weights, least loss of any classes: The same bound for the weighted loss, under its own names, because it does not bound `ncp`.
select ncp_bound as ncp_weighted_bound, ncp_bound_sample as ncp_weighted_bound_sample
from (
with counted as (
    select
        x.r, x.d, x.place, r.cap,
        r.n + sum(x.n) over (partition by x.r order by x.place rows unbounded preceding) as rows_reached
    from anon_scratch.main.bound_near x
    join anon_scratch.main.bound_rows r on r.unit = x.r
),
ends as (
    select
        r,
        min(case when rows_reached >= 2 or place > 32 then d else cap end) as first,
        min(case when place > 32 then d else cap end) as far
    from counted
    group by r
),
reached as (
    select
        t.r, t.least,
        r.n + sum(t.n) over (partition by t.r order by t.least, t.unit rows unbounded preceding) as rows_reached
    from anon_scratch.main.bound_thirds t
    join anon_scratch.main.bound_rows r on r.unit = t.r
),
second as (
    select r, min(least) as least from reached where rows_reached >= 2 group by r
),
bounds as (
    select
        r.unit, r.n,
        -- places in a domain are rounded
        greatest(case when e.r is null then r.cap else greatest(e.first, least(coalesce(s.least, e.far), e.far)) end - 4, 0) as lost
    from anon_scratch.main.bound_rows r
    left join ends e on e.r = r.unit
    left join second s on s.r = r.unit
),
threshold as (
    select coalesce(max(priority), 0) as tau from anon_scratch.main.bound_sample where place > 32
),
weighed as (
    select
        b.n * b.lost / cast(s.weight as double) as share,
        cast(s.weight as double) as weight, t.tau, s.all_weights
    from bounds b
    join anon_scratch.main.bound_sample s on s.unit = b.unit
    cross join threshold t
),
-- as integers, sums do not depend on the order of addition
summed as (
    select
        count(*) as drawn,
        coalesce(sum(cast(floor(share * greatest(weight, tau)) as hugeint)), 0) as lost,
        coalesce(sum(cast(ceil(greatest(weight, tau)) as hugeint)), 0) as weights,
        coalesce(max(cast(all_weights as double)), 0) as all_weights
    from weighed
),
rated as (
    -- what is lost by weight is known better than what is lost by all
    select *, lost / greatest(cast(weights as double), 1) as rate from summed
),
varied as (
    select coalesce(sum(cast(ceil(power(w.share - r.rate, 2) * w.tau * greatest(w.tau - w.weight, 0)) as hugeint)), 0) as variance
    from weighed w
    cross join rated r
)
select
    case when bound < 0.01 then floor(100000 * bound) / 100000 when bound < 0.1 then floor(10000 * bound) / 10000 else floor(1000 * bound) / 1000 end as ncp_bound,
    case when (select max(place) from anon_scratch.main.bound_sample) > 32 then drawn else 0 end as ncp_bound_sample
from (
    select
        r.drawn,
        greatest(r.rate - 3 * sqrt(cast(v.variance as double)) / greatest(cast(r.weights as double), 1), 0) * r.all_weights
            / (cast((select sum(n) from anon_scratch.main.units) as double) * 40000000) as bound
    from rated r
    cross join varied v
) s
) t

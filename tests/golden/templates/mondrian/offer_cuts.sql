-- mondrian_identity_reserved, offer cuts: For every open class, its admissible cuts in the order in which they are judged, best first: the best cut of every class, then a few more of each, and so on.
create or replace table anon_scratch.main.offered_cuts as
with histogram as (
    select class_id, 1 as attribute, c1 as code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
    from anon_scratch.main.open_units
    where not closed
    group by class_id, c1
    union all
    select class_id, 2 as attribute, c2 as code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
    from anon_scratch.main.open_units
    where not closed
    group by class_id, c2
),
placed as (
    select h.class_id, h.attribute, h.code, h.level, h.n, h.units, p.share, p.size

    from histogram h
    join anon_scratch.main.positions p on p.attribute = h.attribute and p.code = h.code
),
-- an attribute with one value in a class cannot be cut there
spans as (
    select
        class_id, attribute,
        cast(sum(n) as bigint) as n_all,
        count(*) as values_all,
        min(code) as first_code,
        max(code) as last_code,
        min(share) as first_share,
        max(share) as last_share
    from placed
    group by class_id, attribute
    having count(*) > 1 and sum(n) >= 4
),
totals as (
    select
        s.*
    from spans s
),
running as (
    select
        p.class_id, p.attribute, p.code, p.level, p.share, p.size, p.n, p.units,
        t.n_all, t.values_all, t.first_code, t.last_code, t.first_share, t.last_share,
        cast(sum(p.n) over below as bigint) as n_left,
        cast(sum(p.units) over below as bigint) as units_left,
        row_number() over below as values_left,
        case when p.code < t.last_code then lead(p.share) over below end as next_share
    from placed p
    join totals t on t.class_id = p.class_id and t.attribute = p.attribute
    window below as (partition by p.class_id, p.attribute order by p.code rows between unbounded preceding and current row)
),
scored as (
    select
        class_id, attribute, code, false as single, level, n_left, n_all,
        units_left,
        n_left as kept_left,
        n_all * case when attribute in (1) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (2) then case when values_all > 1 then values_all / cast(size as double) else 0 end end - n_left * case when attribute in (1) then case when first_code = 0 and code > 0 then (coalesce(share - first_share, 0) * (size - 1) + 1) / size else coalesce(share - first_share, 0) end when attribute in (2) then case when values_left > 1 then values_left / cast(size as double) else 0 end end - (n_all - n_left) * case when attribute in (1) then coalesce(last_share - next_share, 0) when attribute in (2) then case when (values_all - values_left) > 1 then (values_all - values_left) / cast(size as double) else 0 end end as gain
    from running
    where n_left >= 2 and n_all - n_left >= 2 and code < last_code
    union all
    -- one category against all others; those with the first and the last one are among the cuts above
    select class_id, attribute, code, true, level, n, n_all, units, n, n_all * case when attribute in (1) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (2) then case when values_all > 1 then values_all / cast(size as double) else 0 end end - (n_all - n) * case when attribute in (1) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (2) then case when (values_all - 1) > 1 then (values_all - 1) / cast(size as double) else 0 end end
    from running
    where attribute in (2)
        and code > first_code and code < last_code
        and n >= 2 and n_all - n >= 2
        and level < 16
),
-- a cut that saves nothing need not be judged
candidates as (
    select * from scored where cast(gain as decimal(18, 8)) > 0
),
allowed as (
    select
        class_id, attribute, code, single, level, units_left, kept_left, n_all,
        -- cuts by loss may peel values off one by one; late levels are cut in the middle instead
        case when level < 16 then cast(gain as decimal(18, 8)) else least(kept_left, n_all - kept_left) end as merit
    from candidates
),
numbered as (
    select
        class_id, attribute, code, single, units_left, kept_left, n_all,
        row_number() over (partition by class_id order by merit desc, attribute, code, single) as rank
    from allowed
)
select
    row_number() over (order by class_id, rank) as offer,
    *,
    case when rank <= 1 then 1 when rank <= 4 or rank * n_all <= 5000 then 2 when rank <= 16 or rank * n_all <= 50000 then 3 else 4 end as turn
from numbered
-- mondrian_population_of_persons, offer cuts: {% if relaxed %}
        cast(ceil(n_all / 2) as bigint) as units_left,
        cast(ceil(n_all / 2) as bigint) as kept_left,

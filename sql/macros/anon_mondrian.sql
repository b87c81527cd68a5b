-- Partition a table into classes of at least k rows (Mondrian; LeFevre et al. 2006, strict), every
-- class cut where that saves most of the information (normalized certainty penalty; Xu et al.
-- 2006) or in the middle of its widest column, until no cut leaves k rows on both sides.
-- The classes are those of the algorithm `mondrian` of the Python package with `compare: 1` and
-- without hierarchies.
-- One recursive statement: made for up to some ten thousand rows.
--
-- The result still holds the raw values: publish ranges over each class (anon_cells).
--
-- tbl      name of a table or view
-- quasi    its quasi-identifiers, a list of columns; of equally good cuts, that of the earlier
--          column is taken
-- k        fewest rows of a class; more than there are rows is an error
-- split    'loss' or 'median'
-- returns  every row of the table with its class_id, dense from 1
-- empty    no rows
--
-- example  from anon_mondrian('adult', ['age', 'sex', 'education'], 5);
create or replace temp macro anon_mondrian(tbl varchar, quasi varchar[], k, split := 'loss') as table
with recursive coded as materialized (
    from query(
        _anon_coded('anon_mondrian', tbl, _anon_columns('anon_mondrian', 'quasi', quasi), quasi)
        || _anon_checked(_anon_at_least('anon_mondrian', 'k', k, 2))
        || _anon_checked(_anon_one_of('anon_mondrian', 'split', split, ['loss', 'median']))
    )
),
units as (
    select row_number() over (order by _anon_codes) as unit, _anon_codes as codes, count(*) as n
    from coded
    group by _anon_codes
),
limits as (
    select
        case
            when sum(n) < k
            then error('anon_mondrian: k: the table has fewer rows than k (allowed: at most ' || sum(n) || ')')
            -- after so many levels a class is cut in the middle, or rare values could be peeled
            -- off one at a time
            else 2 * ceil(log2(greatest(sum(n) / k, 2))) + 8
        end as loss_levels
    from units
),
places as (
    select distinct
        attribute, place.code as code, place.share as share, place.ordered as ordered,
        case
            when isnan(place.share)
            then error('anon_mondrian: quasi: the column ' || quasi[attribute]
                || ' holds NaN or infinite values (hint: make them NULL, or cast the column to text)')
            else place.size
        end as size
    from (
        select distinct unnest(_anon_places) as place, generate_subscripts(_anon_places, 1) as attribute
        from coded
    )
),
-- a class owns as many positions as it has units, and its number is the first of them:
-- of two halves the left keeps it, the right starts after the units of the left
partition(unit, class_id, class_rows, level, n, codes) using key (unit) as (
    select unit, cast(1 as bigint), cast(sum(n) over () as bigint), 0, n, codes
    from units
    union all (
        with histogram as (
            select class_id, attribute, code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
            from (
                select class_id, level, n, unnest(codes) as code, generate_subscripts(codes, 1) as attribute
                from partition
                where class_rows >= 2 * k
            )
            group by class_id, attribute, code
        ),
        placed as (
            select h.class_id, h.attribute, h.code, h.level, h.n, h.units, p.share, p.size, p.ordered
            from histogram h
            join places p on p.attribute = h.attribute and p.code = h.code
        ),
        -- a column with one value in a class cannot be cut there
        totals as (
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
            having count(*) > 1
        ),
        running as (
            select
                p.class_id, p.attribute, p.code, p.level, p.share, p.size, p.ordered, p.n, p.units,
                t.n_all, t.values_all, t.first_code, t.last_code, t.first_share, t.last_share,
                cast(sum(p.n) over below as bigint) as n_left,
                cast(sum(p.units) over below as bigint) as units_left,
                row_number() over below as values_left,
                lead(p.share) over below as next_share
            from placed p
            join totals t on t.class_id = p.class_id and t.attribute = p.attribute
            window below as (
                partition by p.class_id, p.attribute order by p.code
                rows between unbounded preceding and current row
            )
        ),
        -- the loss of a side is that of the column that is cut
        losses as (
            select
                *,
                case
                    when ordered
                    then _anon_interval_loss(coalesce(last_share - first_share, 0), first_code = 0, size)
                    else _anon_set_loss(values_all, size)
                end as loss_all,
                case
                    when ordered
                    then _anon_interval_loss(coalesce(share - first_share, 0), first_code = 0 and code > 0, size)
                    else _anon_set_loss(values_left, size)
                end as loss_left,
                case
                    when ordered then coalesce(last_share - next_share, 0)
                    else _anon_set_loss(values_all - values_left, size)
                end as loss_right
            from running
        ),
        gains as (
            select
                class_id, attribute, code, ordered, false as single, level, units_left, n_left, n_all,
                case
                    when split = 'loss'
                    then n_all * loss_all - n_left * loss_left - (n_all - n_left) * loss_right
                    else coalesce(last_share - first_share, 0)
                end as gain
            from losses
            where n_left >= k
                and n_all - n_left >= k
                and code < last_code
                and (split = 'loss' or (2 * n_left >= n_all and 2 * (n_left - n) < n_all))
            union all
            -- one category against all others; those with the first and the last one are among the cuts above
            select
                class_id, attribute, code, ordered, true, level, units, n, n_all,
                n_all * loss_all - (n_all - n) * _anon_set_loss(values_all - 1, size)
            from losses
            where split = 'loss'
                and not ordered
                and code > first_code
                and code < last_code
                and n >= k
                and n_all - n >= k
                and level < (select loss_levels from limits)
        ),
        merits as (
            select
                class_id, attribute, code, single, units_left, n_left,
                case
                    when split = 'median' then cast(gain as decimal(18, 8))
                    -- a thin slice of a range leaves fewer rows in classes too small to be cut again
                    when level < (select loss_levels from limits)
                    then cast(
                        gain / sqrt(case when ordered then least(n_left, n_all - n_left) else n_all end) as decimal(18, 8)
                    )
                    else least(n_left, n_all - n_left)
                end as merit
            from gains
            where split = 'median' or cast(gain as decimal(18, 8)) > 0
        ),
        best as (select class_id, max(merit) as merit from merits group by class_id),
        cuts as (
            select m.*
            from merits m
            join best b on b.class_id = m.class_id and b.merit = m.merit
            qualify row_number() over (partition by m.class_id order by m.attribute, m.code, m.single) = 1
        )
        select
            unit,
            case when is_left then class_id else class_id + units_left end,
            case when is_left then n_left else class_rows - n_left end,
            level + 1,
            n,
            codes
        from (
            select
                o.*, t.units_left, t.n_left,
                case
                    when t.single then o.codes[t.attribute] = t.code else o.codes[t.attribute] <= t.code
                end as is_left
            from partition o
            join cuts t on t.class_id = o.class_id
        )
    )
)
select r.* exclude (_anon_codes, _anon_places), m.class_id
from coded r
join (select codes, dense_rank() over (order by class_id) as class_id from partition) m on m.codes = r._anon_codes
where (select loss_levels from limits) > 0;

comment on macro table anon_mondrian is
    'Classes of at least k rows that lose least: from anon_mondrian(table, [columns], k, split := ''loss'')';

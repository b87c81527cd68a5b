-- What a cell loses by being published as an interval or as a set (normalized certainty penalty;
-- Xu et al. 2006).

-- An interval of the given width, a share of the column's range. Where it mixes with NULL, that
-- counts as one more of the `size` values of the domain.
create or replace temp macro _anon_interval_loss(width, mixed, size) as
    case when mixed then (width * (size - 1) + 1) / size else width end;

-- A set of so many of the `size` categories; a single one loses nothing.
create or replace temp macro _anon_set_loss(members, size) as
    case when members > 1 then members / cast(size as double) else 0 end;

-- The loss of one column's cells, as the text of a query that returns n (rows) and ncp by class.
-- Values that are infinite have no place in the range; a class that reaches one spans all of it.
create or replace temp macro _anon_column_loss(macro_name, name, class) as
    'with parts as (select class, value, label, n, ' || _anon_kind(macro_name, name, 'value')
    || ' as kind from (select ' || _anon_name(class) || ' as class, ' || _anon_name(name) || ' as value, '
    || _anon_label(_anon_name(name)) || ' as label, count(*) as n from _anon_source group by all)), '
    || 'placed as (select *, case kind when ''numeric'' then try_cast(value as double)'
    || ' when ''date'' then cast(epoch_us(' || _anon_instant('value') || ') as double) end as place from parts), '
    || 'whole as (select count(distinct label) + max(case when label is null then 1 else 0 end) as size,'
    || ' min(place) filter (where isfinite(place)) as first_place,'
    || ' max(place) filter (where isfinite(place)) as last_place from placed), '
    || 'boxes as (select class, cast(sum(n) as bigint) as n, max(kind) as kind, count(*) as members,'
    || ' min(place) as lo, max(place) as hi from placed group by class) '
    || 'select n, case when kind = ''categorical'' then _anon_set_loss(members, size)'
    || ' when lo is null or lo = hi or first_place is null then 0'
    || ' when not isfinite(lo) or not isfinite(hi) then 1'
    || ' else (hi - lo) / (last_place - first_place) end as ncp from boxes cross join whole';

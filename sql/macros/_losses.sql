-- What a cell loses by being published as an interval or as a set (normalized certainty penalty;
-- Xu et al. 2006).

-- An interval of the given width, a share of the column's range. Where it mixes with NULL, that
-- counts as one more of the `size` values of the domain.
create or replace temp macro _anon_interval_loss(width, mixed, size) as
    case when mixed then (width * (size - 1) + 1) / size else width end;

-- A set of so many of the `size` categories; a single one loses nothing.
create or replace temp macro _anon_set_loss(members, size) as
    case when members > 1 then members / cast(size as double) else 0 end;

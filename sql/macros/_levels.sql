-- The steps of a hierarchy: one or more numbers above 0 that go from fine to coarse.
create or replace temp macro _anon_steps(macro_name, argument, steps) as (
    case
        when coalesce(len(steps), 0) = 0
        then error(macro_name || ': ' || argument || ': is empty (allowed: a list with one level or more)')
        when len(list_filter(steps, lambda step: step is null or not step > 0)) > 0
        then error(macro_name || ': ' || argument || ': holds a NULL, or a number that is not above 0')
        when len(list_filter(range(2, len(steps) + 1), lambda i: steps[i] <= steps[i - 1])) > 0
        then error(macro_name || ': ' || argument || ': must go from the finest level to the coarsest, each level once')
        else steps
    end
);

-- Widths of which each is a multiple of the one before.
create or replace temp macro _anon_nested(macro_name, argument, widths) as (
    case
        when len(list_filter(range(2, len(widths) + 1), lambda i: widths[i] % widths[i - 1] <> 0)) > 0
        then error(macro_name || ': ' || argument || ': levels would not nest (allowed: each a multiple of the one before)')
        else widths
    end
);

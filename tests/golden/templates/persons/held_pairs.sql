-- mondrian_population_of_persons, pairs of persons and values: The values of every person, for the bounds on hitting sets: every (person, value) pair, and every person who has a value once more, as a holder of 0.
create or replace table anon_scratch.main.held_pairs as
select unit, col, unnest(codes) as value, len(codes) = 1 as alone from anon_scratch.main.held_sets
union all
select unit, col, 0, false from anon_scratch.main.held_sets

, min(c1) as c1, min(c2) as c2  -- mondrian_population_of_persons, distinct tuples: select {{ keys | join }}{% if codes %}, {{ codes | join }}{% endif %}, {{ count }} as n, min(draw) as draw

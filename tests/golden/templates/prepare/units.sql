, min(c1) as c1  -- masks, distinct tuples: select {{ keys | join }}{% if codes %}, {{ codes | join }}{% endif %}, {{ count }} as n, min(draw) as draw

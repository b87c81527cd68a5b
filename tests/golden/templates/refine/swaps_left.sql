-- mondrian_tree_distance, swaps left: Whether another round may save something, and is allowed.
select count(*) from anon_scratch.main.refine_rounds where swaps > 0 and number < 4

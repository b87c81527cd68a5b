-- mondrian_many_rows, open classes: By how many units the classes that may still be cut exceed what one statement can cut up.
select greatest(count(*) - 8, 0) from anon_scratch.main.open_units

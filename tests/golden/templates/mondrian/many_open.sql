-- mondrian_many_rows, open classes: How many units too many are in classes that may still be cut, for one statement to cut them all up.
select greatest(count(*) - 8, 0) from anon_scratch.main.open_units

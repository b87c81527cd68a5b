-- mondrian_driven_median, open classes: How many units are in classes that may still be cut.
select count(*) from anon_scratch.main.open_units

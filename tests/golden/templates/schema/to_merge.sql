-- several_tables, classes merged: How many classes broke a rule and were merged with others.
select count(*) from anon_scratch.main.failing_classes where classes > 1

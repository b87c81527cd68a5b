-- several_tables, no class breaks a rule yet: The empty table of classes that break a rule.
create or replace table anon_scratch.main.failing_classes as
select class_id, 0 as classes from anon_scratch.main.members where false

-- lgb_ncp, units in no group: How many units of classes that are divided are in no group yet.
select count(*) from anon_scratch.main.dealt where is_left is null

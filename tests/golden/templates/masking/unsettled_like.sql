-- masks, tokens of patient to settle: How many values have no token yet that is no value of the column; none after the last try.
select count(*) from anon_scratch.main.tokens_run where not settled and tweak < 20

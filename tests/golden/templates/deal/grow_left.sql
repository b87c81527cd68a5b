-- mondrian_dealt_driven, units left to deal: Units that may still join a new class.
select count(*) from anon_scratch.main.deal_grown where not taken

-- mondrian_identity_reserved, cuts to try: How many cuts are left to try.
select count(*) from anon_scratch.main.offered_cuts where turn > 0

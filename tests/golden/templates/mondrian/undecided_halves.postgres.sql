-- mondrian_identity_reserved, undecided halves: The persons' value sets of the halves that counts leave undecided, one list of sets per column; the best cuts of a class first, and none after one that is already known to hold. (Sets differ in length, which arrays within an array of Postgres may not.)
-- 10 lines as in templates/mondrian/undecided_halves.sql, mondrian_identity_reserved, undecided halves
select j.class_id, j.offer, v.grp, s.col, jsonb_agg(s.codes) as sets
-- 9 lines as in templates/mondrian/undecided_halves.sql, mondrian_identity_reserved, undecided halves

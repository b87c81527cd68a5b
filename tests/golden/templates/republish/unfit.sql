-- m_invariance, one value per person: Rows that cannot take part: without a sensitive value, or a second row of a person.
select count(*) - count(s1) as empty, 0 as repeated
from anon_scratch.main.coded
having count(*) - count(s1) > 0 or 0 > 0

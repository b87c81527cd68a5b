-- msb_persons, one value of ill per person: Persons whose rows differ in one sensitive column.
select count(*) as persons
from (
    select person
    from anon_scratch.main.coded
    group by person
    having min(s1) <> max(s1) or count(s1) not in (0, count(*))
)
having count(*) > 0

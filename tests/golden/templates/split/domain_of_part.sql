-- lgb_parts, values of age in a part: The values of one quasi-identifier that a part has. Shares and sizes are those of the whole table.
select *
from anon_scratch.main.domain_1
where code in (select c1 from anon_scratch.main.units where unit between $first and $last)

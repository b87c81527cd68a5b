-- An age, and one category for all ages over 89 (HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(C)).
--
-- age      in years; NULL stays NULL
-- returns  text: the age, or `90+`
--
-- example  select anon_age89(age) as age from adult;
create or replace temp macro anon_age89(age) as
    case when age >= 90 then '90+' else cast(age as varchar) end;

comment on macro anon_age89 is 'An age, all over 89 as one category: anon_age89(age)';

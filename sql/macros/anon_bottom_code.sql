-- Bottom-coding: values below a bound become one category.
--
-- value    a number, date or text; NULL stays NULL
-- bottom   the first value above the category
-- returns  text: the value, or `< 18`
--
-- example  select anon_bottom_code(age, 18) as age from adult;
create or replace temp macro anon_bottom_code(value, bottom) as
    case
        when value < _anon_given('anon_bottom_code', 'bottom', bottom) then '< ' || bottom
        else cast(value as varchar)
    end;

comment on macro anon_bottom_code is
    'Values below a bound as one category: anon_bottom_code(value, bottom)';

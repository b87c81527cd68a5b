-- Top-coding: values from a bound on become one category.
--
-- value    a number, date or text; NULL stays NULL
-- top      the first value of the category
-- returns  text: the value, or `>= 90`
--
-- example  select anon_top_code(age, 90) as age from adult;
create or replace temp macro anon_top_code(value, top) as
    case
        when value >= _anon_given('anon_top_code', 'top', top) then '>= ' || top
        else cast(value as varchar)
    end;

comment on macro anon_top_code is 'Values from a bound on as one category: anon_top_code(value, top)';

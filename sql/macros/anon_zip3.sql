-- The first three digits of a US ZIP code, and 000 where fewer than 20,001 people live
-- (HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(B)). Check the list against the current census:
-- the one here, of the census of 2000, is the one in the guidance of the US Department of Health
-- and Human Services (2012).
--
-- zip      a ZIP code: text of 5 or 9 digits, or a number; anything else becomes 000, NULL stays
-- sparse   the areas of three digits that become 000
-- returns  text of three digits
--
-- example  select anon_zip3('02139') as zip;
create or replace temp macro anon_zip3(
    zip,
    sparse := [
        '036', '059', '063', '102', '203', '556', '692', '790', '821', '823', '830', '831', '878',
        '879', '884', '890', '893'
    ]
) as
    case
        when sparse is null then error('anon_zip3: sparse: is NULL (allowed: a list of texts of three digits)')
        when zip is null then null
        when not regexp_full_match(_anon_zip(zip), '[0-9]{5}(-?[0-9]{4})?') then '000'
        when list_contains(sparse, left(_anon_zip(zip), 3)) then '000'
        else left(_anon_zip(zip), 3)
    end;

comment on macro anon_zip3 is
    'First three digits of a ZIP code, 000 where few people live: anon_zip3(zip, sparse := [...])';

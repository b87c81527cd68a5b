-- mondrian_refine, codes of units: The codes of every unit, one row per attribute.
create or replace table anon_scratch.main.refine_codes as
select unit, 1 as attribute, c1 as code from anon_scratch.main.units
union all
select unit, 2 as attribute, c2 as code from anon_scratch.main.units
union all
select unit, 3 as attribute, c3 as code from anon_scratch.main.units
union all
select unit, 4 as attribute, c4 as code from anon_scratch.main.units

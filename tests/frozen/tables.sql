-- `patient` determines all that a person is known by; some wards and dates of birth are not known
create table people as
select
    cast(i as integer) as visit, cast(i // 2 as integer) as patient,
    cast(20 + (i // 2 * 7) % 13 as integer) as age,
    cast([null, '2000-01-01', '2000-03-07', '2001-11-30'][1 + i // 2 % 4] as date) as born,
    '101' || lpad(cast(i // 2 % 8 as varchar), 2, '0') as zip,
    ['m', 'f'][1 + i // 2 % 2] as sex, ['A', 'B', null][1 + i // 2 % 3] as ward, i % 4 = 0 as hide,
    ['flu', 'cold', 'acne', 'gout'][1 + (i + i // 12) % 4] as ill,
    cast(i * 37 % 50 / 4.0 as decimal(8, 2)) as cost,
    case i % 9 when 0 then 'mail p' || i || '@example.org' when 1 then 'call 030 1234567' else 'seen' end as note
from range(120) t(i);
create table patients as
select
    cast(1000 + p * 37 % 997 as integer) as patient_id, 'Name ' || p as name,
    date '1950-01-01' + cast(p * 613 % 9000 as integer) as birth_date, ['m', 'f'][1 + p % 2] as sex,
    '1' || lpad(cast(p * 7 % 40 as varchar), 3, '0') as zip, p % 5 = 0 as died
from range(100) t(p);
create table visits as
select
    cast(5000 + v as integer) as visit_id, cast(1000 + v // 2 * 37 % 997 as integer) as patient_id,
    date '2024-01-01' + cast(v * 11 % 200 as integer) as day, ['north', 'south', 'east'][1 + v % 3] as ward,
    ['flu', 'gout', 'acne', 'cold'][1 + (v + v // 7) % 4] as diagnosis
from range(200) t(v);
create table labs as
select cast(5000 + l * 3 % 200 as integer) as visit_id, ['HIV', 'iron', 'CRP'][1 + l * 5 % 3] as test, l % 6 as value
from range(180) t(l);
create table stays as
select
    cast(i as integer) as id, 'Name ' || i as name, '0301' || (100 + i % 40) as zip,
    date '1930-01-01' + cast(i * 311 % 20000 as integer) as born,
    cast(18 + i * 7 % 80 as integer) as age, date '2023-03-01' + cast(i as integer) as seen, ['a', 'b'][1 + i % 2] as kind,
    i as telephone, i as fax, i as mail, i as ssn, i as medical_record, i as health_plan, i as account, i as licence, i as vehicle, i as device, i as url, i as ip, i as biometric, i as photograph, i as other
from range(100) t(i);
create table persons as select * from people where visit % 2 = 0;

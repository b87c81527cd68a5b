-- several_tables, encode visits: The rows of a table with the codes of their events, and draws that follow from those of their persons: the secret is in no other statement than theirs.
create or replace table anon_scratch.main.coded_1 as
with placed as (
    select
        r.rowid as row_ref, r.above, r.person as owner, r.identity, p.draw as person_draw
        , d1001.code as c1001
        , d1002.code as c1002
    from anon_scratch.main.rows_1 r
    join anon_scratch.main.coded p on p.row_ref = r.person
    join anon_scratch.main.domain_1001 d1001 on d1001.value is not distinct from r.q1001
    join anon_scratch.main.domain_1002 d1002 on d1002.value is not distinct from r.q1002
)
select
    row_ref, above, owner,
    md5_number(concat(hex(person_draw), ':', 'visits', ':', identity)) as draw
    , c1001
    , c1002
from placed
, row_number() over (partition by r.person, r.identity) as copy  -- several_tables, encode labs: {% if copies %}
, ':', copy  -- several_tables, encode labs: md5_number(concat(hex(person_draw), ':', {{ name | lit }}, ':', identity{% if copies %}, ':', copy{% endif %})) as draw

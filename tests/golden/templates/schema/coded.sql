-- several_tables_everybody_reserved, encode visits: The rows of a table with the codes of their events, and draws that follow from those of their persons: the secret is in no other statement than theirs.
create or replace table anon_scratch.main.coded_1 as
with placed as (
    select
        r.rowid as row_ref, r.above, r.person as owner, r.identity, p.draw as person_draw
        , d100001.code as c100001
        , d100002.code as c100002
    from anon_scratch.main.rows_1 r
    join anon_scratch.main.coded p on p.row_ref = r.person
    join anon_scratch.main.domain_100001 d100001 on d100001.value is not distinct from r.q100001
    join anon_scratch.main.domain_100002 d100002 on d100002.value is not distinct from r.q100002
)
select
    row_ref, above, owner,
    md5_number(concat(hex(person_draw), ':', 'visits', ':', identity)) as draw
    , c100001
    , c100002
from placed
-- 2 branches as in the template, a6641792

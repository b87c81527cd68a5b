-- several_tables_everybody_reserved, publish the rows: The release: the rows of the link in their order, without the references to their originals.
create or replace table anon_scratch.main.staged as
select * exclude ("row_ref")
from anon_scratch.main.link

-- full_domain_sets, classes of nodes: As `classes`, for all columns together. They may be small: only the classes of the sets are judged.
-- 12 lines as in plans/full_domain.sql, classes of nodes
select *, row_number() over () as class_id, true as published
from grouped

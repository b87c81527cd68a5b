-- hierarchy_taxonomy, hierarchy_1.read_table: The rows of a taxonomy table, each as a JSON object of texts in the order of the columns.
select to_json(line) as line
from (
    select columns(*)::varchar
    from "s"."codes"
) as line

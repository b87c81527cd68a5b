select visit_id, patient, age, zip, sex, admitted, disease
from {{ ref("raw_visits") }}

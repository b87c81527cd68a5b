{{ config(materialized="anonymized", policy="policies/visits.yml") }}

select visit_id, patient, age, zip, sex, admitted, disease
from {{ ref("stg_visits") }}

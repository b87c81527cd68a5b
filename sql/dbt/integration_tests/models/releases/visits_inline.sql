{{ config(
    materialized="anonymized",
    policy={
        "privacy": {"k_anonymity": 3},
        "algorithm": {"name": "mondrian", "split": "median"},
        "columns": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "patient": {"role": "drop"}},
        "person": "patient",
        "merge_person_rows": true,
    },
) }}

select age, sex, patient
from {{ ref("stg_visits") }}
where age is not null

"""Write anonymizer/data/hospital/: a made-up hospital of three tables, from nothing but md5.

No row is about anybody. Every figure is a digest of its number, with weights as in life: some
diagnoses and wards are common, some rare; some patients never come, a few come often.
`python tools/make_hospital_data.py` makes the same files with every version of DuckDB.
"""

# ruff: noqa: E501  (lists of words stay on one line)

from __future__ import annotations

from pathlib import Path

import duckdb

FOLDER = Path(__file__).parent.parent / "anonymizer" / "data" / "hospital"
PATIENTS = 1500

DRAWS = """
create macro draw(what, n) as (('0x' || substr(md5(what || ' ' || n), 1, 12))::bigint % 1000000) / 1000000;
create macro pick(what, n, list) as list[1 + floor(draw(what, n) * len(list))::int];
-- the first of a list are more common
create macro skew(what, n, list) as list[1 + floor(pow(draw(what, n), 2.2) * len(list))::int];
"""
TABLES = {
    "patients": f"""
        select
            n as patient_id,
            pick('first', n, ['Ada', 'Ben', 'Cleo', 'Dan', 'Eva', 'Finn', 'Gwen', 'Hugo', 'Iris', 'Jon', 'Kay', 'Leo'])
                || ' ' || pick('last', n, ['Abel', 'Brandt', 'Cole', 'Diaz', 'Engel', 'Fox', 'Gray', 'Hahn', 'Ito', 'Jones', 'Kim', 'Lind']) as name,
            date '2024-12-31' - cast(floor(pow(draw('age', n), 0.75) * 34000) as int) as birth_date,
            pick('sex', n, ['female', 'male']) as sex,
            '10' || skew('zip', n, ['1', '2', '3', '4', '5']) || pick('zip4', n, ['1', '5', '7', '9']) || pick('zip5', n, ['0', '3', '6']) as zip,
            draw('died', n) < 0.06 as died
        from range(1, {PATIENTS} + 1) r(n)""",
    "visits": """
        select
            row_number() over (order by p.patient_id, v) + 20000 as visit_id,
            p.patient_id,
            date '2024-01-01' + cast(floor(draw('day', p.patient_id * 100 + v) * 366) as int) as day,
            skew('ward', p.patient_id * 100 + v, ['emergency', 'internal', 'surgery', 'cardiology', 'orthopaedics', 'obstetrics', 'oncology', 'psychiatry']) as ward,
            skew('diagnosis', p.patient_id * 100 + v, ['hypertension', 'influenza', 'fracture', 'diabetes', 'asthma', 'gastritis', 'migraine', 'anaemia', 'depression', 'angina', 'hepatitis', 'HIV']) as diagnosis,
            round(80 + 4000 * pow(draw('cost', p.patient_id * 100 + v), 3), 2) as cost
        from patients p, range(0, 9) t(v)
        where v < floor(pow(draw('visits', p.patient_id), 1.8) * 9)""",
    "labs": """
        select
            v.visit_id,
            skew('test', v.visit_id * 10 + l, ['blood count', 'glucose', 'lipids', 'CRP', 'creatinine', 'troponin', 'TSH', 'HIV antibody']) as test,
            round(1 + 99 * draw('value', v.visit_id * 10 + l), 1) as value
        from visits v, range(0, 3) t(l)
        where l < floor(draw('labs', v.visit_id) * 4)""",
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with duckdb.connect() as made:
        for statement in filter(str.strip, DRAWS.split(";\n")):
            made.execute(statement)
        for name, query in TABLES.items():
            made.execute(f"create table {name} as {query}")
            made.execute(
                f"copy (from {name} order by all) to '{FOLDER}/{name}.parquet' (compression zstd)"
            )
            print(name, made.execute(f"select count(*) from {name}").fetchall()[0][0])


if __name__ == "__main__":
    main()

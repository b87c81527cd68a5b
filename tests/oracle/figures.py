"""The running example of Li and He (2022), in the published text grammar.

Fig. 1(b) is the table (True: the cell is flagged as sensitive; the age of record 1002, lost in
print, is 25), Fig. 2 a release of it with k = 2 and l = 2, Fig. 4 its bucketized half, where
nothing is generalized and each record matches itself alone (the print has Male for 1002 there).
"""

from __future__ import annotations

from typing import Any

from tests.oracle.lgb import Requirements, Rule

FLAGGED = ("age", "zip")
ZIP_PATHS = {
    code: (code[:4] + "*", code[:3] + "**", code[:2] + "***", code[:1] + "****", "*")
    for code in ("21357", "21344", "21352", "21336", "21328", "21358", "21340")
}
REQUIREMENTS = Requirements(
    k=2,
    kinds={"age": "numeric", "gender": "categorical", "zip": "categorical"},
    rules={"age": Rule(l=2), "zip": Rule(l=2), "disease": Rule(l=2)},
)

_SOURCE = """
1001 28 No  Male   21357 Yes Bronchitis
1002 25 No  Female 21344 Yes Gastritis
1003 16 No  Male   21352 No  Dyspepsia
1004 24 Yes Male   21336 No  Pneumonia
1005 31 Yes Female 21328 No  Hepatitis
1006 22 No  Male   21358 No  Flu
1007 29 Yes Female 21328 No  Pneumonia
1008 34 Yes Male   21340 No  Bronchitis
"""

_FIG2 = """
1001 1 [25,_28] - *      21344 1 Bronchitis 1
1002 1 [25,_28] - *      21357 1 Gastritis  1
1003 2 [16,_22] - Male   2135* - Dyspepsia  2
1004 3 24       1 Male   213** - Pneumonia  2
1005 4 31       1 Female 21328 - Flu        3
1006 2 [16,_22] - Male   2135* - Hepatitis  3
1007 4 29       2 Female 21328 - Bronchitis 4
1008 3 34       2 Male   213** - Pneumonia  4
"""

_FIG4 = """
1001 1 28 - Male   21344 1 Bronchitis 1
1002 2 25 - Female 21357 1 Gastritis  1
1003 3 16 - Male   21352 - Dyspepsia  2
1004 4 24 1 Male   21336 - Pneumonia  2
1005 5 31 1 Female 21328 - Flu        3
1006 6 22 - Male   21358 - Hepatitis  3
1007 7 29 2 Female 21328 - Bronchitis 4
1008 8 34 2 Male   21340 - Pneumonia  4
"""


def _release(text: str) -> list[dict[str, Any]]:
    columns = ("id", "class_id", "age", "age_bucket", "gender", "zip", "zip_bucket")
    names = (*columns, "disease", "disease_bucket")
    rows = [dict(zip(names, line.split(), strict=True)) for line in text.strip().splitlines()]
    return [
        {
            name: int(value)
            if name in ("id", "class_id")
            else (None if value == "-" else int(value))
            if name.endswith("_bucket")
            else value.replace("_", " ")
            for name, value in row.items()
        }
        for row in rows
    ]


def _source() -> list[dict[str, Any]]:
    rows = []
    for line in _SOURCE.strip().splitlines():
        key, age, hide_age, gender, code, hide_zip, disease = line.split()
        rows.append(
            {
                "id": int(key),
                "age": int(age),
                "hide_age": hide_age == "Yes",
                "gender": gender,
                "zip": code,
                "hide_zip": hide_zip == "Yes",
                "disease": disease,
            }
        )
    return rows


SOURCE: list[dict[str, Any]] = _source()
FIG2: list[dict[str, Any]] = _release(_FIG2)
FIG4: list[dict[str, Any]] = _release(_FIG4)

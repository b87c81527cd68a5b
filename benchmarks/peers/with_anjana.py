"""anjana: greedy full-domain generalization over hierarchies, 5 % suppression."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
from anjana.anonymity import k_anonymity
from timing import report, task, timed

given = task()
quasi = given["quasi"]
frame = pd.read_parquet(given["table"])[quasi]
for name in quasi:
    frame[name] = frame[name].astype(str)
hierarchies = {}
for name in quasi:
    with Path(given["hierarchies"][name]).open(newline="") as handle:
        rows = list(csv.reader(handle, delimiter=";"))
    present = set(frame[name])
    rows = [row for row in rows if row[0] in present]
    hierarchies[name] = {
        level: np.array([row[level] for row in rows]) for level in range(len(rows[0]))
    }
released, figures = timed(lambda: k_anonymity(frame, [], quasi, given["k"], 5, hierarchies))
out = released[quasi].astype(str)
out["copies"] = 1
out.to_parquet(given["out"])
report(figures | {"classes": len(out.drop_duplicates(quasi))})

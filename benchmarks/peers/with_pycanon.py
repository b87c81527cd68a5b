"""pycanon: checks only. k, distinct l and t of occupation over the other columns."""

from __future__ import annotations

import pandas as pd
from pycanon import anonymity
from timing import report, task, timed

given = task()
quasi = [name for name in given["quasi"] if name != "occupation"]
frame = pd.read_parquet(given["table"])[[*quasi, "occupation"]]
frame["age"] = frame["age"] // 10 * 10
figures = {}
for name, call in {
    "k": lambda: anonymity.k_anonymity(frame, quasi),
    "distinct l": lambda: anonymity.l_diversity(frame, quasi, ["occupation"]),
    "t": lambda: anonymity.t_closeness(frame, quasi, ["occupation"]),
}.items():
    achieved, took = timed(call)
    figures[name] = {"achieved": float(achieved), **took}
report(figures)

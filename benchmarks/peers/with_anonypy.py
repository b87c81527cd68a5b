"""anonypy: Mondrian over a pandas frame. It publishes one row per class with a count."""

from __future__ import annotations

import anonypy
import pandas as pd
from timing import report, task, timed

given = task()
quasi = given["quasi"]
frame = pd.read_parquet(given["table"])[quasi]
frame["sensitive"] = "x"
for name in quasi:
    if name != "age":
        frame[name] = frame[name].astype("category")
rows, figures = timed(
    lambda: anonypy.Preserver(frame, quasi, "sensitive").anonymize_k_anonymity(k=given["k"])
)


def cell(name: str, value: object) -> str:
    """A published cell in the notation of the metric."""
    text = ",".join(value) if isinstance(value, list) else str(value)
    if name == "age":
        low, _, high = text.partition("-")
        return f"[{low}, {high}]" if high else low
    members = text.split(",")
    return members[0] if len(members) == 1 else "{" + ", ".join(members) + "}"


released = pd.DataFrame(
    [{name: cell(name, row[name]) for name in quasi} | {"copies": row["count"]} for row in rows]
)
released.to_parquet(given["out"])
report(figures | {"classes": len(released)})

"""anonypyx: Mondrian over a pandas frame, in its human-readable form."""

from __future__ import annotations

import anonypyx
import pandas as pd
from timing import report, task, timed

given = task()
quasi = given["quasi"]
frame = pd.read_parquet(given["table"])[quasi]
for name in quasi:
    if name != "age":
        frame[name] = frame[name].astype("category")


def anonymized() -> pd.DataFrame:
    """The release as the tool gives it."""
    tool = anonypyx.Anonymiser(
        frame, k=given["k"], feature_columns=quasi, generalisation_strategy="human-readable"
    )
    released: pd.DataFrame = tool.anonymise()
    return released


released, figures = timed(anonymized)


def cell(name: str, value: object) -> str:
    """A published cell in the notation of the metric."""
    text = str(value)
    if name == "age":
        low, _, high = text.partition("-")
        return f"[{low}, {high}]" if high and low != high else low
    members = text.split(",")
    return members[0] if len(members) == 1 else "{" + ", ".join(members) + "}"


out = pd.DataFrame({name: [cell(name, v) for v in released[name]] for name in quasi})
out["copies"] = released["count"].to_numpy() if "count" in released else 1
out.to_parquet(given["out"])
report(figures | {"classes": len(out.drop_duplicates(quasi))})

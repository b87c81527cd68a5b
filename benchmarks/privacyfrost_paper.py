"""Tables 1-3 of Kiyomoto and Miyake (2014): transaction times of PrivacyFrost2, rerun.

    python -m benchmarks.privacyfrost_paper [--quick] [--runs N]

The paper names no quasi-identifiers, hierarchies, priorities, p or d: those used here stand beside
the results, with the hierarchies themselves.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anonymizer
from anonymizer import Policy
from anonymizer.engines.execute import Event
from benchmarks.common import DATA, HIERARCHIES, RESULTS, machine, markdown_table

FOLDER = RESULTS / "privacyfrost"
SCORES = {"basic": "Basic", "log": "Log-Based", "eta": "η-Based"}
SETTINGS: tuple[dict[str, Any], ...] = (
    {"k": 2, "l": 2},
    {"k": 2, "t": 0.1},
    {"k": 2, "t": 0.9},
    {"k": 10, "l": 10},
    {"k": 10, "t": 0.1},
    {"k": 10, "t": 0.9},
)
SAMPLED_AT = 2
"""u: the level of the pre-sampling everywhere, the values where a hierarchy is shallower."""
P, D = 0, 4.0
LOADED = 2.5
"""Load average from which wall times say little on two cores."""

Columns = Mapping[str, dict[str, Any]]


@dataclass(frozen=True)
class Data:
    """One table of the paper, with the roles given to it here and the times published."""

    name: str
    file: Path
    quasi: Columns
    sensitive: str
    published: Mapping[tuple[int, int | float, str], int]
    """Milliseconds by k, l or t, and score."""
    presampling: Mapping[int, int]
    """Milliseconds by k'."""


def _tree(path: Path, priority: float = 1) -> dict[str, Any]:
    return {"hierarchy": {"file": str(path)}, "priority": priority}


def _adult(name: str, priority: float = 1) -> dict[str, Any]:
    return _tree(DATA / "adult_hierarchies" / f"adult_hierarchy_{name}.csv", priority)


def _census(name: str, priority: float = 1) -> dict[str, Any]:
    return _tree(HIERARCHIES / "census_income" / f"{name}.csv", priority)


def _times(text: str) -> dict[tuple[int, int | float, str], int]:
    """Published milliseconds: for every setting those of the scores basic, log and eta."""
    numbers = [int(number) for number in text.split()]
    keys = [(int(s["k"]), s.get("l") or s["t"], score) for s in SETTINGS for score in SCORES]
    return {(k, bound, score): ms for (k, bound, score), ms in zip(keys, numbers, strict=True)}


ADULT = Data(
    name="Adult",
    file=DATA / "adult_train.parquet",
    quasi={
        "age": _adult("age", 10),
        "workclass": _adult("workclass"),
        "education": _adult("education", 5),
        "marital_status": _adult("marital-status"),
        "race": _adult("race"),
        "sex": _adult("sex"),
        "native_country": _adult("native-country"),
        "hours_per_week": {"hierarchy": {"builder": "cardinality", "min_width": 5}, "priority": 1},
    },
    sensitive="occupation",
    published=_times(
        "619 592 680 736 720 675 823 778 723 663 631 669 726 722 696 803 777 833",
    ),
    presampling={1: 1289, 2: 1299, 5: 1307, 10: 1286},
)
CENSUS = Data(
    name="Census-Income",
    file=DATA / "census_income_train.parquet",
    quasi={
        "age": _census("age", 10),
        "class_of_worker": _census("class_of_worker"),
        "education": _census("education", 5),
        "marital_status": _census("marital_status"),
        "race": _census("race"),
        "sex": _census("sex"),
        "hispanic_origin": _census("hispanic_origin"),
        "employment_status": _census("employment_status"),
        "citizenship": _census("citizenship"),
        "birth_country": _census("birth_country"),
    },
    sensitive="major_occupation",
    published=_times(
        "18585 18381 16773 19839 19832 18525 21889 21363 19955"
        " 22287 21454 16319 19788 19871 18417 25477 24552 19040",
    ),
    presampling={1: 4401, 2: 4324, 5: 4431, 10: 4464},
)


def policy(data: Data, setting: Mapping[str, Any], options: Mapping[str, Any]) -> Policy:
    """The policy of one row; every column that has no role is dropped."""
    import duckdb

    with duckdb.connect() as connection:
        described = connection.execute(f"describe from '{data.file}'").fetchall()
    names = [row[0] for row in described]
    protect = (
        {"l_diversity": setting["l"]} if "l" in setting else {"t_closeness": setting.get("t", 1.0)}
    )
    columns: dict[str, Any] = {name: {"role": "drop"} for name in names}
    columns |= {name: {"role": "quasi", **given} for name, given in data.quasi.items()}
    columns[data.sensitive] = {"role": "sensitive", "protect": protect}
    if options.get("presampling_k", 1) > 1:
        for name in data.quasi:
            columns[name]["presampling_level"] = SAMPLED_AT
    return Policy.model_validate(
        {
            "version": 1,
            "source": {"file": str(data.file)},
            "columns": columns,
            "privacy": {"k_anonymity": setting["k"]},
            "suppression_limit": 1.0,
            "algorithm": {"name": "privacyfrost", "p": P, "d": D, **options},
            "publish": {"name": "release", "database": "release.duckdb"},
        }
    )


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


@dataclass
class Clock:
    """Listens to a run: processor and wall time from one statement to the next, by part."""

    began: float = 0.0
    seconds: dict[str, float] | None = None

    def start(self) -> None:
        self.began = time.perf_counter()
        self.used = _cpu()
        self.seconds = {}

    def __call__(self, event: Event) -> None:
        assert self.seconds is not None
        now, used = time.perf_counter(), _cpu()
        part = _part(event.step.template)
        for name, spent in ((part, now - self.began), (f"{part} cpu", used - self.used)):
            self.seconds[name] = self.seconds.get(name, 0.0) + spent
        self.began, self.used = now, used

    def of(self, part: str) -> float:
        assert self.seconds is not None
        return self.seconds.get(part, 0.0)


def _part(template: str) -> str:
    folder, _, name = template.partition("/")
    if name.startswith("presample"):
        return "pre-sampling"
    if folder == "privacyfrost":
        return "search"
    return "write" if folder == "release" else "prepare"


def measure(data: Data, setting: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """One whole run, from the Parquet file to the verified release."""
    made = policy(data, setting, options)
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        text = made.to_dict()
        text["publish"]["database"] = str(Path(folder) / "release.duckdb")
        loaded = Policy.model_validate(text)
        began, used = time.perf_counter(), _cpu()
        clock.start()
        release = anonymizer.run(loaded, seed=1, listener=clock)
        whole, whole_cpu = time.perf_counter() - began, _cpu() - used
    manifest = release.manifest.data
    taken = [t for t in manifest["search"] if t["taken"] and t["verdict"] == "holds"]
    return {
        "search s": clock.of("search"),
        "search cpu s": clock.of("search cpu"),
        "anonymizing s": clock.of("search") + clock.of("prepare") + clock.of("pre-sampling"),
        "anonymizing cpu s": sum(clock.of(f"{p} cpu") for p in ("search", "prepare")),
        "pre-sampling s": clock.of("pre-sampling"),
        "pre-sampling cpu s": clock.of("pre-sampling cpu"),
        "whole run s": whole,
        "whole run cpu s": whole_cpu,
        "steps": len({t["step"] for t in manifest["search"]}) - 1,
        "tables judged": sum(t["judged"] for t in manifest["search"]),
        "score": taken[-1]["score"],
        "published score": manifest["published_levels"]["score"],
        "classes": release.measures["classes"],
        "ncp": release.measures["ncp"],
        "suppressed": release.measures["suppressed"],
    }


def median_of(rounds: int, *what: Any) -> dict[str, Any]:
    """The median of every figure over some runs."""
    runs = [measure(*what) for _ in range(rounds)]
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def anonymization(data: Data, rounds: int, settings: Sequence[Any]) -> list[dict[str, Any]]:
    rows = []
    for setting in settings:
        for score, label in SCORES.items():
            found = median_of(rounds, data, setting, {"score": score})
            key = (setting["k"], setting.get("l", setting.get("t")), score)
            rows.append(
                {
                    "k": setting["k"],
                    "l": setting.get("l", "-"),
                    "t": setting.get("t", "-"),
                    "score function": label,
                    "published s": data.published[key] / 1000,
                    **found,
                }
            )
            print(data.name, *rows[-1].values())
    return rows


def presampling(data: Data, rounds: int) -> list[dict[str, Any]]:
    rows = []
    for least, published in data.presampling.items():
        found = median_of(rounds, data, {"k": 2}, {"presampling_k": least})
        wanted = ("pre-sampling s", "pre-sampling cpu s", "suppressed")
        rows.append(
            {"k'": least, "published s": published / 1000, **{name: found[name] for name in wanted}}
        )
        print(data.name, *rows[-1].values())
    return rows


def write(data: Data, name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    import csv

    with (FOLDER / name).open("w", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return markdown_table(rows)


def settings_of(data: Data) -> dict[str, Any]:
    """The roles that the paper does not name, with copies of the hierarchies beside them."""
    columns: dict[str, Any] = {}
    for name, given in data.quasi.items():
        hierarchy = dict(given["hierarchy"])
        if "file" in hierarchy:
            copied = Path("hierarchies") / data.name / f"{name}.csv"
            (FOLDER / copied).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(hierarchy["file"], FOLDER / copied)
            hierarchy = {"file": str(copied)}
        columns[name] = {"priority": given["priority"], "hierarchy": hierarchy}
    return {
        "data": data.name,
        "quasi-identifiers": columns,
        "sensitive": data.sensitive,
        "p": P,
        "d": D,
        "minimum levels": "the root everywhere",
        "t distance": "equal",
        "pre-sampling": {"u": SAMPLED_AT, "note": "the values where a hierarchy is shallower"},
    }


NOTES = """\
`published s` is the transaction time of the paper (Core i7 870, 2.93 GHz). `search s` is the time
of the pre-computation, the search and the partial-domain step over encoded tuples. `anonymizing s`
adds reading the file, building and checking the hierarchies, and encoding. `whole run s` adds
writing the release, judging it from its bytes, the measures and the manifest. `cpu` figures are
processor seconds of all threads, which tell more than wall times on a busy machine. Medians of
{rounds} run(s) after one to warm up. `score` is that of the best table of the full-domain search,
`published score` that of the release after the partial-domain step. k' = 1 can remove nothing and
runs no statement."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two settings of each table only")
    parser.add_argument("--runs", type=int, default=3, help="runs of every row; the median counts")
    given = parser.parse_args()
    rounds, settings = given.runs, SETTINGS[:2] if given.quick else SETTINGS
    FOLDER.mkdir(parents=True, exist_ok=True)
    parts = ["# PrivacyFrost2: Tables 1-3 of the paper rerun", machine() + "."]
    parts.append(NOTES.format(rounds=rounds))
    described = []
    for data in (ADULT, CENSUS):
        measure(data, SETTINGS[0], {})
        described.append(settings_of(data))
        slug = data.name.lower().replace("-", "_")
        table = write(data, f"{slug}.csv", anonymization(data, rounds, settings))
        sampled = write(data, f"{slug}_presampling.csv", presampling(data, rounds))
        parts += [f"## {data.name}: anonymization", table, f"## {data.name}: pre-sampling", sampled]
    if (load := os.getloadavg()[1]) > LOADED:
        parts[1] += (
            f" Other work shared the machine (load {load:.0f} at the end): wall times are several"
            " times those of an idle machine."
        )
    (FOLDER / "settings.json").write_text(json.dumps(described, indent=2) + "\n")
    parts.append("Quasi-identifiers, priorities and levels: `settings.json` and `hierarchies/`.")
    (FOLDER / "README.md").write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()

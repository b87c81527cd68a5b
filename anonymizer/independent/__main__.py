"""Command: judge a release and print one line per check.

Exit code 0: everything that was judged holds. 1: something does not, or an exported file was
changed. 2: it could not be judged.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from anonymizer.independent.fetch import ChangedError, UnreadableError
from anonymizer.independent.judge import judge
from anonymizer.independent.rules import Check, Figure, Judgement

FIGURES = "not compared by this verifier: measures, and the figures that the manifest states"


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge the release named by the arguments; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m anonymizer.independent", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("release", type=Path, help="DuckDB file, exported file, or its folder")
    parser.add_argument("--view", help="schema.name, where the file holds several releases")
    parser.add_argument(
        "--population", type=Path, help="Parquet or CSV file, for k-map and presence"
    )
    parser.add_argument("--population-person", help="its column that tells persons apart")
    given = parser.parse_args(arguments)
    try:
        found = judge(
            given.release,
            given.view,
            population_file=given.population,
            population_person=given.population_person,
        )
    except UnreadableError as error:
        _print_error(str(error))
        return 1 if isinstance(error, ChangedError) else 2
    except (RecursionError, MemoryError):
        _print_error("release: is too large to be judged here")
        return 2
    print("\n".join(lines(found)))
    _print_error(FIGURES)
    return 0 if found.passed else 1


def _print_error(text: str) -> None:
    """Print to standard error. Where it is closed, `print` would take standard output instead."""
    if sys.stderr is not None:
        print(text, file=sys.stderr)


def lines(found: Judgement) -> list[str]:
    """One line per check, and a verdict. No line contains a value of the data."""
    made = [_line(check) for check in found.checks]
    made += [f"not checked  {item.name}  {item.reason}" for item in found.not_checked]
    failed = sum(not check.passed for check in found.checks)
    verdict = f"{failed} of {len(found.checks)} checks fail" if failed else "all checks hold"
    return [*made, f"{_printable(found.view)}: {found.rows:,} rows, {found.kind}, {verdict}"]


def _line(check: Check) -> str:
    parts = ["holds" if check.passed else "FAILS", check.name]
    if check.column is not None:
        parts.append(_printable(check.column))
    if check.form:
        parts.append(f"broken {_figures(check.achieved)}")
    else:
        parts.append(f"required {_figures(check.required)}")
        parts.append(f"achieved {_figures(check.achieved)}")
        if check.failing:
            parts.append(
                f"{check.failing:,} {'group fails' if check.failing == 1 else 'groups fail'}"
            )
        if check.empty:
            parts.append(f"{check.empty} of them without any value")
    if check.reason is not None:
        parts.append(check.reason)
    return "  ".join(parts)


def _figures(figures: Mapping[str, Figure | None]) -> str:
    if len(figures) == 1:
        return _figure(next(iter(figures.values())))
    return ", ".join(f"{name} {_figure(value)}" for name, value in figures.items())


def _figure(value: Figure | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, Fraction):
        return str(value) if value.denominator < 1000 else f"{float(value):.6g}"
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def _printable(name: str) -> str:
    """A name without terminal control characters."""
    return "".join(c if c.isprintable() else "?" for c in name)


if __name__ == "__main__":
    raise SystemExit(main())

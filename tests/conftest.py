"""Options, selection and data shared by all tests.

`python -m pytest` runs the fast suite on DuckDB. Suites that are slow or need a service are chosen
with `-m MARKER`, other engines with `--engines=duckdb,postgres,spark`.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import settings

from anonymizer.contract import rounding
from tests.selection import spread
from tests.statement_tables import checked

ROOT = Path(__file__).resolve().parent.parent
ENGINES = ("duckdb", "postgres", "spark")
WAREHOUSES = {"snowflake", "bigquery"}
ON_REQUEST = {"slow", "exhaustive", "dbt", "shell", "browser", "notebook", "lake", *WAREHOUSES}
THOROUGH = 1
"""Slow parameters of a test, unless it says how many; all others are exhaustive."""

settings.register_profile("fast", max_examples=30, deadline=None)
settings.register_profile("ci", max_examples=30, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("thorough", max_examples=500, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "fast"))


@pytest.fixture
def fine_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures that a release gives rounded (`contract.coarse`), as they were computed."""
    monkeypatch.setattr(rounding, "finest", lambda units: Decimal("1e-9"))
    monkeypatch.setattr(rounding, "DIGITS", 12)
    monkeypatch.setattr(rounding, "_of_scores", lambda told, units: told)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--engines",
        default="duckdb",
        help=f"engines to test, separated by commas; of {', '.join(ENGINES)} (default: duckdb)",
    )
    parser.addoption(
        "--update-golden", action="store_true", help="approve the compiled SQL as it is now"
    )
    parser.addoption(
        "--update-frozen", action="store_true", help="approve what the frozen policies give now"
    )
    parser.addoption(
        "--no-skips", action="store_true", help="fail where a selected test was skipped"
    )


def pytest_configure(config: pytest.Config) -> None:
    unknown = sorted(set(requested_engines(config)) - set(ENGINES))
    if unknown:
        raise pytest.UsageError(f"--engines: unknown {unknown} (allowed: {', '.join(ENGINES)})")
    # a shell's background job ignores interrupts, and so would the commands that tests interrupt
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def requested_engines(config: pytest.Config) -> tuple[str, ...]:
    """The engines of `--engines`, in the order given."""
    return tuple(name.strip() for name in config.getoption("--engines").split(","))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without `-m`, leave out what is slow or needs a service nobody asked for."""
    share(items)
    if not config.option.markexpr:
        left_out = ON_REQUEST | set(ENGINES) - set(requested_engines(config))
        dropped = [item for item in items if left_out & marks_of(item)]
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if not left_out & marks_of(item)]


def pytest_collection_finish() -> None:
    """Spare the garbage collector the modules that were imported, which stay."""
    gc.freeze()


def share(items: list[pytest.Item]) -> None:
    """Mark as slow what `some` leaves to other runs, and as exhaustive most slow parameters."""
    tests: dict[tuple[str, frozenset[str]], list[pytest.Item]] = {}
    for item in items:
        engine = frozenset(marks_of(item) & set(ENGINES))
        tests.setdefault((item.nodeid.partition("[")[0], engine), []).append(item)
    for alike in tests.values():
        mark = alike[0].get_closest_marker("some")
        fast, thorough = mark.args if mark is not None else (len(alike), None)
        default = [item for item in alike if not ON_REQUEST & marks_of(item)]
        kept = spread(fast, len(default))
        for at, item in enumerate(default):
            if at not in kept:
                item.add_marker("slow")
        slow = [item for item in alike if "slow" in marks_of(item)]
        kept = spread(thorough or THOROUGH, len(slow))
        for at, item in enumerate(slow):
            if at not in kept:
                item.own_markers[:] = [one for one in item.own_markers if one.name != "slow"]
                item.add_marker("exhaustive")


def marks_of(item: pytest.Item) -> set[str]:
    return {mark.name for mark in item.iter_markers()}


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if reporter and session.config.getoption("--no-skips") and skipped:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter.write_line(
            "--no-skips: these tests were skipped, which counts as a failure", red=True
        )
        for report in skipped:
            reporter.write_line(f"  {report.nodeid}: {report.longrepr[-1]}")


@pytest.fixture(scope="session", autouse=True)
def statements_read_what_they_are_given() -> Iterator[None]:
    """Parse every statement that a test renders: it reads none but the tables it was given."""
    with checked():
        yield


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of test data: ANONYMIZER_TEST_DATA, else `shared/data` beside the checkout.

    Without it the tests on these data are skipped; a CI run fails instead.
    """
    folder = Path(os.environ.get("ANONYMIZER_TEST_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        message = f"no test data at {folder}; set ANONYMIZER_TEST_DATA"
        if "CI" in os.environ:
            pytest.fail(message)
        pytest.skip(message)
    return folder


@pytest.fixture(scope="session")
def adult_parquet() -> Path:
    """The bundled Adult table: 32,561 rows, with NULLs."""
    return ROOT / "anonymizer" / "data" / "adult.parquet"

"""What the distributions hold: everything the package needs, nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
# Folder of the checkout -> folder of the wheel.
SHIPPED = {"anonymizer": "anonymizer", "templates": "anonymizer/templates", "sql": "anonymizer/sql"}


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sdist, the wheel built from it, and in `direct` a wheel from the checkout."""
    if "ANONYMIZER_DIST" in os.environ:
        return Path(os.environ["ANONYMIZER_DIST"])
    pytest.importorskip("build", reason="needs the extra 'dev'")
    folder = tmp_path_factory.mktemp("dist")
    for arguments in (["--outdir", folder], ["--wheel", "--outdir", folder / "direct"]):
        command = [sys.executable, "-m", "build", *map(str, arguments), str(ROOT)]
        subprocess.run(command, check=True, capture_output=True)
    return folder


def wheel_files(folder: Path) -> dict[str, bytes]:
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def files(dist: Path) -> dict[str, bytes]:
    return {n: c for n, c in wheel_files(dist).items() if ".dist-info/" not in n}


def test_wheel_holds_the_package_templates_sql_and_data(files: dict[str, bytes]) -> None:
    expected = {
        f"{target}/{path.relative_to(ROOT / source).as_posix()}"
        for source, target in SHIPPED.items()
        for path in (ROOT / source).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert set(files) == expected


@pytest.mark.parametrize(
    ("folder", "suffix"),
    [
        ("anonymizer/templates/", ".sql"),
        ("anonymizer/sql/", ".md"),
        ("anonymizer/policy/", ".py"),
        ("anonymizer/data/hierarchies/", ".csv"),
    ],
)
def test_wheel_holds_some_of(folder: str, suffix: str, files: dict[str, bytes]) -> None:
    assert any(name.startswith(folder) and name.endswith(suffix) for name in files)


@pytest.mark.parametrize("name", ["anonymizer/data/adult.parquet", "anonymizer/py.typed"])
def test_wheel_holds(name: str, files: dict[str, bytes]) -> None:
    assert files[name] == (ROOT / name).read_bytes()


def test_wheel_holds_licence_and_attribution(dist: Path) -> None:
    licences = {Path(name).name for name in wheel_files(dist) if ".dist-info/licenses/" in name}
    assert licences == {"LICENSE", "NOTICE"}


def test_wheel_is_the_same_by_way_of_the_source_distribution(dist: Path) -> None:
    assert wheel_files(dist) == wheel_files(dist / "direct")


def test_source_distribution_can_be_built_and_tested(dist: Path) -> None:
    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    wanted = {
        "pyproject.toml",
        "README.md",
        ".ci/run",
        "tests/conftest.py",
        "tools/make_demo_data.py",
    }
    assert wanted <= names
    assert not any("__pycache__" in name or name.endswith(".duckdb") for name in names)

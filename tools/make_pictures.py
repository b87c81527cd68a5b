"""Make the pictures of the documentation in a headless Chromium: `python -m tools.make_pictures`.

They show the two demonstrations. Look at every picture before it is committed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from anonymizer.explore.desk import desk_input, open_desk
from anonymizer.explore.server import serve
from anonymizer.policy import Policy
from anonymizer.process.secret import Seed
from anonymizer.review import demo
from anonymizer.review.report import write_report

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
SEED = Seed(Seed.test(0).secret)
"""That of trial runs: the figures are those of `diff` and `explore`."""
NAMES = ("chromium", "chromium-browser", "google-chrome")


def picture(name: str, address: str, width: int, height: int) -> None:
    """Write the upper part of a page, as a window of this size shows it."""
    browser = next((path for one in NAMES if (path := shutil.which(one))), None)
    if browser is None:
        sys.exit("no Chromium: apt-get install chromium")
    with TemporaryDirectory() as profile:
        subprocess.run(
            [
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                "--disable-dev-shm-usage", f"--user-data-dir={profile}",
                "--virtual-time-budget=4000", f"--window-size={width},{height}",
                f"--screenshot={FOLDER / name}", address,
            ],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip


@contextmanager
def explored(made: demo.Demo) -> Iterator[str]:
    """The address of `explore` on a demonstration, once all its figures are there."""
    source = str(made.database)
    begun = desk_input(str(made.policy), source, None)
    with open_desk(begun, source) as desk:
        held: list[Any] = []
        desk.begin()
        thread = Thread(target=serve, args=(desk, lambda *ready: held.extend(ready)))
        thread.start()
        while not held or desk.busy:
            time.sleep(0.1)
        address, server = held
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join()


def main() -> None:
    """Run the demonstrations in a folder that is removed again, and take the pictures."""
    with TemporaryDirectory() as folder:
        adult = demo.write(Path(folder) / "adult")
        hospital = demo.write_hospital(Path(folder) / "hospital")
        for made in (adult, hospital):
            demo.run(made, seed=SEED)
            write_report(Policy.load(made.policy), made.folder / demo.REPORT, source=made.database)
        picture("report.png", (adult.folder / demo.REPORT).as_uri(), 960, 660)
        picture("several-tables.png", (hospital.folder / demo.REPORT).as_uri(), 900, 800)
        with explored(adult) as address:
            picture("explore.png", address, 1440, 1130)


if __name__ == "__main__":
    main()

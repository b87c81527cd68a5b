"""A Spark session for tests: started once, small, quiet, and without anything compiled late."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    # on a few hundred rows planning and compiling cost more than the work
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@contextmanager
def session(folder: Path) -> Iterator[Any]:
    """A session of the tests' own, whose tables lie in `folder`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master("local[2]").appName("tests")
        for name, value in SETTINGS.items():
            builder = builder.config(name, value)
        spark = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse")).getOrCreate()
    try:
        yield spark
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            spark.stop()

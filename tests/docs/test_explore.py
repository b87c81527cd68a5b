"""The command on the page about exploring serves the page, in a folder of the demonstration."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from anonymizer.review import demo
from tests.docs.blocks import ROOT, blocks


@pytest.mark.slow
def test_the_page_is_served(tmp_path: Path) -> None:
    demo.write(tmp_path)
    (block,) = (one for one in blocks(ROOT / "docs" / "explore.md") if one.language == "sh")
    words = block.code.split()
    assert words[0] == "anonymizer"
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, "-m", *words], cwd=tmp_path, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": path},
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            address = process.stdout.readline().removeprefix("open ").strip()
            direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with direct.open(address) as answer:
                assert b"<title>Privacy desk</title>" in answer.read()
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        finally:
            process.kill()

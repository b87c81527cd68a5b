"""Pages of evidence in a headless Chromium: nothing is cut off, on a desk and on a phone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anonymizer.policy.publish import Context
from anonymizer.review.evidence import standards
from anonymizer.review.report import rendered
from anonymizer.review.report.content import Report, collect
from tests.report.conftest import Clinic

pytestmark = pytest.mark.browser
NAMES = ("chromium", "chromium-browser", "google-chrome")
OTHERS = [name for name in standards() if name != "safe-harbor"]
LONG = "Wissenschaftsgemeinschaft" * 8
"""A word that is wider than a phone."""
PROBE = """
<script>addEventListener('load', () => {
  const all = [...document.body.querySelectorAll('*')].filter(e => e.innerText?.trim());
  const right = e => Math.ceil(e.getBoundingClientRect().right);
  const cut = e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible';
  parent.postMessage(JSON.stringify({
    window: innerWidth, wide: document.documentElement.scrollWidth,
    right: Math.max(...all.map(right)),
    cut: all.filter(e => e.clientWidth > 1 && cut(e)).map(e => e.outerHTML.slice(0, 80)),
    open: [...document.querySelectorAll('.open')].map(e => e.getBoundingClientRect().width),
    broken: [...document.querySelectorAll('header a')]
      .filter(a => !document.querySelector(a.getAttribute('href'))).length,
    loaded: performance.getEntriesByType('resource').map(r => r.name)
      .filter(n => !n.startsWith('data:')),
  }), '*');
});</script></body>"""
FRAME = """<body style="margin:0"><iframe src="%s" style="border:0;width:%dpx;height:900px">
</iframe><pre id="probe"></pre><script>
addEventListener('message', m => { document.getElementById('probe').textContent = m.data; });
</script></body>"""


@pytest.fixture(scope="module")
def report(clinic: Clinic) -> Report:
    context = Context(recipients=LONG, controls=("access by name", LONG), acceptable_risk=0.01)
    found = collect(clinic.policy, source=clinic.source, attacks=True)
    return replace(found, policy=found.policy.model_copy(update={"context": context}))


def seen(page: str, folder: Path, width: int) -> dict[str, Any]:
    """What a browser makes of a page in a frame: no window of it is as narrow as a phone."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.fail("no Chromium: apt-get install chromium")
    inner, outer = folder / "inner.html", folder / "outer.html"
    inner.write_text(page.replace("</body>", PROBE))
    outer.write_text(FRAME % (inner.as_uri(), width))
    done = subprocess.run(
        [
            found, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=4000",
            "--enable-logging=stderr", "--v=0", "--window-size=1500,900", "--dump-dom",
            outer.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "CONSOLE" not in done.stderr
    text = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.DOTALL)
    assert text is not None
    data: dict[str, Any] = json.loads(text[1].replace("&amp;", "&").replace("&lt;", "<"))
    return data


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("name", OTHERS)
def test_nothing_is_cut_off(report: Report, tmp_path: Path, name: str, width: int) -> None:
    found = seen(rendered(report, "html", name), tmp_path, width)
    assert found["window"] == width
    assert max(found["wide"], found["right"]) <= width
    assert found["cut"] == []
    assert len(found["open"]) > 2
    assert min(found["open"]) > 0.7 * min(width, 900)
    assert found["broken"] == 0
    assert found["loaded"] == []

"""The report in a headless Chromium: it renders, reports no error, and its text can be read."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from anonymizer.measure.usefulness import Little
from anonymizer.review.report import rendered, write_report
from anonymizer.review.report.content import collect
from tests.report.conftest import Clinic

pytestmark = pytest.mark.browser
NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser() -> str:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.fail("no Chromium: apt-get install chromium")
    return found


@pytest.fixture(scope="module")
def page(clinic: Clinic) -> Path:
    target = clinic.folder / "report.html"
    write_report(clinic.policy, target, source=clinic.source)
    return target


def chromium(browser: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--disable-dev-shm-usage", f"--user-data-dir={folder}", "--enable-logging=stderr",
            "--v=0", "--virtual-time-budget=4000", *arguments,
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip


def probe(page: Path, tmp_path: Path) -> Path:
    """The page with a script of the test's own that writes down what the browser made of it."""
    script = """
    <pre id="probe"></pre><script>
    addEventListener('load', () => {
      const text = e => e.innerText.trim();
      const lum = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255)
        .map(x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
        return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
      const back = e => { for (; e; e = e.parentElement) {
        const b = getComputedStyle(e).backgroundColor;
        if (!/rgba\\(.*, 0\\)|transparent/.test(b)) return b; } return 'rgb(255,255,255)'; };
      const contrast = e => { const a = lum(getComputedStyle(e).color), b = lum(back(e));
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); };
      const all = [...document.querySelectorAll('p,li,td,th,h1,h2,h3,a,b,small,code,summary')]
        .filter(e => text(e));
      document.getElementById('probe').textContent = JSON.stringify({
        headings: [...document.querySelectorAll('h1,h2,h3')].map(text),
        images: [...document.images].map(i => [i.naturalWidth, i.complete, i.alt.length]),
        wide: document.documentElement.scrollWidth, window: innerWidth,
        contrast: Math.min(...all.map(contrast)),
        loaded: performance.getEntriesByType('resource').map(r => r.name.slice(0, 30))
          .filter(n => !n.startsWith('data:')),
        text: document.body.innerText.length,
        broken: [...document.querySelectorAll('nav a')]
          .filter(a => !document.querySelector(a.getAttribute('href'))).length,
      });
    });
    </script></body>"""
    target = tmp_path / "probe.html"
    target.write_text(page.read_text().replace("</body>", script))
    return target


def seen(browser: str, page: Path, tmp_path: Path, width: int) -> dict[str, Any]:
    done = chromium(
        browser, tmp_path / f"profile{width}", f"--window-size={width},900", "--dump-dom",
        probe(page, tmp_path).as_uri(),
    )  # fmt: skip
    found = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None
    assert "CONSOLE" not in done.stderr
    data: dict[str, Any] = json.loads(found[1].replace("&amp;", "&").replace("&lt;", "<"))
    return data


@pytest.mark.parametrize("width", [1200, 500])
def test_it_renders_on_a_desk_and_on_a_phone(
    browser: str, page: Path, tmp_path: Path, width: int
) -> None:
    found = seen(browser, page, tmp_path, width)
    assert found["headings"][0] == "main.released"
    assert "What it does not promise" in found["headings"]
    assert all(w > 100 and complete and alt > 30 for w, complete, alt in found["images"])
    assert found["wide"] <= found["window"]
    assert found["contrast"] >= 4.5
    assert found["loaded"] == []
    assert found["broken"] == 0
    assert found["text"] > 3000


@pytest.mark.parametrize("state", ["little", "fails"])
def test_every_verdict_can_be_read(
    browser: str, clinic: Clinic, tmp_path: Path, state: Literal["little", "fails"]
) -> None:
    found = collect(clinic.policy, source=clinic.source)
    if state == "little":
        found = replace(found, little=(Little("cells", None, "95 % is lost", "try less"),))
    else:
        failing = replace(found.verification.checks[0], passed=False)
        judged = replace(found.verification, checks=(failing,), passed=False)
        found = replace(found, verification=judged)
    assert found.verdict.state == state
    page = tmp_path / "page.html"
    page.write_text(rendered(found, "html"))
    assert seen(browser, page, tmp_path, 500)["contrast"] >= 4.5


PHONE = """
<script>addEventListener('load', () => {
  const right = e => Math.ceil(e.getBoundingClientRect().right);
  parent.postMessage(JSON.stringify({
    window: innerWidth,
    cells: Math.max(...[...document.querySelectorAll('main tbody td, main tbody th')].map(right)),
    verdicts: [...document.querySelectorAll('.holds, .fails')].map(right),
    labels: [...document.querySelectorAll('.stack td.n')].map(e =>
      getComputedStyle(e, '::before').content),
    pictures: [...document.images].map(i =>
      [i.getBoundingClientRect().left, right(i), i.width, i.naturalWidth]),
  }), '*');
});</script></body>"""
FRAME = """<body style="margin:0"><iframe src="%s" style="border:0;width:%dpx;height:900px">
</iframe><pre id="probe"></pre><script>
addEventListener('message', m => { document.getElementById('probe').textContent = m.data; });
</script></body>"""


@pytest.mark.parametrize("width", [360, 390, 1280, 1440])
def test_no_verdict_is_out_of_sight(browser: str, page: Path, tmp_path: Path, width: int) -> None:
    """In a frame: no window of the browser is as narrow as a phone."""
    inner, outer = tmp_path / "inner.html", tmp_path / "outer.html"
    inner.write_text(page.read_text().replace("</body>", PHONE))
    outer.write_text(FRAME % (inner.as_uri(), width))
    done = chromium(browser, tmp_path / "profile", "--window-size=1400,900", "--dump-dom",
                    outer.as_uri())  # fmt: skip
    text = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.DOTALL)
    assert text is not None
    found = json.loads(text[1].replace("&amp;", "&"))
    assert found["window"] == width
    assert found["verdicts"]
    assert max(found["cells"], *found["verdicts"]) <= width
    phone = width < 480
    assert all((label not in ("none", "")) == phone for label in found["labels"])
    assert found["pictures"]
    for left, right, drawn, natural in found["pictures"]:
        # a whole picture, its letters nearly as large as they were drawn or larger
        assert 0 <= left < right <= width
        assert drawn >= 0.8 * natural


def test_it_draws_and_prints(browser: str, page: Path, tmp_path: Path) -> None:
    picture, document = tmp_path / "page.png", tmp_path / "page.pdf"
    done = chromium(
        browser, tmp_path / "profile", "--window-size=1000,3000", f"--screenshot={picture}",
        page.as_uri(),
    )  # fmt: skip
    assert "CONSOLE" not in done.stderr
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert picture.stat().st_size > 50_000
    chromium(browser, tmp_path / "profile", "--no-pdf-header-footer", f"--print-to-pdf={document}",
             page.as_uri())  # fmt: skip
    assert document.read_bytes()[:4] == b"%PDF"
    assert len(re.findall(rb"/Type /Page\b", document.read_bytes())) >= 3

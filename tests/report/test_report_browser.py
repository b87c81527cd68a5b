"""The report in a headless Chromium: it renders, reports no error, and its text can be read."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from anonymizer.report import write_report
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

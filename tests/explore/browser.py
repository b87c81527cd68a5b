"""A headless Chromium, and what somebody does and sees on a page in it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

DRIVERS = ("chromedriver", "chromium.chromedriver")


class Page:
    """What somebody does and sees on the page."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        return self.until(lambda: self.run("return document.querySelector(arguments[0])", selector))

    def keyed(self, key: str) -> Any:
        """The control of a key; keys hold names of columns, whatever these are."""
        found = "return [...document.querySelectorAll('[data-key]')].find("
        return self.until(lambda: self.run(found + "e => e.dataset.key === arguments[0])", key))

    def until(self, seen: Callable[[], Any], seconds: float = 240) -> Any:
        from selenium.common.exceptions import StaleElementReferenceException

        end = time.monotonic() + seconds
        while time.monotonic() < end:
            # (a part of the page may be drawn again at any moment)
            with suppress(StaleElementReferenceException):
                if found := seen():
                    return found
            time.sleep(0.1)
        raise AssertionError(self.run("return document.body.innerText")[:2_000])

    def choose(self, key: str, value: str) -> None:
        self.run(
            "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))",
            self.keyed(key), value,
        )  # fmt: skip
        self.until(lambda: self.run("return !document.body.hasAttribute('aria-busy')"))

    def state(self) -> dict[str, Any]:
        script = "const d = arguments[0]; fetch('api/state').then(r => r.json()).then(d)"
        found: dict[str, Any] = self.driver.execute_async_script(script)
        return found

    def settled(self) -> dict[str, Any]:
        self.until(lambda: not self.state()["busy"])
        time.sleep(0.7)  # the page looks every 0.3 s
        return self.state()

    def wide(self, width: int) -> None:
        sizes = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", sizes)

    def beyond(self) -> list[str]:
        """What stands beyond the right edge of the window, or is cut off in its own box."""
        found: list[str] = self.run("""
            const named = e => e.tagName + ' ' + (e.getAttribute('class') ?? '') + ' ' +
                e.textContent.slice(0, 40);
            const hidden = e => e.closest('.aside, .skip, thead, dialog:not([open])');
            const out = [...document.querySelectorAll('body *')].filter(e => !hidden(e));
            return [
                ...(document.documentElement.scrollWidth > innerWidth ? ['the page scrolls'] : []),
                ...out.filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(named),
                ...out.filter(e => e.tagName !== 'SELECT' && e.clientWidth > 1
                    && e.scrollWidth > e.clientWidth + 1
                    && getComputedStyle(e).overflowX !== 'visible').map(named),
            ];""")
        return found

    def faults(self) -> list[str]:
        """What axe finds serious or critical."""
        from axe_core_python.selenium import Axe

        found = Axe().run(self.driver)["violations"]
        return [
            f"{one['id']}: {[node['html'][:120] for node in one['nodes']][:3]}"
            for one in found
            if one["impact"] in ("serious", "critical")
        ]


@contextmanager
def chromium() -> Iterator[Any]:
    """A driver of the browser. Raises where there is none."""
    from selenium import webdriver

    found = next((path for name in DRIVERS if (path := shutil.which(name))), None)
    if found is None:
        raise AssertionError("no driver of Chromium: apt-get install chromium-driver")
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with webdriver.Chrome(options, webdriver.ChromeService(found)) as made:
        made.set_script_timeout(60)
        yield made

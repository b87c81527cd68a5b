"""Charts of a report on a light page and on a dark one."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from anonymizer.review.report import pictures

TEMPLATES = Path(__file__).parents[2] / "templates"
STYLE = (TEMPLATES / "report" / "_style.html.j2").read_text(encoding="utf-8")
PAPER = re.findall(r"--paper: (#[0-9a-f]+)", STYLE)
"""The background of a light page, and of a dark one."""


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(2 * d for d in colour[1:])
        parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_picture_has_the_colours_of_both_pages() -> None:
    picture = pictures.bars(["a", "b"], [0.2, 0.8], [0.5, 0.5], alt="", axis="percent of rows")
    svg = base64.b64decode(picture.uri.partition(",")[2]).decode()
    rules, drawn = re.findall(r"<style>(.*?)</style>(.*)", svg, re.DOTALL)[0]
    light, dark = (set(re.findall("#[0-9a-f]{6}", part)) for part in rules.split("@media"))
    assert (light, dark) == (set(pictures.DARK), set(pictures.DARK.values()))
    assert set(re.findall("(?:fill|stroke): (#[0-9a-f]+)", drawn)) <= {pictures.LINES}
    texts = re.findall("<text[^>]*>", drawn)
    assert texts
    assert all("fill: var(--c2)" in one for one in texts)
    ElementTree.fromstring(svg)


@pytest.mark.parametrize(("light", "dark"), pictures.DARK.items())
def test_colours_can_be_told_from_the_page(light: str, dark: str) -> None:
    on_light, on_dark = PAPER
    assert contrast(light, on_light) >= 4.5
    assert contrast(dark, on_dark) >= 4.5
    assert "img { background" not in STYLE

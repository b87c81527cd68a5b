"""What mkdocs does besides building docs/: pages of other folders, and a look at the result.

Links in the Markdown files are those of the repository, so that they work on GitHub too.
"""

from __future__ import annotations

import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
BESIDE = (
    "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "sql/README.md", "tests/toys/*.md",
    "benchmarks/**/*.md", "benchmarks/results/**/*.csv", "benchmarks/results/**/*.png",
)  # fmt: skip
"""Files outside docs/ that the site has too, at the same path."""
LINK = re.compile(r"(\]\()(?!\w+:)([^)\s#]+)")
FENCE = re.compile(r"^(```\w+) file=(\S+)$", re.MULTILINE)
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}


def on_files(files: Any, config: Any) -> Any:
    """Add the files beside docs/."""
    for pattern in BESIDE:
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            files.append(File(name, str(ROOT), config.site_dir, config.use_directory_urls))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links across the border of docs/ to the site's paths, and show names of files."""
    here = posixpath.dirname(page.file.src_uri)
    outside = (ROOT / page.file.src_uri) == Path(page.file.abs_src_path)
    folder = here if outside else posixpath.join("docs", here)

    def site_path(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, found[2])).removeprefix("docs/")
        return found[1] + posixpath.relpath(target, here or ".")

    return FENCE.sub(r'\1 title="\2"', LINK.sub(site_path, markdown))


class Page(HTMLParser):
    """The anchors of a built page, where it leads, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors = {""}
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag in LOADED and LOADED[tag] in given:
            self.loaded.append(given[LOADED[tag]])
        elif tag == "a" and "href" in given:
            self.links.append(given["href"])


def on_post_build(config: Any) -> None:
    """Every link of every page leads to a file and an anchor; nothing is loaded from elsewhere."""
    site = Path(config.site_dir)
    pages = {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
    wrong, count = [], 0
    for path, page in pages.items():
        name = path.relative_to(site)
        wrong += [f"{name} loads {one}" for one in page.loaded if urlsplit(one).netloc]
        for link in {*page.links, *page.loaded}:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                wrong.append(f"{name} leads to {link}, which is not there")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                wrong.append(f"{name} leads to {link}, which is no anchor")
    if wrong:
        raise PluginError("\n".join(wrong))
    print(f"{len(pages)} pages, {count} links within the site, 0 broken, nothing from elsewhere")

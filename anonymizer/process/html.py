"""HTML from templates, with all values escaped."""

from __future__ import annotations

from functools import cache

import jinja2

from anonymizer.compile.environment import folder
from anonymizer.process.text import figure


@cache
def environment() -> jinja2.Environment:
    """The environment of the HTML templates."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(folder("templates"))),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(figure=figure)
    return made

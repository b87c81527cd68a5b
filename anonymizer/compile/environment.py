"""The Jinja environment in which every statement is rendered."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

import jinja2
from markupsafe import Markup

from anonymizer.compile.sql import FILTERS, Sql
from anonymizer.errors import TemplateError


def folder(name: str) -> Path:
    """`templates/` or `sql/`: inside the installed package, else beside it in a checkout."""
    inside = Path(str(files("anonymizer"))) / name
    beside = Path(str(files("anonymizer"))).parent / name
    for path in (inside, beside):
        if path.is_dir():
            return path
    raise TemplateError(f"the folder {name} is missing from this installation")


def only_sql(value: object) -> Markup:
    """Jinja's finalize: a value that is neither `Sql` nor a macro's output is an error.

    Autoescape is on, so that the output of a macro (whose parts went through here already)
    is `Markup` and can be told from a bare string.
    """
    if isinstance(value, Sql):
        return Markup(value.text)
    if isinstance(value, Markup):
        return value
    raise TemplateError(f"a template printed a bare {type(value).__name__}; use a filter")


@cache
def environment() -> jinja2.Environment:
    """The one environment. Its filters and globals are ours alone."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(folder("templates"))),
        undefined=jinja2.StrictUndefined,
        finalize=only_sql,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.clear()
    made.filters.update(FILTERS)
    made.globals.clear()
    made.globals["range"] = range
    return made

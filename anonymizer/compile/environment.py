"""The Jinja environment in which every statement is rendered."""

from __future__ import annotations

import hashlib
import sys
from contextlib import suppress
from functools import cache
from importlib.resources import files
from importlib.util import cache_from_source
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket
from markupsafe import Markup

from anonymizer.compile import sql
from anonymizer.compile.sql import FILTERS, Sql
from anonymizer.errors import TemplateError


def folder(name: str) -> Path:
    """`templates/` or `sql/`: inside the installed package, or next to it in a checkout."""
    inside = Path(str(files("anonymizer"))) / name
    beside = Path(str(files("anonymizer"))).parent / name
    for path in (inside, beside):
        if path.is_dir():
            return path
    raise TemplateError(f"the folder {name} is missing from this installation")


def only_sql(value: object) -> Markup:
    """Jinja's finalize: raises for a value that is neither `Sql` nor the output of a macro.

    Autoescape is on, so that the output of a macro, whose parts have been checked here, is `Markup`
    and can be distinguished from a bare string.
    """
    if isinstance(value, Sql):
        return Markup(value.text)
    if isinstance(value, Markup):
        return value
    raise TemplateError(f"a template printed a bare {type(value).__name__}; use a filter")


class CompiledTemplates(jinja2.FileSystemBytecodeCache):
    """A cache of compiled templates, which saves a run half a second.

    It is in the folder of this module's bytecode, which is trusted like the code itself, and only
    written if Python writes bytecode. A cache that cannot be read or written is ignored.
    """

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except Exception:  # a damaged pickle may raise anything
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        if sys.dont_write_bytecode:
            return
        with suppress(OSError):
            if not Path(self.directory).is_dir():  # Python creates it if it writes bytecode
                Path(self.directory).mkdir(parents=True, exist_ok=True)
            super().dump_bytecode(bucket)


def compiled_templates() -> CompiledTemplates:
    """The cache for this version of Jinja and of the filters."""
    beside = Path(cache_from_source(__file__)).parent
    # filters of constants are evaluated when a template is compiled
    made_by = (jinja2.__version__, *(Path(path).read_text() for path in (__file__, sql.__file__)))
    stamp = hashlib.sha256("\0".join(made_by).encode()).hexdigest()[:16]
    return CompiledTemplates(str(beside), f"template-%s-{stamp}.bin")


@cache
def template_names() -> frozenset[str]:
    """All templates, by their paths in the folder."""
    return frozenset(environment().list_templates())


@cache
def environment() -> jinja2.Environment:
    """The only environment, with no filters and globals but those set here."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(folder("templates"))),
        undefined=jinja2.StrictUndefined,
        finalize=only_sql,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,  # there are more templates than the default keeps
        bytecode_cache=compiled_templates(),
    )
    made.filters.clear()
    made.filters.update(FILTERS)
    made.globals.clear()
    made.globals["range"] = range
    return made

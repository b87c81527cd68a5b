"""The SQL of the package's generic tests as dbt renders it for an adapter, without dbt."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2

MACROS = Path(__file__).resolve().parent.parent.parent / "sql" / "dbt" / "macros"


class _ReturnedError(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


def _returning(macro: Callable[..., Any]) -> Callable[..., Any]:
    """A macro that dbt's `return` ends with a value."""

    def call(*given: Any, **named: Any) -> Any:
        try:
            return macro(*given, **named)
        except _ReturnedError as returned:
            return returned.value

    return call


def generic_test(name: str, relation: str, *, of: str = "duckdb", **arguments: Any) -> str:
    """The query of one generic test on a relation, for an adapter."""
    return rendered(f"test_{name}", relation, of=of, **arguments)


def rendered(name: str, relation: str, *, of: str = "duckdb", **arguments: Any) -> str:
    """The query of a macro on a relation, whose columns are taken as they are named."""
    mark = "`" if of in ("bigquery", "spark", "databricks") else '"'
    # (as dbt does: the adapter of Databricks takes the macros of Spark)
    first = (of, "spark") if of == "databricks" else (of,)

    def ended(value: Any) -> None:
        raise _ReturnedError(value)

    def refuse(message: str) -> None:
        raise ValueError(message)

    macros: dict[str, Callable[..., Any]] = {}
    environment = jinja2.Environment(extensions=["jinja2.ext.do"], undefined=jinja2.StrictUndefined)
    environment.globals |= {
        "return": ended,
        "anonymizer": SimpleNamespace(),
        "execute": True,
        "exceptions": SimpleNamespace(raise_compiler_error=refuse),
        "adapter": SimpleNamespace(
            quote=lambda column: f"{mark}{column}{mark}",
            dispatch=lambda macro, _: next(
                macros[name] for one in (*first, "default") if (name := f"{one}__{macro}") in macros
            ),
            get_columns_in_relation=lambda _: [SimpleNamespace(name="patient")],
        ),
        "dbt": SimpleNamespace(string_literal="'{}'".format, escape_single_quotes=str),
        "target": SimpleNamespace(type=of),
    }
    for path in sorted([*MACROS.glob("*.sql"), *MACROS.glob("generic_tests/*.sql")]):
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"\{%(-?) test (\w+)", r"{%\1 macro test_\2", text)
        text = re.sub(r"\{%(-?) endtest", r"{%\1 endmacro", text)
        module: Any = environment.from_string(text).module
        macros |= {
            found: _returning(macro)
            for found, macro in vars(module).items()
            if not found.startswith("_")
        }
    vars(environment.globals["anonymizer"]).update(macros)
    return str(macros[name](relation, **arguments))

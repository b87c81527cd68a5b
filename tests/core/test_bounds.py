"""A guarantee's bound is compared by its rule, by the verifier, and by the second verifier only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from anonymizer.guarantees.requirements import GUARANTEES

ROOT = Path(__file__).resolve().parents[2]
ASKS = [ask for guarantee in GUARANTEES for ask in guarantee.asks]
PARAMETERS = sorted(
    {name for ask in ASKS for name in ask.given}
    | {
        name
        for ask in ASKS
        for by in (ask.upper, ask.lower, ask.logarithms)
        for name in by.values()
    }
)
"""The parameters of all guarantees: k, l, t, alpha, ..."""

JUDGES = ("guarantees", "verification", "independent", "verify", "fast")
GENERATED = ("rules.sql", "_rules.sql", "anonymizer.sql")
"""Made from the rules by tools/make_macros.py, which a test compares."""
SEARCH = (
    *("bound", "danonyir", "deal", "geneir", "lattice", "lgb", "mondrian", "msb", "persons"),
    *("privacyfrost", "refine", "repair", "republish", "schema", "split", "algorithms"),
)
"""Folders of algorithms, whose k is the size of the classes that they form."""
OBSERVERS = ("attack", "ledger", "proofs")
"""What somebody finds out by other means than a class is counted, against k."""
ELSEWHERE = {*JUDGES, *GENERATED, *SEARCH, *OBSERVERS, "policy"}

PLACE = rf"(?:cast\()?\{{\{{ *(?:{'|'.join(PARAMETERS)})\b"
COMPARED = re.compile(
    rf"[<>]=? *{PLACE}|{PLACE}[^}}]*\}}\}}\)? *[<>]|(?:de)nominator|numerator|tolerance"
)


def in_sql() -> Iterator[str]:
    for folder in ("templates", "sql"):
        for path in sorted((ROOT / folder).rglob("*.*")):
            if path.suffix == ".sql" and ELSEWHERE.isdisjoint([*path.parts, path.stem]):
                lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
                yield from (f"{path}:{n}: {line}" for n, line in lines if COMPARED.search(line))


def in_python() -> Iterator[str]:
    for path in sorted((ROOT / "anonymizer").rglob("*.py")):
        if not ELSEWHERE.isdisjoint(path.parts):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare) and isinstance(
                node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE
            ):
                sides = (node.left, *node.comparators)
                named = {getattr(side, "attr", getattr(side, "id", None)) for side in sides}
                if named & set(PARAMETERS) and not any(isinstance(s, ast.Constant) for s in sides):
                    yield f"{path}:{node.lineno}: {ast.unparse(node)}"


def test_nothing_else_compares_with_a_bound() -> None:
    assert [*in_sql(), *in_python()] == []


def test_a_comparison_is_found() -> None:
    for line in ("where units < {{ k | lit }}", "having n * {{ bound.denominator | lit }} > m"):
        assert COMPARED.search(line)
    assert not COMPARED.search("where units < {{ threshold | lit }}")

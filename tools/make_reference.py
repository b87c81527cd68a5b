"""Write the pages of docs/reference from the code: policy, Python interface, statements of a run.

python tools/make_reference.py            write them
python tools/make_reference.py --check    fail where they are not current
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import anonymizer
from anonymizer.contract.checks import Check, Verification
from anonymizer.engines.base import Limits
from anonymizer.policy.document import Document
from anonymizer.steps import Plan

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
HEAD = "<!-- Written by tools/make_reference.py: change the code, not this page. -->\n\n"

EXAMPLES: dict[str, Any] = {
    "Policy.version": 1,
    "Policy.source": {"table": "main.visits"},
    "Policy.key": "visit_id",
    "Policy.person": "patient_id",
    "Policy.columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}},
    "Policy.privacy": {"k_anonymity": 5},
    "Policy.suppression_limit": 0.05,
    "Policy.algorithm": {"name": "mondrian"},
    "Policy.publish": {"name": "visits_anonymous", "database": "release.duckdb"},
    "Policy.workload": {"sql": ["select avg(age) from visits"]},
    "Policy.republish": {"m": 3},
    "Policy.ledger": "releases.ledger",
    "Policy.context": {"recipients": "two universities", "purpose": "a study of costs"},
    "SchemaPolicy.context": {"recipients": "two universities", "purpose": "a study of costs"},
    "Context.recipients": "two universities",
    "Context.purpose": "a study of costs",
    "Context.knowledge": "ages and towns of their own patients",
    "Context.controls": ["a contract that forbids linking", "access by name"],
    "Context.impact": "a diagnosis becomes known to an employer",
    "Context.stakeholders": "the ethics committee, on 3 March",
    "Context.monitoring": "reviewed every year",
    "Context.responsible": "the privacy officer",
    "Context.acceptable_risk": 0.05,
    "SchemaPolicy.preset": "external",
    "SchemaPolicy.ledger": "releases.ledger",
    "SchemaPolicy.version": 1,
    "AggregatePolicy.version": 1,
    "AggregatePolicy.source": {"table": "main.admissions"},
    "AggregatePolicy.person": "patient_id",
    "AggregatePolicy.aggregate": {
        "by": {"region": {"hierarchy": "regions.csv"}, "sex": {}},
        "measures": {"patients": {"count": "persons"}},
    },
    "AggregatePolicy.protect": {"minimum": 10},
    "AggregatePolicy.rest": {"limit": 0.02},
    "AggregatePolicy.publish": {"database": "release.duckdb"},
    "AggregatePolicy.context": {"recipients": "the public"},
    "Aggregate.by": {"region": {"hierarchy": "regions.csv"}, "age": {"bands": [0, 18, 65]}},
    "Aggregate.margins": [["region", "sex"], ["age"]],
    "Aggregate.measures": {"patients": {"count": "persons"}},
    "By.hierarchy": "regions.csv",
    "By.bands": [0, 18, 65],
    "Measure.sum": "cost",
    "Measure.ratio": ["cost", "visits"],
    "Protection.minimum": 10,
    "Protection.dominance": {"p": 10},
    "Protection.contributor": "hospital_id",
    "Protection.groups": {"diagnosis": 0.95},
    "Dominance.p": 10,
    "Dominance.n": 2,
    "Dominance.k": 85,
    "SchemaPolicy.person": "patients",
    "SchemaPolicy.tables": {
        "patients": {
            "source": {"table": "main.patients"},
            "key": "id",
            "columns": {"id": {"role": "key"}, "zip": {"role": "quasi"}},
        },
    },
    "SchemaPolicy.privacy": {"k_anonymity": 5, "knows": {"events": 1}},
    "SchemaPolicy.suppression_limit": 0.05,
    "SchemaPolicy.republish": {"new_population": True},
    "SchemaPolicy.weight": {"events": 2},
    "SchemaPolicy.publish": {"database": "release.duckdb"},
    "SchemaTable.source": {"table": "main.visits"},
    "SchemaTable.key": "visit_id",
    "SchemaTable.links": {"patient_id": "patients"},
    "SchemaTable.orphans": "drop",
    "SchemaTable.columns": {"visit_id": {"role": "key"}, "ward": {"role": "event"}},
    "SchemaColumn.role": "event",
    "SchemaColumn.hierarchy": {"builder": "date"},
    "SchemaColumn.protect": {"eir_l": 3},
    "SchemaProtect.recursive_cl": {"c": 4, "l": 3},
    "SchemaProtect.t_closeness": {"t": 0.2, "distance": "equal"},
    "SchemaProtect.entropy_l": 2.5,
    "SchemaPrivacy.alpha_k": {"alpha": 0.5, "k": 5},
    "SchemaPrivacy.ir_kl": {"k": 5, "l": 2},
    "SchemaPrivacy.ir_alpha_beta": {"alpha": 0.5, "beta": 0.5},
    "SchemaPrivacy.eir_alpha_beta": {"alpha": 0.5, "beta": 0.5},
    "SchemaPrivacy.knows": {"events": 1},
    "SchemaPublish.schema": "published",
    "SchemaPublish.database": "release.duckdb",
    "SchemaPublish.prefix": "anonymous_",
    "SchemaPublish.names": {"visits": "encounters"},
    "Source.table": "main.visits",
    "Source.file": "visits.parquet",
    "Source.query": "select * from visits where day >= date '2026-01-01'",
    "Column.role": "quasi",
    "Column.hierarchy": {"builder": "cardinality"},
    "Column.sensitive_when": "consent is false",
    "Column.protect": {"l_diversity": 3},
    "Column.acknowledge": ["mail"],
    "Column.priority": 2,
    "Column.minimum_level": 1,
    "Publish.name": "visits_anonymous",
    "Publish.schema": "published",
    "Publish.database": "release.duckdb",
    "Publish.rename": {"age": "age_range"},
    "Publish.grant_select": ["analyst"],
    "Privacy.alpha_k": {"alpha": 0.5, "k": 5},
    "Privacy.level_l": {"0": 1, "1": 2, "2": 3},
    "Privacy.ir_kl": {"k": 5, "l": 2},
    "Privacy.ir_alpha_beta": {"alpha": 0.5, "beta": 0.5},
    "Privacy.eir_alpha_beta": {"alpha": 0.5, "beta": 0.5},
    "Privacy.k_map": {"k": 5, "population": "people.parquet"},
    "Privacy.delta_presence": {"min": 0, "max": 0.5, "population": "people.parquet"},
    "Protect.recursive_cl": {"c": 4, "l": 3},
    "Protect.t_closeness": {"t": 0.2, "distance": "equal"},
    "Protect.entropy_l": 2.5,
    "Protect.levels": {"2": ["HIV"], "0": ["Flu"]},
    "Code.at": 90,
    "Code.at_least": 5,
    "Rounding.to": "month",
    "KMap.population": "people.parquet",
    "DeltaPresence.population": "people.parquet",
    "Population.table": "main.people",
    "Population.file": "people.parquet",
    "Taxonomy.file": "zip.csv",
    "Taxonomy.table": "zip_tree",
    "AlphaK.value": "HIV",
    "Order.values": ["low", "medium", "high"],
    "Divisor.divisors": [5, 10, 50],
    "Prefix.lengths": [4, 3, 2],
    "Suffix.lengths": [4, 3, 2],
    "Intervals.cuts": [18, 40, 65],
    "Intervals.bottom": 18,
    "Intervals.top": 65,
    "Date.levels": ["month", "quarter", "year"],
}
"""Examples by model and key, if the type alone gives no useful one."""

MASKING: dict[str, Any] = {
    "key_file": "tokens.key",
    "vault": "vault.duckdb",
    "within": "30 days",
    "per": "visit_id",
    "at": 90,
    "at_least": 5,
    "to": "month",
    "amount": 3,
    "share": 0.1,
    "patterns": ["mail", "phone"],
    "value": "removed",
    "population": "areas.csv",
    "top_code": 90,
    "bottom_code": 18,
    "round": 1000,
    "safe_harbor": "dates",
}
"""Examples of the options of masks, which columns of one table and of several have alike."""
EXAMPLES |= {f"{of}.{key}": v for of in ("Column", "SchemaColumn") for key, v in MASKING.items()}


def main() -> int:
    """Write the pages, or compare them with what would be written."""
    stale = []
    for name, made in PAGES.items():
        path, text = FOLDER / name, made()
        if "--check" in sys.argv:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                stale.append(name)
            continue
        FOLDER.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if stale:
        print(f"not current: {', '.join(stale)}; run python tools/make_reference.py")
    return len(stale)


@cache
def definitions() -> dict[str, dict[str, Any]]:
    """The JSON Schema of all kinds of policies, and of their parts."""
    found: dict[str, dict[str, Any]] = anonymizer.Policy.json_schema()["$defs"]
    return found


def models() -> dict[str, dict[str, Any]]:
    """The JSON Schema of every part of a policy: of one table, of several, then of counts."""
    parts = definitions()
    order: list[str] = []
    for root in ("Policy", "SchemaPolicy", "AggregatePolicy"):
        # a part stands behind the one that names it first
        order.append(root)
        for here in order:
            text = json.dumps(parts[here].get("properties"))
            named = re.findall(r"#/\$defs/(\w+)", text)
            order += [name for name in dict.fromkeys(named) if name not in order]
    return {name: parts[name] for name in order if "properties" in parts[name]}


def policy_page() -> str:
    """Every key of a policy: type, default, example, meaning."""
    parts = [
        HEAD + "# Reference of the policy\n\nEvery key that a policy can have. A key without a"
        " default is required. Editors complete and check a policy with the JSON Schema that"
        " `anonymizer schema` prints. A policy with `tables` is a [SchemaPolicy](#schemapolicy),"
        " one with `aggregate` an [AggregatePolicy](#aggregatepolicy).\n"
    ]
    for name, part in models().items():
        parts.append(f"## {name}\n\n{_one_line(part.get('description', ''))}\n")
        parts.append(
            "| key | type | default | example | meaning |\n| --- | --- | --- | --- | --- |"
        )
        parts[-1] += "".join(
            "\n| " + " | ".join(_cell(text) for text in row) + " |" for row in _rows(name, part)
        )
        parts[-1] += "\n"
    return "\n".join(parts)


def _rows(model: str, part: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str, str]]:
    required = part.get("required", [])
    for key, field in part["properties"].items():
        default = "" if key in required else _value(field.get("default"))
        example = f"`{key}: {_yaml(example_of(model, key, field))}`"
        meaning = _one_line(field.get("description", ""))
        yield f"`{key}`", type_of(field), default, example, meaning


def type_of(field: Mapping[str, Any]) -> str:
    """The type of a field in words, with links to the parts of a policy."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in field:
        return _value(field["const"])
    if "enum" in field:
        return ", ".join(_value(item) for item in field["enum"])
    for union in ("anyOf", "oneOf"):
        if union in field:
            kinds = [type_of(item) for item in field[union] if item.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    if isinstance(field.get("type"), list):
        return " or ".join(type_of({"type": one}) for one in field["type"])
    kind = str(field.get("type", "value"))
    if kind == "array":
        return f"list of {type_of(field.get('items', {}))}"
    if kind == "object":
        return f"mapping to {type_of(field.get('additionalProperties') or {})}"
    bounds = {
        "minimum": "≥",
        "exclusiveMinimum": ">",
        "maximum": "≤",
        "exclusiveMaximum": "<",
    }
    shown = {name: field[name] for name in bounds if abs(field.get(name, 2**53)) < 2**53}
    limits = [f"{bounds[name]} {value}" for name, value in shown.items()]
    return " ".join([{"string": "text"}.get(kind, kind), ", ".join(limits)]).strip()


def example_of(model: str, key: str, field: Mapping[str, Any]) -> Any:
    """A value that the field can have: a stated one, or one that its type tells."""
    stated = EXAMPLES.get(f"{model}.{key}")
    if stated is not None:
        return stated
    return _example(field)


def _example(field: Mapping[str, Any]) -> Any:
    if "const" in field:
        return field["const"]
    if "enum" in field:
        return field["enum"][-1]
    for union in ("anyOf", "oneOf"):
        if union in field:
            return _example(field[union][0])
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        part = definitions()[name]
        if "properties" not in part:
            return _example(part)
        return {
            key: example_of(name, key, part["properties"][key]) for key in part.get("required", [])
        }
    match field.get("type"):
        case "boolean":
            return not field.get("default", False)
        case "integer":
            least = field.get("minimum", field.get("exclusiveMinimum", 0) + 1)
            return max(int(least), 2)
        case "number":
            return 0.5 if field.get("exclusiveMinimum", 0) < 0.5 else 1.5
        case "array":
            return [_example(field["items"])] if field.get("items") else [0, 100]
        case "object":
            return {"name": _example(field.get("additionalProperties") or {})}
    return "name"


def python_page() -> str:
    """The public Python interface: signatures and docstrings."""
    parts = [HEAD + "# Reference of the Python interface\n"]
    for name in anonymizer.__all__:
        if not name.startswith("_"):
            parts.append(_described(f"anonymizer.{name}", getattr(anonymizer, name)))
    for kind in (Verification, Check, Plan, Limits):
        parts.append(_described(f"{kind.__module__}.{kind.__name__}", kind))
    return "\n".join(parts)


def _described(name: str, thing: Any) -> str:
    if not inspect.isclass(thing):
        return f"## `{name}{_signature(thing)}`\n\n{inspect.getdoc(thing)}\n"
    lines = [f"## `{name}`\n", f"{inspect.getdoc(thing)}\n"]
    if issubclass(thing, BaseException):
        return "\n".join(lines)
    document = issubclass(thing, Document)
    annotations = {} if document else inspect.get_annotations(thing)
    for field, kind in annotations.items():
        if not field.startswith("_"):
            lines.append(f"- `{field}: {kind}`{_comment(thing, field)}")
    bases = thing.__mro__[thing.__mro__.index(Document) :: -1] if document else (thing,)
    for field, value in {k: v for base in bases for k, v in vars(base).items()}.items():
        if field.startswith(("_", "model_")) or not (inspect.getdoc(value) or "").strip():
            continue
        said = _one_line(str(inspect.getdoc(value)))
        if isinstance(value, property):
            lines.append(f"- `{field}`: {said}")
        elif inspect.isfunction(value) or isinstance(value, classmethod):
            function = value.__func__ if isinstance(value, classmethod) else value
            lines.append(f"- `{field}{_signature(function)}`: {said}")
    return "\n".join(lines) + "\n"


class _Bare:
    """An annotation as it is written, without the quotes of a text."""

    def __init__(self, annotation: Any) -> None:
        self.text = annotation if isinstance(annotation, str) else repr(annotation)

    def __repr__(self) -> str:
        return self.text.replace("'", "")


def _signature(function: Any) -> str:
    found = inspect.signature(inspect.unwrap(function))
    kept = [
        p if p.annotation is p.empty else p.replace(annotation=_Bare(p.annotation))
        for p in found.parameters.values()
        if p.name not in ("self", "cls")
    ]
    returned = found.return_annotation
    if returned is not found.empty:
        returned = _Bare(returned)
    return str(found.replace(parameters=kept, return_annotation=returned))


def _comment(kind: type, field: str) -> str:
    """The string that stands below a field of a class."""
    found = re.search(
        rf'^    {field}: [^\n]*\n    """(.*?)"""', inspect.getsource(kind), re.DOTALL | re.MULTILINE
    )
    return f": {_one_line(found[1])}" if found else ""


def _value(value: object) -> str:
    # (the defaults of a part stand in its own table)
    return "" if value in (None, "") or isinstance(value, dict) else f"`{_yaml(value)}`"


def _yaml(value: object) -> str:
    """A value as one line of YAML, which JSON is; plain words stand without quotes."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(r'"([A-Za-z_][\w./-]*)"', r"\1", text)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


PAGES = {"policy.md": policy_page, "python.md": python_page}
"""What makes every page, by its file name."""

if __name__ == "__main__":
    sys.exit(main())

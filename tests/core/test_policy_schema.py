"""The JSON Schema: it accepts what the reader accepts, and refuses plain mistakes."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from ruamel.yaml import YAML

from anonymizer.policy import Policy
from tests.core.test_policy import EXAMPLE, MSB_COLUMNS, MSB_PRIVACY, SMALL, quasi, sensitive

jsonschema: Any = pytest.importorskip("jsonschema")
CHECKER = jsonschema.Draft202012Validator(Policy.json_schema())


def as_json(given: Any) -> Any:
    return json.loads(json.dumps(given))


def test_is_a_schema() -> None:
    schema = Policy.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")
    of_one, of_several = schema["$defs"]["Policy"], schema["$defs"]["SchemaPolicy"]
    assert set(of_one["required"]) == {"version", "source", "columns"}
    assert set(of_several["required"]) == {"version", "person", "tables"}
    assert of_one["additionalProperties"] is of_several["additionalProperties"] is False
    json.dumps(schema)


def test_every_option_is_described() -> None:
    models = Policy.json_schema()["$defs"]
    assert {"Policy", "SchemaPolicy", "SchemaTable", "Column"} <= set(models)
    silent = [
        f"{name}.{option}"
        for name, model in models.items()
        for option, about in model.get("properties", {}).items()
        if "description" not in about and "const" not in about
    ]
    assert silent == []


def test_example_is_valid() -> None:
    given = YAML(typ="safe", pure=True).load(EXAMPLE)
    CHECKER.validate(as_json(given))
    CHECKER.validate(as_json(Policy.loads(EXAMPLE).to_dict()))


@pytest.mark.parametrize(
    "sections",
    [
        quasi(hierarchy={"file": "tree.csv"}),
        quasi(hierarchy={"table": "tree"}),
        sensitive(t_closeness=0.2),
        sensitive(t_closeness={"t": 0.2, "distance": "ordered"}),
        {"privacy": {"k_map": {"k": 3, "population": "main.p"}}},
        {"privacy": {"k_map": {"k": 3, "population": {"file": "p.csv"}}}},
        {"workload": {"sql": ["select 1"]}},
        {"columns": MSB_COLUMNS, "privacy": MSB_PRIVACY, "algorithm": {"name": "msb"}},
        {"preset": "internal", "privacy": {}},
    ],
)
def test_shorthands_are_valid(sections: dict[str, Any]) -> None:
    given = {**copy.deepcopy(SMALL), **sections}
    CHECKER.validate(as_json(given))
    CHECKER.validate(as_json(Policy.model_validate(given).to_dict()))


@pytest.mark.parametrize(
    "sections",
    [
        {"version": 2},
        {"source": {}},
        {"source": {"table": "a", "file": "b.csv"}},
        {"engine": "oracle"},
        {"colums": {}},
        quasi(role="quazi"),
        quasi(hierarchy={"builder": "magic"}),
        quasi(hierarchy={"builder": "prefix", "cuts": [1]}),
        {"privacy": {"k_anonymity": "5"}},
        {"privacy": {"k_anonymity": 1}},
        {"algorithm": {"name": "mondrian", "strategy": "mbf"}},
        {"algorithm": {}},
        {"publish": {"schema_": "x"}},
    ],
)
def test_mistakes_are_invalid(sections: dict[str, Any]) -> None:
    assert not CHECKER.is_valid(as_json({**copy.deepcopy(SMALL), **sections}))

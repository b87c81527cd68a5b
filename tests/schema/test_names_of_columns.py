"""Published columns may have the names that statements of the verification use themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer import Policy, SchemaPolicy
from anonymizer.errors import PolicyError
from tests.schema import hospital


def renamed(folder: Path, event: str, sensitive: str) -> SchemaPolicy:
    """The hospital, whose wards and diagnoses are called otherwise."""
    made = hospital.policy(folder).to_dict()
    visits = made["tables"]["visits"]
    visits["source"] = {
        "query": f'select visit_id, patient_id, day, ward as "{event}",'
        f' diagnosis as "{sensitive}", cost from visits'
    }
    columns = visits["columns"]
    columns[event] = columns.pop("ward")
    columns[sensitive] = columns.pop("diagnosis") | {"protect": {"l_diversity": 2}}
    made["privacy"]["knows"] = {"events": 1, "sensitive": True}
    return Policy.model_validate(made, context={"base": folder})  # type: ignore[return-value]


@pytest.mark.parametrize("name", ["anonymizer:class", "Anonymizer:Person", "anonymizer:set"])
def test_names_beside_published_columns_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="a name of the tool's own") as raised:
        renamed(tmp_path, "ward", name)
    assert [one.path for one in raised.value.problems] == [f'tables.visits.columns."{name}"']
    single = {
        "version": 1,
        "source": {"table": "t"},
        "columns": {"age": {"role": "quasi"}, name: {"role": "keep"}},
        "privacy": {"k_anonymity": 2},
    }
    with pytest.raises(PolicyError, match="a name of the tool's own") as raised:
        Policy.model_validate(single)
    assert [one.path for one in raised.value.problems] == [f'columns."{name}"']

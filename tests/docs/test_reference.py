"""The reference pages are those that the code makes, and their examples are valid."""

import pytest
from jsonschema import Draft202012Validator

from tools.make_reference import FOLDER, PAGES, definitions, example_of, models

FIELDS = [
    (model, key, field)
    for model, part in models().items()
    for key, field in part["properties"].items()
]


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_current(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name]()


@pytest.mark.parametrize(
    ("model", "key", "field"), FIELDS, ids=[f"{model}.{key}" for model, key, _ in FIELDS]
)
def test_the_example_is_valid(model: str, key: str, field: dict[str, object]) -> None:
    schema = {**field, "$defs": definitions()}
    Draft202012Validator(schema).validate(example_of(model, key, field))


def test_every_key_has_a_meaning() -> None:
    told_apart = {"name", "builder"}
    silent = [f"{m}.{k}" for m, k, f in FIELDS if not f.get("description") and k not in told_apart]
    assert silent == []

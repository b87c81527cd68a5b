"""The page on privacy models shows what the guarantees say of themselves."""

from __future__ import annotations

import re

from anonymizer.guarantees.requirements import FIELDS, GUARANTEES
from tools.make_models_table import PAGE, page, table


def test_the_table_is_the_one_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text


def test_every_guarantee_and_every_flag_is_in_the_table() -> None:
    assert all(re.split(r"(?<!\\)\|", row)[4:] for g in GUARANTEES for row in g.docs)
    for field in FIELDS:
        name = field.partition(".")[2]
        assert name in table() or name == "default_level"


def test_rows_have_five_cells() -> None:
    for guarantee in GUARANTEES:
        for row in guarantee.docs:
            assert len(re.split(r"(?<!\\)\|", row)) == 5, row

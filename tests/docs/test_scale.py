"""The page on engines shows what the table of capabilities says."""

from __future__ import annotations

import pytest

from anonymizer.engines.registry import FEATURES, engines, refuse
from anonymizer.errors import PolicyError
from tests.backends.tables import policy
from tools.make_scale_table import PAGE, page


def test_the_table_is_the_one_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text


def test_every_refusal_tells_why_and_what_instead() -> None:
    for feature in FEATURES:
        assert set(feature.lacking) <= set(engines())
        for reason, instead in feature.lacking.values():
            assert reason
            assert instead


def test_a_feature_that_is_lacking_is_refused_with_its_path() -> None:
    given = policy({"age": "quasi", "ill": {"role": "token", "format": "like"}})
    refuse(given, "duckdb")
    with pytest.raises(PolicyError, match=r"columns\.ill\.format: .*spark.*format: hex"):
        refuse(given, "spark")

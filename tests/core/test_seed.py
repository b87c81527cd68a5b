"""The secret of a run, as it is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.errors import PolicyError
from anonymizer.process.secret import Seed


@pytest.mark.parametrize("given", [1.5, True, b"ab" * 32, [1], Path("seed"), {}], ids=repr)
def test_what_is_no_secret_is_not_taken_for_none(given: object) -> None:
    """A fresh secret in its place would make a release that cannot be made again."""
    with pytest.raises(PolicyError) as refused:
        Seed.from_argument(given)
    (problem,) = refused.value.problems
    assert problem.path == "seed"
    assert problem.allowed is not None
    assert type(given).__name__ in problem.message


def test_numbers_of_numpy_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    assert Seed.from_argument(numpy.int64(3)) == Seed.from_argument(3)
    assert Seed.from_argument(3).reproducible


def test_none_draws_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANONYMIZER_SEED", raising=False)
    assert Seed.from_argument(None) != Seed.from_argument(None)
    monkeypatch.setenv("ANONYMIZER_SEED", "AB" * 32)
    assert Seed.from_argument(None) == Seed.from_argument("ab" * 32)
    assert not Seed.from_argument(None).reproducible

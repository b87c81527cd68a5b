"""A guarantee of two files and an algorithm of three; what is forgotten is refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import duckdb
import pytest

from tests.selection import some
from tests.toys.copies import Copy, blocks, copied

FIELD, DESCRIPTOR = blocks("guarantee.md")
ALGORITHM = blocks("algorithm.md")
ENGINE = blocks("engine.md")


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return copied(tmp_path)


def refused(copy: Copy, said: str, exit_code: int) -> None:
    """The run fails and says why; nothing is published."""
    done = copy.run()
    assert done.returncode == exit_code, done.stderr
    assert said in done.stderr
    assert not copy.release.exists()


def largest_share(copy: Copy) -> float:
    with duckdb.connect(str(copy.release), read_only=True) as opened:
        row = opened.execute(
            "select max(n / units) from (select count(*) as n, sum(count(*)) over (partition by"
            " class_id) as units from released group by class_id, ill)"
        ).fetchone()
    assert row is not None
    return float(row[0])


def test_a_guarantee_takes_two_files() -> None:
    assert len({block.path for block in (FIELD, DESCRIPTOR)}) == 2


def test_an_algorithm_takes_three_files() -> None:
    assert len({block.path for block in ALGORITHM}) == 3


@pytest.mark.slow
def test_a_guarantee_of_two_files_is_kept(copy: Copy) -> None:
    copy.policy()
    assert copy.run().returncode == 0
    assert largest_share(copy) > 0.5
    copy.release.unlink()
    copy.add(FIELD, DESCRIPTOR)
    copy.policy("max_share: 0.5")
    done = copy.run()
    assert done.returncode == 0, done.stderr
    assert largest_share(copy) <= 0.5
    verified = copy.anonymizer("verify", "policy.yaml", "--format", "json")
    assert verified.returncode == 0, verified.stderr
    assert '"max_share"' in verified.stdout
    assessed = copy.anonymizer(
        *("assess", "people", "--database", "people.duckdb", "--quasi", "age"),
        *("--sensitive", "ill", "--require", "max_share=0.5"),
    )
    assert assessed.returncode == 1
    assert "max_share" in assessed.stderr


@pytest.mark.slow
def test_a_release_is_not_verified_against_what_no_question_asks(copy: Copy) -> None:
    copy.policy()
    assert copy.run().returncode == 0
    copy.add(FIELD, DESCRIPTOR)
    copy.change(DESCRIPTOR.path, 'worst="greatest",', 'worst="greatest", scopes=(),')
    copy.policy("max_share: 0.5")
    verified = copy.anonymizer("verify", "policy.yaml")
    assert verified.returncode == 2
    assert "max_share: has a parameter that no check reads" in verified.stderr


@pytest.mark.slow
def test_a_field_that_nothing_answers_for_is_refused(copy: Copy) -> None:
    copy.add(FIELD)
    copy.policy("max_share: 0.5")
    imported = copy.python("-c", "import anonymizer.guarantees.requirements")
    assert imported.returncode != 0
    assert "protect.max_share: no guarantee answers for it" in imported.stderr
    refused(copy, "protect.max_share: no guarantee answers for it", 70)


@some(1)
@pytest.mark.parametrize(
    ("forgotten", "instead", "said", "exit_code"),
    [
        # no rule, or one that asks for nothing: the verifier finds what the search did not keep
        ("    rules=lambda given", "    # rules=lambda given", "TypeError", 70),
        (
            "[MaxShare(given.column, given.value, null_as_value=given.null_as_value)]",
            "[]",
            "columns.ill.protect: max_share requires 0.5",
            1,
        ),
        # no question at all, or none that is asked of classes
        ("    asks=(\n", "    asks=() and (\n", "protect.max_share: asks the verifier nothing", 70),
        ('worst="greatest",', 'worst="greatest", scopes=("group",),',
         "max_share: has a parameter that no check reads", 2),
        # no example by which rule, question and definition are compared
        ('examples=(Example(0.5, holds="ab bcca", fails="aab"),)', "examples=()",
         "protect.max_share: has no example to be judged by", 70),
        # a question under another name
        ('worst="greatest",', 'worst="greatest", name="k_anonymity",',
         "columns.ill.protect.max_share: was not judged", 1),
        # answers for the field of another guarantee
        ('field="protect.max_share"', 'field="protect.alpha"',
         "protect.alpha: several guarantees answer for it", 70),
    ],
)  # fmt: skip
def test_a_part_of_the_descriptor_that_is_forgotten(
    copy: Copy, forgotten: str, instead: str, said: str, exit_code: int
) -> None:
    copy.add(FIELD, DESCRIPTOR)
    copy.change(DESCRIPTOR.path, forgotten, instead)
    copy.policy("max_share: 0.5")
    refused(copy, said, exit_code)


@pytest.mark.slow
def test_a_statement_that_is_missing(copy: Copy) -> None:
    copy.add(FIELD, DESCRIPTOR)
    copy.change(DESCRIPTOR.path, "statement=STATEMENT", "statement=None")
    copy.policy("max_share: 0.5")
    refused(copy, "TemplateNotFound", 70)


@pytest.mark.slow
def test_an_algorithm_of_three_files_runs(copy: Copy) -> None:
    copy.add(*ALGORITHM)
    copy.policy(algorithm="sorted_blocks")
    done = copy.run()
    assert done.returncode == 0, done.stderr
    with duckdb.connect(str(copy.release), read_only=True) as opened:
        sizes = opened.execute("select count(*) from released group by class_id").fetchall()
    assert sizes == [(3,)] * 20
    # what it does not work towards is refused before anything is read
    copy.release.unlink()
    copy.policy("alpha: 0.5", "sorted_blocks")
    refused(copy, "is not a rule that the algorithm sorted_blocks works towards", 2)


@pytest.mark.slow
def test_an_algorithm_that_ignores_a_guarantee(copy: Copy) -> None:
    copy.add(*ALGORITHM)
    copy.change(ALGORITHM[2].path, 'frozenset({"size"})', 'frozenset({"size", "protection"})')
    copy.policy("alpha: 0.5", "sorted_blocks")
    refused(copy, "columns.ill.protect: alpha requires 0.5", 1)


@pytest.mark.slow
def test_options_without_an_algorithm(copy: Copy) -> None:
    copy.add(*ALGORITHM[:2])
    copy.policy(algorithm="sorted_blocks")
    refused(copy, "sorted_blocks: 0 packages make this algorithm", 70)


def on_quack(copy: Copy, verb: str, *more: str) -> subprocess.CompletedProcess[str]:
    return copy.anonymizer(verb, "policy.yaml", "--database", "quack:people.duckdb", *more)


@pytest.mark.slow
def test_an_engine_of_five_files_runs(copy: Copy) -> None:
    assert len({block.path for block in ENGINE}) == 5
    copy.add(*ENGINE)
    copy.policy()
    done = on_quack(copy, "run", "--test-seed", "1")
    assert done.returncode == 0, done.stderr
    verified = on_quack(copy, "verify")
    assert verified.returncode == 0, verified.stderr
    rows = duckdb.read_parquet(str(copy.release)).fetchall()
    copy.release.unlink()
    assert copy.anonymizer(
        "run", "policy.yaml", "--database", "people.duckdb", "--test-seed", "1"
    ).returncode == 0  # fmt: skip
    with duckdb.connect(str(copy.release), read_only=True) as opened:
        assert opened.execute("from released").fetchall() == rows


@pytest.mark.slow
def test_what_an_engine_does_not_say_that_it_has_is_refused(copy: Copy) -> None:
    copy.add(*ENGINE)
    copy.policy("l_diversity: 2")
    done = on_quack(copy, "run")
    assert done.returncode == 2
    assert "columns.ill.protect.l_diversity: is not available with the engine quack" in done.stderr
    assert not copy.release.exists()


@pytest.mark.slow
@some(1)
@pytest.mark.parametrize("number", range(2, 5))
def test_a_file_of_an_engine_that_is_forgotten(copy: Copy, number: int) -> None:
    """Nothing is published; without its name (the first file) only a policy cannot ask for it."""
    copy.add(*(block for at, block in enumerate(ENGINE) if at != number))
    copy.policy()
    done = on_quack(copy, "run")
    assert done.returncode != 0
    assert not copy.release.exists()

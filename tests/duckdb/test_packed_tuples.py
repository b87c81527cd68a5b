"""Tuples of codes as words: nothing is lost, order is kept, and later values are refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.algorithms.core.encode import tuple_words
from anonymizer.compile import ident
from anonymizer.engines.duckdb.source import open_session
from anonymizer.engines.execute import Executor
from anonymizer.errors import Problem, SourceError
from anonymizer.process.secret import Seed
from anonymizer.run.prepare import prepare
from anonymizer.source.profile import Attribute
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import SNAPSHOT
from tests.duckdb.partitions import expected
from tests.runs import THRIFTY, classes, policy, published, run, source

MANY = 2**31 - 2


def attributes(sizes: Sequence[int]) -> list[Attribute]:
    return [
        Attribute(index, f"x{index}", "INTEGER", "numeric", distinct=size)
        for index, size in enumerate(sizes, 1)
    ]


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, ...]]]:
    """Sizes of domains, and rows of codes in them, 0 (NULL) and the largest among them."""
    sizes = draw(
        st.lists(st.sampled_from([0, 1, 2, 7, 1000, 10**6, MANY]), min_size=1, max_size=12)
    )
    codes = st.tuples(*(st.sampled_from([0, size // 2, size]) for size in sizes))
    return sizes, draw(st.lists(codes, min_size=1, max_size=20))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(tables())
def test_codes_come_back_from_words_that_compare_as_they_do(
    table: tuple[list[int], list[tuple[int, ...]]],
) -> None:
    sizes, rows = table
    columns = attributes(sizes)
    words = tuple_words(columns)
    assert [a for word in words for a in word.attributes] == columns
    names = ", ".join(str(a.c) for a in columns)
    values = ", ".join(f"({', '.join(map(str, row))})" for row in rows)
    packed = ", ".join(f"{word.packed(lambda a: str(a.c))} as {word.name}" for word in words)
    unpacked = ", ".join(str(code) for word in words for code, _ in word.codes())
    order = ", ".join(str(word.name) for word in words)
    made = f"select {packed} from (values {values}) t({names})"
    found = duckdb.execute(f"select {unpacked} from ({made}) order by {order}").fetchall()
    assert found == sorted(rows)


def test_as_many_codes_share_a_word_as_fit() -> None:
    assert [len(word.attributes) for word in tuple_words(attributes([1] * 62))] == [62]
    assert [len(word.attributes) for word in tuple_words(attributes([1] * 63))] == [62, 1]
    assert [len(w.attributes) for w in tuple_words(attributes([MANY, MANY, 2]))] == [2, 1]


@pytest.mark.slow
def test_tuples_of_several_words_make_the_classes_of_the_oracle(tmp_path: Path) -> None:
    width, k = 14, 3
    rows = [tuple((i * (j + 3) + j) % 90 for j in range(width)) for i in range(90)]
    assert len(tuple_words(attributes([90] * width))) > 1
    columns = {f"x{j}": "quasi" for j in range(width)}
    given_policy = policy(
        tmp_path,
        {"id": {"role": "keep", "acknowledge_unique": True}, **columns},
        k=k,
        algorithm={"name": "mondrian", "split": "median"},
    )
    types = {"id": "INTEGER", **dict.fromkeys(columns, "INTEGER")}
    database = source(tmp_path, types, [(i, *row) for i, row in enumerate(rows)])
    made = classes(published(run(given_policy, database)))
    assert made == expected(rows, k, split="median")


def refused(folder: Path, algorithm: dict[str, object], later: Callable[[Roles], str]) -> Problem:
    """The only problem of a plan for 40 persons whose tables a statement changes before it runs."""
    given_policy = policy(
        folder,
        {
            "age": {"role": "quasi", "hierarchy": {"builder": "conventional"}},
            "sex": {"role": "quasi", "hierarchy": {"builder": "frequency"}},
        },
        algorithm=algorithm,
    )
    rows = [(20 + i % 9, "mf"[i % 2]) for i in range(40)]
    database = source(folder, {"age": "INTEGER", "sex": "VARCHAR"}, rows)
    with open_session(given_policy, database, limits=THRIFTY) as session:
        session.engine.binds = {"secret": Seed.test(1).secret}
        executor = Executor(session.engine)
        prepared = prepare(given_policy, session, executor)
        session.engine.raw(later(prepared.roles), "later")
        with pytest.raises(SourceError) as error:
            executor.run(prepared.compiled.stages)
    (problem,) = error.value.problems
    return problem


@pytest.mark.parametrize("algorithm", ["mondrian", "full_domain"])
def test_values_that_came_after_the_plan_are_refused(tmp_path: Path, algorithm: str) -> None:
    """A script that is run on a table which has changed must not take one tuple for another."""

    def later(roles: Roles) -> str:
        return f"insert into {ident(roles.quasi[0].values)} values (28, 1), (29, 1)"

    problem = refused(tmp_path, {"name": algorithm}, later)
    assert problem.path == "columns.age"
    assert "1 more value" in problem.message or "2 more values" in problem.message
    assert "compile" in str(problem.hint)


@pytest.mark.parametrize(
    "algorithm",
    [
        {"name": "mondrian"},
        {"name": "mondrian", "strict": False},
        {"name": "lgb"},
        {"name": "full_domain"},
        {"name": "privacyfrost"},
    ],
    ids=str,
)
def test_nulls_that_came_after_the_plan_are_refused(
    tmp_path: Path, algorithm: dict[str, object]
) -> None:
    """Statements leave out what only NULLs need where none were counted."""

    def later(roles: Roles) -> str:
        return f"update {ident(SNAPSHOT)} set {roles.quasi[1].q} = null where rowid < 3"

    problem = refused(tmp_path, algorithm, later)
    assert problem.path == "columns.sex"
    assert "has 3 NULLs and had none when the plan was made" in problem.message
    assert "compile" in str(problem.hint)

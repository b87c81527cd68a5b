"""Tuples of codes as words: nothing is lost, order is kept, and later values are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import strategies as st

from anonymizer.compile import ident
from anonymizer.engines.duckdb.source import open_session
from anonymizer.engines.execute import Executor
from anonymizer.errors import Problem, SourceError
from anonymizer.process.secret import Seed
from anonymizer.run.prepare import prepare
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import SNAPSHOT
from tests.runs import THRIFTY, policy, source

MANY = 2**31 - 2


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, ...]]]:
    """Sizes of domains, and rows of codes in them, 0 (NULL) and the largest among them."""
    sizes = draw(
        st.lists(st.sampled_from([0, 1, 2, 7, 1000, 10**6, MANY]), min_size=1, max_size=12)
    )
    codes = st.tuples(*(st.sampled_from([0, size // 2, size]) for size in sizes))
    return sizes, draw(st.lists(codes, min_size=1, max_size=20))


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

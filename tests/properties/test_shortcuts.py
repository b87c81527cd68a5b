"""Every shortcut of the verifier says what the plain check says, of whole and of tampered releases.

A proof never holds where the plain check fails, and holds wherever nothing was tampered with; a
statement of figures gives the row of the plain one. `verification.fast` as a whole finds the same.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import duckdb
import pytest

from anonymizer.compile import Table
from anonymizer.compile.sql import templates
from anonymizer.contract.checks import Check
from anonymizer.contract.layout import Layout, Originals, PublishedColumn, Requirement
from anonymizer.verification.fast import (
    Figures,
    Proof,
    Shortcut,
    WorkTables,
    answer,
    fast_release,
    release_shortcuts,
    source_proofs,
)
from anonymizer.verification.questions import Question, ask_all
from anonymizer.verification.release import verify_release
from anonymizer.verification.source_comparison import verify_against_source
from tests.duckdb import test_verify_form as form
from tests.properties.tables import TEXTS
from tests.selection import exhaustive, rounds, slow

VIEW, LINK, ORIGINALS = form.VIEW, form.LINK, form.ORIGINALS
TABLES = WorkTables(Table("judged", "main"), Table("counted", "main"))
COMPARED, PAIRS = Table("compared", "main"), Table("judged_pairs", "main")
RULES = (
    Requirement("k_anonymity", None, {"k": 3}),
    Requirement("distinct_l", "pay", {"l": 2}, "bucket"),
    Requirement("entropy_l", "pay", {"l": 1.5}, "bucket"),
    Requirement("t_closeness", "pay", {"t": 0.6, "distance": "ordered"}, "bucket"),
    Requirement("alpha", "pay", {"alpha": 0.5}, "bucket"),
    Requirement("recursive_cl", "age", {"c": 2, "l": 2}, "bucket"),
    Requirement("beta_likeness", "age", {"beta": 2}, "bucket"),
    Requirement("delta_disclosure", "job", {"delta": 2}, "bucket"),
)
OF_GROUPS = (
    Requirement("distinct_l", "ill", {"l": 2}, "group"),
    Requirement("alpha", "ill", {"alpha": 0.7}, "group"),
    Requirement("distinct_l", "cost", {"l": 2}, "group"),
)
ROLES = ("release", "link", "source")


class Compared:
    """Asks in both ways, and counts what became of the shortcuts by the names of templates."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, whole: bool) -> None:
        self.connection = connection
        self.whole = whole
        self.proved: Counter[str] = Counter()
        self.unproved: Counter[str] = Counter()
        self.figures: Counter[str] = Counter()
        self.told: dict[str, list[tuple[Any, ...]]] = {}

    def run_sql(self, text: str) -> list[tuple[Any, ...]]:
        """What the release says of a text; it stays the same."""
        if text not in self.told:
            self.told[text] = self.connection.execute(text).fetchall()
        return self.told[text]

    def same(
        self, questions: Sequence[Question], shortcuts: Iterable[Shortcut | None]
    ) -> tuple[Check, ...]:
        """The plain answers, which those of the shortcuts are."""
        found = ask_all(questions, self.run_sql)
        cuts = tuple(shortcuts)
        for question, shortcut, check in zip(questions, cuts, found, strict=True):
            self.one(question, shortcut, check)
        assert answer(questions, cuts, self.run_sql) == found
        return found

    def one(self, question: Question, shortcut: Shortcut | None, check: Check) -> None:
        match shortcut:
            case Figures(sql):
                assert sql != question.sql(figures=True)
                assert self.run_sql(sql) == self.run_sql(question.sql(figures=True))
                self.figures[question.template] += 1
            case Proof(statements):
                proof = all(self.run_sql(sql)[0][0] == 0 for sql in statements)
                assert check.passed or not proof, f"{question.name} of {question.column}"
                # a proof may have more to say than one condition
                assert proof or not (self.whole and check.passed), question.name
                (self.proved if proof else self.unproved)[question.template] += 1

    def both(
        self, originals: Originals, layout: Layout, rules: Sequence[Requirement], suppressed: int
    ) -> None:
        """Ask everything of a release, alone and beside its source."""

        def alone(questions: Sequence[Question], run_sql: Any) -> tuple[Check, ...]:
            cuts = release_shortcuts(questions, VIEW, layout, TABLES, run_sql)
            found = self.same(questions, cuts)
            assert fast_release(VIEW, layout)(questions, run_sql) == found
            return found

        def beside(questions: Sequence[Question], run_sql: Any) -> tuple[Check, ...]:
            proofs = source_proofs(originals, LINK, VIEW, layout, PAIRS, suppressed, run_sql)
            return self.same(questions, map(proofs.of, questions))

        verify_release(self.run_sql, VIEW, layout, rules, ask=alone)
        verify_against_source(
            self.run_sql, originals, LINK, VIEW, layout,
            compared=COMPARED, suppressed=suppressed, ask=beside,
        )  # fmt: skip


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as opened:
        yield opened


def tampered(
    draw: random.Random, connection: duckdb.DuckDBPyConnection, tables: Sequence[str]
) -> None:
    """One to three cells, rows or references that are not what they were."""
    for _ in range(draw.randint(1, 3)):
        table = draw.choice(tables)
        columns = [row[0] for row in connection.execute(f"describe {table}").fetchall()]
        (rows,) = connection.execute(f"select count(*) from {table}").fetchone() or (0,)
        at = f"rowid = {draw.randrange(max(rows, 1))}"
        match draw.randrange(6):
            case 0:
                connection.execute(f"delete from {table} where {at}")
            case 1:
                connection.execute(f"insert into {table} select * from {table} where {at}")
            case 2:
                name = draw.choice(columns)
                connection.execute(f'update {table} set "{name}" = null where {at}')
            case _:
                name = draw.choice(columns)
                other = (
                    f'(select "{name}" from {table} order by hash(rowid, {draw.random()}) limit 1)'
                )
                connection.execute(f'update {table} set "{name}" = {other} where {at}')


def covered(asked: Sequence[Compared]) -> tuple[set[str], set[str], set[str]]:
    """Templates that were proved, that were not, and that gave figures."""
    proved, unproved, figures = set[str](), set[str](), set[str]()
    for each in asked:
        proved |= set(each.proved)
        unproved |= set(each.unproved)
        figures |= set(each.figures)
    return proved, unproved, figures


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "rounds"),
    [
        (False, 20),
        pytest.param(True, 40, marks=slow),
        pytest.param(False, 120, marks=exhaustive),
        pytest.param(True, 120, marks=exhaustive),
    ],
)
def test_shortcuts_say_the_same_of_classes_and_buckets(
    connection: duckdb.DuckDBPyConnection, typed: bool, rounds: int
) -> None:
    draw = random.Random(21)
    layout = form.lgb_layout(typed)
    asked = []
    for number in range(rounds):
        originals = form.store(connection, *form.random_release(draw), typed)
        whole = number % 3 == 0
        if not whole:
            tampered(draw, connection, ROLES)
        asked.append(Compared(connection, whole))
        asked[-1].both(originals, layout, RULES, suppressed=0)
    proved, unproved, figures = covered(asked)
    own = {"class_cells", "class_flags", "cell_form", "cell_or_bucket"}
    against = {"source_rows", "source_link", "source_covers", "source_spanned", "source_equal",
               "source_bucket", "source_flags", "source_unflagged"}  # fmt: skip
    assert proved == own | against
    assert unproved >= {
        "class_cells",
        "source_rows",
        "source_link",
        "source_covers",
        "source_spanned",
        "source_bucket",
    }
    assert figures >= {"k_anonymity", "k_anonymity_tuples", "distinct_l", "entropy_l", "alpha"}


GROUPS = Layout(
    "msb",
    "text",
    (
        PublishedColumn("town", "quasi", "categorical", "VARCHAR", name="town"),
        PublishedColumn("age", "quasi", "numeric", "INTEGER", name="age"),
        PublishedColumn("ill", "sensitive", "categorical", "VARCHAR", name="ill"),
        PublishedColumn("cost", "sensitive", "numeric", "INTEGER", name="cost"),
        PublishedColumn("note", "keep", "categorical", "VARCHAR", name="note"),
    ),
    class_id=None,
    group_id="group_id",
    tables={"ill": "release_ill", "cost": "release_cost"},
)


def quoted(text: str | None) -> str | None:
    """A value as a cell of text."""
    if text is None:
        return None
    odd = text in ("", "*", "NULL") or text != text.strip(" ") or text.endswith(" or NULL")
    if odd or any(mark in text for mark in ',{}[]"'):
        return '"' + text.replace('"', '""') + '"'
    return text


def separated(draw: random.Random, connection: duckdb.DuckDBPyConnection) -> tuple[Originals, int]:
    """A source, its release in groups with values in tables of their own, and what was left out."""
    rows: list[dict[str, Any]] = [
        {
            "row_ref": number,
            "town": draw.choice([*TEXTS, None]),
            "age": draw.choice([1, 2, 30, None]),
            "ill": draw.choice(["flu", "hiv", "gout", None]),
            "cost": draw.choice([10, 20, None]),
            "note": draw.choice(["n", None]),
        }
        for number in range(draw.randint(4, 24))
    ]
    types = {"row_ref": "BIGINT", "town": "VARCHAR", "age": "INTEGER", "ill": "VARCHAR",
             "cost": "INTEGER", "note": "VARCHAR"}  # fmt: skip
    form.table(connection, "source", types, rows)
    left_out = draw.randint(0, 2)
    published = rows[left_out:]
    draw.shuffle(published)
    for place, row in enumerate(published):
        row["group_id"] = place // 3 + 1
    link = [
        {**row, "town": quoted(row["town"]), "age": None if row["age"] is None else str(row["age"])}
        for row in published
    ]
    shown = {"group_id": "BIGINT", "town": "VARCHAR", "age": "VARCHAR", "note": "VARCHAR"}
    form.table(connection, "link", {**shown, "row_ref": "BIGINT"}, link)
    form.table(connection, "release", shown, link)
    for name in ("ill", "cost"):
        draw.shuffle(published)
        form.table(
            connection, f"release_{name}", {"group_id": "BIGINT", name: types[name]}, published
        )
        connection.execute(
            f"create or replace table values_{name} as select distinct {name} as value from source"
            f" where {name} is not null"
        )
    connection.execute(
        "create or replace table towns as select distinct town as value from source"
        " where town is not null"
    )
    connection.execute(
        "create or replace table ages as select distinct age as value from source"
        " where age is not null"
    )
    names = {name: name for name in ("town", "age", "ill", "cost", "note")}
    known = {"town": Table("towns", "main"), "age": Table("ages", "main")}
    return Originals(ORIGINALS, names, distinct=known), left_out


@pytest.mark.slow
@rounds(15, 30, 120)
def test_shortcuts_say_the_same_of_groups(
    connection: duckdb.DuckDBPyConnection, rounds: int
) -> None:
    draw = random.Random(22)
    asked = []
    for number in range(rounds):
        originals, left_out = separated(draw, connection)
        whole = number % 3 == 0
        if not whole:
            tampered(draw, connection, (*ROLES, "release_ill", "release_cost"))
        asked.append(Compared(connection, whole))
        asked[-1].both(originals, GROUPS, OF_GROUPS, left_out)
    proved, unproved, figures = covered(asked)
    against = {"group_sizes", "source_values", "source_rows", "source_link", "source_equal",
               "source_covers", "source_spanned"}  # fmt: skip
    assert proved == against
    assert unproved == against
    assert figures >= {"level_l", "alpha"}


def test_every_shortcut_bears_the_name_of_a_plain_check() -> None:
    plain = templates("verify").keys()
    made = {"tuples", "values", "pairs", "quoted", "staged", "separated"}
    fast = {name for name in templates("fast") if not name.startswith("_")}
    assert fast - plain == made

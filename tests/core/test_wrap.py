"""Lines of SQL: broken between tokens, never within one, and never so that they mean another."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.compile.wrap import bound, comment, tokens, wrapped

TEXTS = st.text("ab '\"-$,\n/*é", max_size=50)
PARTS = st.one_of(
    TEXTS.map(lambda text: "'" + text.replace("'", "''") + "'"),
    TEXTS.filter(len).map(lambda text: '"' + text.replace('"', '""') + '"'),
    st.sampled_from(["x", "12.5", "count(*)", "a.b", "f(x, y)", "case when x then y end"]),
    st.sampled_from(["/* of old, */", "-- a remark\n"]),
)
STATEMENTS = st.lists(PARTS, min_size=1, max_size=30).map(
    lambda parts: "select " + ", ".join(parts)
)


def _meaning(text: str) -> list[str]:
    return [part for kind, part in tokens(text) if kind not in {"space", "line", "comment"}]


@given(STATEMENTS, st.integers(30, 120))
def test_what_is_wrapped_has_the_same_tokens(text: str, width: int) -> None:
    found = wrapped(text, width)
    assert _meaning(found) == _meaning(text)
    longest = max(len(part) for _, part in tokens(text))
    assert all(len(line) <= max(width, longest + 2) for line in found.split("\n"))


@given(STATEMENTS)
def test_tokens_are_the_whole_text(text: str) -> None:
    assert "".join(part for _, part in tokens(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "select 'it''s -- no comment, $secret' as a, \"$secret\" as b, 1 -- $secret, really\n"
        ', $$x, \'$$ from (select 7 as "$secret")',
        "select e'a\\'b, c' as a, $tag$ it's, $$ $tag$ as b /* 'x */, 'y' as c",
    ],
)
def test_narrow_lines_give_the_same_answer(text: str) -> None:
    with duckdb.connect() as connection:
        assert (
            connection.execute(wrapped(text, 20)).fetchall() == connection.execute(text).fetchall()
        )


@given(st.text("ab'-\n$é", min_size=100, max_size=400))
def test_a_long_literal_becomes_several(value: str) -> None:
    with duckdb.connect() as connection:
        text = wrapped(
            "select concat('" + value.replace("'", "''") + "') = $value and length('x') = 1"
        )
        assert connection.execute(text, {"value": value}).fetchone() == (True,)
    assert max(map(len, text.splitlines())) < 120


def test_a_parameter_is_replaced_outside_of_literals() -> None:
    text = "select $secret, '$secret', \"$secret\", $secrets -- $secret"
    assert bound(text, "secret", "v()") == "select v(), '$secret', \"$secret\", $secrets -- $secret"


def test_a_comment_stays_one() -> None:
    found = comment("a name with\n; drop table t; -- a line break " + "and more " * 40)
    assert all(line.startswith("--") and len(line) < 120 for line in found.splitlines())

"""The short proof that a set is well formed says so of none that the whole reading refuses."""

from itertools import product

import duckdb
import pytest

from anonymizer.compile.sql import environment

MEMBERS = ["a", "b", "B", "a b", "", " a", "a ", "*", "NULL", "a or NULL", "or", "a,b", "{a", "b}",
           "[a", '"a"', '"a', "ä", "-", "a  b", "é.1"]  # fmt: skip
SEPARATORS = [", ", ",", ",  ", " , ", ""]

CONDITIONS = """
{%- from "verify/_cells" import members, written_set with context -%}
{%- from "fast/_cells" import plain_set with context -%}
select
    {{ plain_set("body" | ident) }},
    coalesce(
        len({{ members("body" | ident) }}) > 1
        and {{ written_set(members("body" | ident)) }} = body, false
    )
from bodies
"""


@pytest.fixture(scope="module")
def bodies() -> list[str]:
    pairs = [
        "{" + a + separator + b + "}" for a, separator, b in product(MEMBERS, SEPARATORS, MEMBERS)
    ]
    triples = ["{" + ", ".join(each) + "}" for each in product(MEMBERS, repeat=3)]
    odd = ["{}", "{a}", "{", "}", "{a, b", "a, b}", "{{a, b}}", "{a, b}}", "{a, b} or NULL", "{,}"]
    return [*pairs, *triples, *odd]


def test_what_is_proved_is_well_formed(bodies: list[str]) -> None:
    text = environment().from_string(CONDITIONS).render()
    with duckdb.connect() as connection:
        connection.execute("create table bodies (body varchar)")
        connection.execute("insert into bodies select unnest($1)", [bodies])
        found = connection.execute(text.replace("select", "select body,", 1)).fetchall()
    assert len(found) == len(bodies)
    assert [body for body, proved, formed in found if proved and not formed] == []
    # and it is of use: only quoted members need the whole reading
    assert [
        body for body, proved, formed in found if formed and not proved and '"' not in body
    ] == []
    assert sum(bool(proved) for _, proved, _ in found) > 50

"""Words of the templates that are replaced before a text is parsed: the tree would not tell them
from others.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import Token

LENGTH = "list_length"
"""`len`, which our texts use for lists only: the tree has one node for it and `length`."""
UNSIZED = "BIGDECIMAL"
"""A DECIMAL without sizes: the tree would have those that DuckDB gives it."""


def respelled(text: str) -> str:
    """The text with its own words for what the tree does not tell apart."""
    if "len(" not in text and "DECIMAL" not in text:
        return text
    from sqlglot import tokenize

    pieces, done = [], 0
    tokens = tokenize(text, read="duckdb")
    for token, following in pairwise([*tokens, tokens[-1]]):
        word = _word(token, following)
        if word is not None:
            pieces += [text[done : token.start], word]
            done = token.end + 1
    return "".join([*pieces, text[done:]])


def _word(token: Token, following: Token) -> str | None:
    called = following.text == "("
    if token.text.lower() == "len" and called:
        return LENGTH
    return UNSIZED if token.token_type.name == "DECIMAL" and not called else None

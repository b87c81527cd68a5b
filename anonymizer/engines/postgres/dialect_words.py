"""Words of the templates that are replaced before parsing, since the syntax tree would not
distinguish them from others.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import Token

LENGTH = "list_length"
"""Replaces `len`, which templates use for lists only: the tree has one node for it and `length`."""
UNSIZED = "BIGDECIMAL"
"""Replaces a DECIMAL without sizes: in the tree it would get DuckDB's default sizes."""


def respelled(text: str) -> str:
    """Replace the words that the tree does not distinguish from others."""
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

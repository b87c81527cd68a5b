"""Normalization of text: unusual characters, composed letters, and word boundaries.

Equal texts may be written differently: with non-breaking spaces, full-width digits, separate
accents, or invisible characters. Patterns and comparisons use one form.
"""

from __future__ import annotations

from anonymizer.compile import lit

_SPACES = (
    "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u202f\u205f\u3000"
)
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_WIDE = "".join(map(chr, range(0xFF01, 0xFF5F)))
_ZEROS = (
    "\u0660\u06f0\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6\u0d66\u0e50\u0ed0\u0f20\u1040"
    "\u17e0"
)
"""Zeros of other scripts; their digits one to nine follow."""
_DIGITS = "".join(chr(ord(zero) + digit) for zero in _ZEROS for digit in range(10))
_UNSEEN = (
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060"
    "\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)
"""Characters without width, which are invisible."""
_STRANGE = _SPACES + _DASHES + _WIDE + _DIGITS + _UNSEEN
_USUAL = (
    " " * len(_SPACES)
    + "-" * len(_DASHES)
    + "".join(map(chr, range(0x21, 0x7F)))
    + "0123456789" * len(_ZEROS)
)
UNUSUAL_SIGNS = f"{_WIDE[0]}-{_WIDE[-1]}" + "".join(f"{z}-{chr(ord(z) + 9)}" for z in _ZEROS)
"""Characters that are read as ASCII characters, as the inside of a character class."""

IDEOGRAPHS = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Letters of scripts without spaces between words, or with endings after names: each is a word of
its own."""
LETTERS = (
    "0-9A-Za-zªµºÀ-ÖØ-öø-\u037d\u037f-\u0386\u0388-\u0558\u0560-\u0588\u0591-\u05bd\u05bf\u05c1"
    "\u05c2\u05c4\u05c5\u05c7-\u05f2\u0610-\u061a\u0620-\u0669\u066e-\u06d3\u06d5-\u06ff"
    "\u0710-\u0963\u0966-\u096f\u0971-\u0e3e\u0e40-\u0e4e\u0e50-\u10fa\u10fc-\u135f\u1369-\u167f"
    "\u1681-\u17d3\u17dc-\u17fa\u180b-\u1fbc\u1fbe-\u1fff\u2070-\u2089\u2090-\u209c\u20d0-\u20f0"
    "\u2100-\u218f\u2c00-\u2dff\u3005-\u3007\u3105-\u318e\ua000-\uabff\ufb00-\ufd3d\ufd50-\ufdfb"
    "\ufe20-\ufe2f\ufe70-\ufefc\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uffdc"
    "\U00010000-\U0001efff"
)
"""All other letters, digits and accents, as the inside of a character class: named classes such as
`\\p{L}` differ between engines."""
_CAPITALS = "".join(
    chr(code)
    for first, last in ((0xC0, 0x24F), (0x386, 0x3AB), (0x400, 0x52F), (0x531, 0x556))
    for code in range(first, last + 1)
    if chr(code).lower() != chr(code) and len(chr(code).lower()) == 1
)
_SMALL = _CAPITALS.lower()
"""Latin, Greek, Cyrillic and Armenian: some servers can only lower-case ASCII."""
BETWEEN = "\ue000"
"""A private-use character that is put around ideographs and removed again."""


def plain(value: str) -> str:
    """A text as SQL, with unusual spaces, hyphens and digits replaced by the usual ones.

    Word processors write numbers with non-breaking spaces and hyphens, unlike patterns.
    """
    translated = f"translate({value}, {lit(_STRANGE)}, {lit(_USUAL)})"
    some = lit(f"[{_SPACES}{_DASHES}{UNUSUAL_SIGNS}{_UNSEEN}]")
    return f"case when regexp_matches({value}, {some}) then {translated} else {value} end"


def parted(value: str) -> str:
    """A text as SQL with usual characters, composed letters, and separated ideographs."""
    composed = f"nfc_normalize({plain(value)})"
    apart = lit(rf"{BETWEEN}\1{BETWEEN}")
    ideographs = lit(f"([{IDEOGRAPHS}])")
    made = f"regexp_replace({composed}, {ideographs}, {apart}, 'g')"
    return f"case when regexp_matches({value}, '[^ -~]') then {made} else {value} end"


def folded(value: str) -> str:
    """A text in lower case, as SQL; letters with the same capital get the same small letter."""
    small = f"translate(lower({value}), {lit(_CAPITALS + 'İςſı')}, {lit(_SMALL + 'iσsi')})"
    return f"replace(replace({small}, 'i\u0307', 'i'), 'ß', 'ss')"

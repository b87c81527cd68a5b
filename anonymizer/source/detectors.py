"""Forms of identifiers in text: a pattern for each, and check digits to exclude other numbers.

Patterns use only what all engines support: no word boundaries, no look-around. The identifier is
the second group; no letter or digit precedes or follows it. Sources: ISO 13616 (IBAN) and its
registry of lengths, ISO/IEC 7812 (payment cards), E.164 (telephone numbers), RFC 4122 (UUID),
and for identity numbers the rules that their countries publish.
"""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.source.check_digits import (
    Condition,
    belgian,
    brazilian,
    chinese,
    dialled,
    finnish,
    french,
    iban,
    letter,
    luhn,
    octets,
    telephone,
    weighted,
)
from anonymizer.source.signs import UNUSUAL_SIGNS

BEFORE, AFTER = "(^|[^0-9A-Za-z])", "([^0-9A-Za-z]|$)"

OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"


@dataclass(frozen=True, slots=True)
class Form:
    """One written form of an identifier."""

    kind: str
    """The kind of identifier, as a policy names it."""
    pattern: str
    check: Condition | None = None
    least: float = 0.0
    """Least share of the values with this form: below, it is a coincidence."""
    digits: bool = False
    """Whether a text of digits only may have it."""


def _of(core: str) -> str:
    return f"{BEFORE}({core}){AFTER}"


BIRTH = "[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])"
ALONE = 0.8
"""Share for numbers that only a check digit distinguishes."""
MOSTLY = 0.5
"""Share for forms that other things have, too."""

CALLED = (
    "([03-9(]|1[0-8 ()/.-]|2[1-9 ()/.-]|(19|20)[0-9]?[ ()/.-]|(19|20)[0-9]{3})"  # not 2024-01-31
)
"""How a number begins after a word such as `called`: not like a date."""

FORMS: tuple[Form, ...] = (
    Form(
        "mail",
        "(^|\\n|.)([^ \\t\\r\\n@<>,;:\"'()]+@"
        # (part of the domain may have been replaced by `[name]`)
        "[A-Za-z0-9À-힣_\\[\\]-]+([.][A-Za-z0-9À-힣_\\[\\]-]+)*[.][A-Za-zÀ-힣]{2,})",
    ),
    Form(
        "mail",
        # with spaces around the at sign, or with the sign in words
        "(^|[^0-9A-Za-z])([0-9A-Za-z][0-9A-Za-z._+-]*( @ ?|@ | ?[(\\[]at[)\\]] ?)"
        "[A-Za-z0-9-]+([.][A-Za-z0-9-]+)*[.][a-z]{2,})([^0-9A-Za-z]|$)",
    ),
    Form("url", "(^|\\n|.)(([hH][tT][tT][pP][sS]?|[fF][tT][pP])://[^ \\t\\r\\n]+)"),
    Form("url", _of("[wW]{3}[.][A-Za-z0-9-]+[.][A-Za-z]{2,}[^\\n]*")),
    Form(
        "uuid", _of("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
    ),
    Form("mac", _of("[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")),
    Form("mac", _of("[0-9a-fA-F]{2}(-[0-9a-fA-F]{2}){5}"), least=MOSTLY),
    Form("mac", _of("[0-9a-fA-F]{4}[.][0-9a-fA-F]{4}[.][0-9a-fA-F]{4}"), least=MOSTLY),
    Form("ip", f"(^|[^0-9A-Za-z.])({OCTET}([.]{OCTET}){{3}})([.]?[^0-9A-Za-z.]|[.]?$)", octets),
    Form("ip", _of("[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){7}")),
    Form(
        "ip",
        _of(
            "[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){1,5}::([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){0,5})?"
        ),
    ),
    Form("ip", _of("[0-9a-fA-F]{1,4}::[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){2,5}")),
    Form("ip", _of("[fF][eE]80::[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){0,6}")),
    Form("iban", _of("[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,3})?"), iban),
    Form("iban", _of("[A-Za-z]{2}[0-9]{2}( ?[0-9]{4}){2,7}( ?[0-9]{1,3})?"), iban),
    Form(
        "card",
        _of("[3-6][0-9]{3}[ -]?[0-9]{4,6}[ -]?[0-9]{4,5}([ -]?[0-9]{1,4})?"),
        luhn(13, 19),
        digits=True,
    ),
    Form(
        "ssn",
        "(^|[^0-9A-Za-z-])((00[1-9]|0[1-9][0-9]|[1-57-8][0-9]{2}|6[0-57-9][0-9]|66[0-57-9])"
        "([- ])(0[1-9]|[1-9][0-9])[- ](000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3}))"
        "([^0-9A-Za-z-]|$)",
    ),
    Form(
        "ssn",
        "(^|[^0-9A-Za-z.])([0-8][0-9]{2}[.][0-9]{2}[.][0-9]{4})([^0-9A-Za-z.]|[.]?$)",
        least=MOSTLY,
    ),
    Form(
        "phone",
        # (in groups; +12345.678 is a number with a sign, unless more digits follow the point)
        _of("[+][1-9][0-9]*([ ()/-]|[.][0-9]*[ ()/.-]|[.][0-9]{4})[0-9 ()/.-]*[0-9]"),
        telephone,
    ),
    Form(
        "phone",
        # (in one, or with a point before four digits; +12345678.90 is a number with a sign)
        f"{BEFORE}([+][1-9][0-9]{{6,}}([.][0-9]{{4}})?)"
        "([^0-9A-Za-z.,]|[.,]?$|[.,][^0-9]|,[0-9]{5})",
        telephone,
    ),
    Form("phone", _of("00[1-9][0-9]?[)]?[ /-][0-9 ()/.-]{5,}[0-9]"), dialled),
    Form(
        "phone",
        # (00781-1234-05 is the code of a drug)
        _of(
            "00[1-9][0-9]{2}(([)]?[ /]|[)]-|-([0-9]{0,3}[ ()/.-]|[0-9]{4}[ ()/.]|[0-9]{5}"
            "|[0-9]{4}-[0-9]{1,2}[()/.-]))[0-9 ()/.-]*[0-9]"
            "|-[0-9]{4}-[0-9]{3,}([0-9 ()/.-]*[0-9])?)"
        ),
        dialled,
    ),
    # (numbers in Luxembourg may have six digits, as drug codes have)
    Form("phone", _of("00352-[0-9]{4}-[0-9]{2}"), dialled),
    Form(
        "phone",
        "(^|[^0-9A-Za-z.-])((1[ .-]?)?([(][2-9][0-9]{2}[)] ?[2-9][0-9]{2}[ .-][0-9]{4}"
        "|[2-9][0-9]{2}([.-])[2-9][0-9]{2}[.-][0-9]{4}))([^0-9A-Za-z]|$)",
    ),
    Form("phone", _of("0[1-9]([ .-][0-9]{2}){4}")),
    Form("phone", _of("0[1-9][0-9]{1,4}[ /-][1-9][0-9]{2,3}[ -]?[0-9]{3,5}"), least=MOSTLY),
    Form(
        "phone", _of("[3-9][0-9]{2} [0-9]{3} [0-9]{3,4}|[6-9][0-9]{2}( [0-9]{2}){3}"), least=ALONE
    ),
    Form(
        "phone",
        # (not after a bracket: that is a replacement such as `[phone]`)
        "((?:[Pp]hone|[Tt]elef|[Mm]obil|[Mm][oó]vil|[Hh]andy|[Pp]ortable|[Aa]ppel|[Aa]nruf|[Ll]lama"
        "|[Cc]hiama|(?:^|[^A-Za-z])(?:[Tt][Ee][Ll]|[Ff]ax|[Cc]ell|[Cc]all|[Rr]ing|[Bb]el ))"
        f"[^0-9+\\]]{{0,14}})({CALLED}[0-9 ()/.-]{{5,}}[0-9])([^0-9A-Za-z]|$)",
        telephone,
    ),
    Form(
        "coordinates",
        "(^|[^0-9A-Za-z.])(-?[0-8]?[0-9][.][0-9]{4,} ?[,; ] ?-?1?[0-9]{1,2}[.][0-9]{4,})"
        "([^0-9A-Za-z.]|$)",
        least=MOSTLY,
    ),
    Form("coordinates", "(^|[^0-9A-Za-z])([0-9]{1,3}° ?[0-9]{1,2}['′][^\\n]*[NSEWO])(\\n|.|$)"),
    Form(
        "national_id",
        _of("([0-9]{8}|[0-9]{2}[.][0-9]{3}[.][0-9]{3}|[XYZxyz]-?[0-9]{7})-?[A-Za-z]"),
        letter,
    ),
    Form("national_id", _of("[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]")),
    Form("national_id", _of("[a-z]{6}[0-9]{2}[a-ehlmprst][0-9]{2}[a-z][0-9]{3}[a-z]")),
    Form(
        "national_id",
        _of("[12] ?[0-9]{2} ?[0-9]{2} ?(2[AB]|[0-9]{2}) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}"),
        french,
        digits=True,
    ),
    Form("national_id", _of("[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]([ -]?[0-9]{2}){3}[ -]?[A-D]")),
    Form(
        "national_id",
        _of("[a-ceghj-pr-tw-z][a-ceghj-npr-tw-z]([ -]?[0-9]{2}){3}[ -]?[a-d]"),
        least=MOSTLY,
    ),
    Form("national_id", _of(f"{BIRTH}[-+][0-9]{{4}}"), luhn(10, 10)),
    Form(
        "national_id",
        _of("(0[1-9]|[12][0-9]|3[01])(0[1-9]|1[0-2])[0-9]{2}[-+A-FU-Y][0-9]{3}[0-9A-Ya-y]"),
        finnish,
    ),
    Form("national_id", _of("[0-9]{2}[.][0-9]{2}[.][0-9]{2}-[0-9]{3}[.][0-9]{2}"), belgian),
    Form("national_id", _of("[0-9]{3}[.][0-9]{3}[.][0-9]{3}-[0-9]{2}"), brazilian),
    Form(
        "national_id",
        _of("756[.]?[0-9]{4}[.]?[0-9]{4}[.]?[0-9]{2}"),
        weighted([1, 3] * 6 + [1], 10),
        digits=True,
    ),
    Form(
        "national_id",
        _of("[1-9][0-9]{5}(19|20)[0-9]{2}(0[1-9]|1[0-2])[0-9]{5}[0-9X]"),
        chinese,
        digits=True,
    ),
    Form(
        "national_id",
        _of("[0-9]{3} [0-9]{3} [0-9]{4}"),
        weighted([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 11),
        least=ALONE,
    ),
    Form(
        "national_id",
        "^( *)([0-9]{9})( *)$",
        weighted([9, 8, 7, 6, 5, 4, 3, 2, -1], 11),
        least=ALONE,
        digits=True,
    ),
    Form(
        "national_id",
        "^( *)([0-9]{10})( *)$",
        weighted([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 11),
        least=ALONE,
        digits=True,
    ),
    Form("national_id", "^( *)([0-9]{11})( *)$", brazilian, least=ALONE, digits=True),
    Form(
        "national_id",
        "^( *)([0-9]{11})( *)$",
        weighted([1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1], 10),
        least=ALONE,
        digits=True,
    ),
)

_NAMES = (
    # English, German, Dutch
    "jan january januar januari feb february februar februari mar march märz mär mrz maart apr"
    " april may mai mei jun june juni jul july juli aug august augustus sep sept september oct"
    " october okt oktober nov november dec december dez dezember"
    # French, Spanish, Portuguese, Italian
    " janvier février fevrier mars avril juin juillet août aout septembre octobre novembre décembre"
    " decembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre"
    " diciembre janeiro fevereiro março marco maio junho julho setembro outubro novembro dezembro"
    " gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre"
)
_MONTH = "|".join(
    "".join(f"[{sign.upper()}{sign}]" for sign in name)
    for name in sorted(set(_NAMES.split()), key=lambda name: (-len(name), name))
)
_YEAR, _DAY = "(18|19|20)[0-9]{2}", "(0?[1-9]|[12][0-9]|3[01])"
_MONTH_NUMBER = "(0?[1-9]|1[0-2])"
_NTH = "(st|nd|rd|th|er|[.ºª°])?"
DATE_FORMS = (
    f"(^|[^0-9]){_YEAR}[-/.]{_MONTH_NUMBER}[-/.]{_DAY}([^0-9]|$)",
    f"(^|[^0-9]){_DAY}[-/.]{_DAY}[-/.]{_YEAR}([^0-9]|$)",
    # 4 May 1961, 04-MAY-61, 4 de mayo de 1961
    f"(^|[^0-9A-Za-z]){_DAY}{_NTH}[ -]?(de )?({_MONTH})[.,]?[ -](de )?(18|19|20)?[0-9]{{2}}"
    "([^0-9]|$)",
    # May 4th, 1961, May 1961, and mayo de 1961
    f"(^|[^0-9A-Za-z])({_MONTH})[.]?[ -](de |{_DAY}{_NTH},? )?{_YEAR}([^0-9]|$)",
    # the 33rd week of 2024
    f"(^|[^0-9A-Za-z]){_YEAR}-?W([0-4][0-9]|5[0-3])(-?[1-7])?([^0-9A-Za-z]|$)",
    # only as the whole value: 1961-05, 05/1961, 61-05-04, 04/05/61, May 4, 4 May
    f"^ *{_YEAR}[-/.](0[1-9]|1[0-2]) *$",
    f"^ *{_MONTH_NUMBER}[-/.]{_YEAR} *$",
    "^ *[0-9]{2}[-/](0[1-9]|1[0-2])[-/](0[1-9]|[12][0-9]|3[01]) *$",
    f"^ *{_DAY}[-/]{_DAY}[-/][0-9]{{2}} *$",
    f"^ *({_MONTH})[.]?[ -]{_DAY}{_NTH} *$",
    f"^ *{_DAY}{_NTH}[ -]?(de )?({_MONTH})[.]? *$",
)
"""Dates and months in text, in any order."""

KINDS: dict[str, str] = {
    "mail": " values with mail addresses",
    "phone": " values with telephone numbers",
    "iban": " values with bank accounts (IBAN)",
    "card": " values with payment cards",
    "ssn": " values with social security numbers",
    "national_id": " values with identity numbers",
    "ip": " values with IP addresses",
    "mac": " values with MAC addresses",
    "url": " values with web addresses",
    "coordinates": " values with coordinates",
    "uuid": " values with UUIDs",
    "name": " different values under a name that says who somebody is",
    "identifier_value": " values that hold one of an identifier column",
}
"""What is searched for, as a policy names it, and what is counted."""
ANY = "|".join(f"({form.pattern})" for form in FORMS)
"""One pattern that matches every text with one of the forms."""
SIGNS = f"[0-9@:{UNUSUAL_SIGNS}]|[Ww][Ww][Ww][.]|[(\\[]at[)\\]]|-[^-]*-[^-]*-[^-]*-"
"""A pre-check that matches every such text, and few others, at a tenth of the cost."""

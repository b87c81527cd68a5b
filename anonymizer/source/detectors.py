"""Forms of identifiers in text: a pattern for each, and check digits that tell it from a number.

Patterns are written in what all engines know: no word boundaries, no look-around. The identifier is
their second group; before and after it stands no letter and no digit. Sources: ISO 13616 (IBAN) and
its registry of lengths, ISO/IEC 7812 (payment cards), E.164 (telephone numbers), RFC 4122 (UUID),
and for identity numbers the rules that their countries publish.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anonymizer.source.signs import UNUSUAL_SIGNS

Condition = Callable[[str], str]
"""From the name of a column that holds the letters and digits of an identifier to a condition."""

BEFORE, AFTER = "(^|[^0-9A-Za-z])", "([^0-9A-Za-z]|$)"

OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
IBAN_LENGTHS = {
    15: "NO",
    16: "BE",
    18: "DK FI FO GL NL",
    19: "MK SI",
    20: "AT BA EE KZ LT LU XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HU LB NI PL",
    29: "BR EG PS QA UA",
    30: "JO KW MU",
    31: "MT SC",
    32: "LC",
    33: "RU",
}
"""Characters of an IBAN, by country."""


@dataclass(frozen=True, slots=True)
class Form:
    """One way in which an identifier is written."""

    kind: str
    """What it is, as a policy names it."""
    pattern: str
    check: Condition | None = None
    least: float = 0.0
    """Share of the values that have to have this form: below, it is taken for a coincidence."""
    digits: bool = False
    """Whether a text of nothing but digits may have it."""


def _sum(number: str, weights: Sequence[int]) -> str:
    """The sum of digits times weights, from the left."""
    terms = [
        f"{weight} * cast(substr({number}, {place}, 1) as integer)"
        for place, weight in enumerate(weights, 1)
        if weight
    ]
    return f"({' + '.join(terms)})"


def _guarded(number: str, length: int, condition: str) -> str:
    """A condition on so many digits; a text of other length does not reach it."""
    return f"case when length({number}) = {length} then {condition} else false end"


def _weighted(weights: Sequence[int], modulus: int) -> Condition:
    """The sum of digits times weights is a multiple of the modulus."""

    def holds(found: str) -> str:
        return _guarded(found, len(weights), f"{_sum(found, weights)} % {modulus} = 0")

    return holds


def _luhn(least: int, most: int) -> Condition:
    """Luhn's check (ISO/IEC 7812-1) on so many digits."""

    def holds(found: str) -> str:
        number = f"lpad({found}, {most}, '0')"
        # every second digit from the right is doubled, and the digits of the result are added: the
        # place of a digit in this text is that sum and one
        terms = [
            f"strpos('0516273849', substr({number}, {place}, 1)) - 1"
            if (most - place) % 2
            else f"cast(substr({number}, {place}, 1) as integer)"
            for place in range(1, most + 1)
        ]
        long_enough = f"length({found}) between {least} and {most}"
        return f"case when {long_enough} then ({' + '.join(terms)}) % 10 = 0 else false end"

    return holds


def _remainder(number: str, length: int, modulus: int) -> str:
    """A number of so many digits, as text, modulo a small number."""
    step = 9
    padded = -(-length // step) * step
    text = f"lpad({number}, {padded}, '0')"
    parts = []
    for start in range(0, padded, step):
        weight = pow(10, padded - start - step, modulus)
        part = f"cast(substr({text}, {start + 1}, {step}) as bigint)"
        parts.append(f"{part} % {modulus} * {weight}")
    return f"(({' + '.join(parts)}) % {modulus})"


def _iban(found: str) -> str:
    """ISO 7064, MOD 97-10: the first four characters last, letters as two digits."""
    lengths = " ".join(
        f"when '{country}' then {length}"
        for length, countries in IBAN_LENGTHS.items()
        for country in countries.split()
    )
    length = f"case substr({found}, 1, 2) {lengths} else 0 end"
    number = f"concat(substr({found}, 5, {length} - 4), substr({found}, 1, 4))"
    for place in range(26):
        number = f"replace({number}, '{chr(65 + place)}', '{10 + place}')"
    whole = f"{length} > 0 and length({found}) >= {length}"
    return f"case when {whole} then {_remainder(number, 72, 97)} = 1 else false end"


def _letter(found: str) -> str:
    """The letter of a Spanish DNI or NIE: the number modulo 23, X, Y and Z counting 0, 1 and 2."""
    number = f"translate(substr({found}, 1, 8), 'XYZ', '012')"
    sign = f"substr('TRWAGMYFPDXBNJZSQVHLCKE', cast({number} as integer) % 23 + 1, 1)"
    return _guarded(found, 9, f"{sign} = right({found}, 1)")


def _french(found: str) -> str:
    """The key of a French NIR: 97 less the number modulo 97; 2A and 2B count as 19 and 18."""
    text = f"replace(replace({found}, '2A', '19'), '2B', '18')"
    key = f"cast(right({found}, 2) as integer)"
    return _guarded(found, 15, f"97 - {_remainder(f'left({text}, 13)', 13, 97)} = {key}")


def _finnish(found: str) -> str:
    """The last character of a Finnish HETU: the nine digits modulo 31."""
    number = f"concat(left({found}, 6), left(right({found}, 4), 3))"
    sign = f"substr('0123456789ABCDEFHJKLMNPRSTUVWXY', cast({number} as integer) % 31 + 1, 1)"
    return f"{sign} = right({found}, 1)"


def _belgian(found: str) -> str:
    """97 less the first nine digits modulo 97; from 2000 on a 2 stands before them."""
    nine, key = f"cast(left({found}, 9) as bigint)", f"cast(right({found}, 2) as integer)"
    return _guarded(found, 11, f"{key} in (97 - {nine} % 97, 97 - (2000000000 + {nine}) % 97)")


def _brazilian(found: str) -> str:
    """Two check digits modulo 11, of which 10 is written 0; not eleven equal digits."""
    signs = [
        f"{_sum(found, range(first, 1, -1))} * 10 % 11 % 10"
        f" = cast(substr({found}, {first}, 1) as integer)"
        for first in (10, 11)
    ]
    different = f"{found} <> repeat(left({found}, 1), 11)"
    return _guarded(found, 11, " and ".join((different, *signs)))


def _chinese(found: str) -> str:
    """ISO 7064, MOD 11-2, of which 10 is written X."""
    weights = [pow(2, 17 - place, 11) for place in range(17)]
    sign = f"substr('10X98765432', {_sum(found, weights)} % 11 + 1, 1)"
    return _guarded(found, 18, f"{sign} = right({found}, 1)")


def _octets(found: str) -> str:
    """One of the four is 64 or more, as in few numbers of versions."""
    return f"regexp_matches({found}, '(6[4-9]|[7-9][0-9]|[12][0-9][0-9])')"


def _telephone(found: str) -> str:
    """As many digits as E.164 allows."""
    return f"length({found}) between 8 and 15"


def _dialled(found: str) -> str:
    """A telephone number with two zeros before it; part numbers and drug codes are shorter."""
    return f"length({found}) between 11 and 15"


def _of(core: str) -> str:
    return f"{BEFORE}({core}){AFTER}"


BIRTH = "[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])"
ALONE = 0.8
"""Share for numbers that nothing but a check digit tells from others."""
MOSTLY = 0.5
"""Share for forms that other things have as well."""

CALLED = (
    "([03-9(]|1[0-8 ()/.-]|2[1-9 ()/.-]|(19|20)[0-9]?[ ()/.-]|(19|20)[0-9]{3})"  # no 2024-01-31
)
"""How a number begins after a word such as `called`: not as a day does."""

FORMS: tuple[Form, ...] = (
    Form(
        "mail",
        "(^|\\n|.)([^ \\t\\r\\n@<>,;:\"'()]+@"
        # (a part of the domain may have been replaced by `[name]` already)
        "[A-Za-z0-9À-힣_\\[\\]-]+([.][A-Za-z0-9À-힣_\\[\\]-]+)*[.][A-Za-zÀ-힣]{2,})",
    ),
    Form(
        "mail",
        # with spaces around its sign, or with the sign in words
        "(^|[^0-9A-Za-z])([0-9A-Za-z][0-9A-Za-z._+-]*( @ ?|@ | ?[(\\[]at[)\\]] ?)"
        "[A-Za-z0-9-]+([.][A-Za-z0-9-]+)*[.][a-z]{2,})([^0-9A-Za-z]|$)",
    ),
    Form("url", "(^|\\n|.)(([hH][tT][tT][pP][sS]?|[fF][tT][pP])://[^ \\t\\r\\n]+)"),
    Form("url", _of("[wW]{3}[.][A-Za-z0-9-]+[.][A-Za-z]{2,}[^\\n]*")),
    Form(
        "uuid",
        _of("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"),
    ),
    Form("mac", _of("[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")),
    Form("mac", _of("[0-9a-fA-F]{2}(-[0-9a-fA-F]{2}){5}"), least=MOSTLY),
    Form("mac", _of("[0-9a-fA-F]{4}[.][0-9a-fA-F]{4}[.][0-9a-fA-F]{4}"), least=MOSTLY),
    Form("ip", f"(^|[^0-9A-Za-z.])({OCTET}([.]{OCTET}){{3}})([.]?[^0-9A-Za-z.]|[.]?$)", _octets),
    Form("ip", _of("[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){7}")),
    Form(
        "ip",
        _of(
            "[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){1,5}::([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){0,5})?"
        ),
    ),
    Form("ip", _of("[0-9a-fA-F]{1,4}::[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){2,5}")),
    Form("ip", _of("[fF][eE]80::[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){0,6}")),
    Form("iban", _of("[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,3})?"), _iban),
    Form("iban", _of("[A-Za-z]{2}[0-9]{2}( ?[0-9]{4}){2,7}( ?[0-9]{1,3})?"), _iban),
    Form(
        "card",
        _of("[3-6][0-9]{3}[ -]?[0-9]{4,6}[ -]?[0-9]{4,5}([ -]?[0-9]{1,4})?"),
        _luhn(13, 19),
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
    Form("phone", "(^|[^0-9A-Za-z])([+][1-9][0-9 ()/.-]{5,}[0-9])([^0-9A-Za-z]|$)", _telephone),
    Form("phone", _of("00[1-9][0-9]{0,2}[)]?[ /-][0-9 ()/.-]{5,}[0-9]"), _dialled),
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
        # (not after a bracket: there stands what took the place of another, `[phone]`)
        "((?:[Pp]hone|[Tt]elef|[Mm]obil|[Mm][oó]vil|[Hh]andy|[Pp]ortable|[Aa]ppel|[Aa]nruf|[Ll]lama"
        "|[Cc]hiama|(?:^|[^A-Za-z])(?:[Tt][Ee][Ll]|[Ff]ax|[Cc]ell|[Cc]all|[Rr]ing|[Bb]el ))"
        f"[^0-9+\\]]{{0,14}})({CALLED}[0-9 ()/.-]{{5,}}[0-9])([^0-9A-Za-z]|$)",
        _telephone,
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
        _letter,
    ),
    Form("national_id", _of("[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]")),
    Form("national_id", _of("[a-z]{6}[0-9]{2}[a-ehlmprst][0-9]{2}[a-z][0-9]{3}[a-z]")),
    Form(
        "national_id",
        _of("[12] ?[0-9]{2} ?[0-9]{2} ?(2[AB]|[0-9]{2}) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}"),
        _french,
        digits=True,
    ),
    Form(
        "national_id",
        _of("[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]([ -]?[0-9]{2}){3}[ -]?[A-D]"),
    ),
    Form(
        "national_id",
        _of("[a-ceghj-pr-tw-z][a-ceghj-npr-tw-z]([ -]?[0-9]{2}){3}[ -]?[a-d]"),
        least=MOSTLY,
    ),
    Form("national_id", _of(f"{BIRTH}[-+][0-9]{{4}}"), _luhn(10, 10)),
    Form(
        "national_id",
        _of("(0[1-9]|[12][0-9]|3[01])(0[1-9]|1[0-2])[0-9]{2}[-+A-FU-Y][0-9]{3}[0-9A-Ya-y]"),
        _finnish,
    ),
    Form("national_id", _of("[0-9]{2}[.][0-9]{2}[.][0-9]{2}-[0-9]{3}[.][0-9]{2}"), _belgian),
    Form("national_id", _of("[0-9]{3}[.][0-9]{3}[.][0-9]{3}-[0-9]{2}"), _brazilian),
    Form(
        "national_id",
        _of("756[.]?[0-9]{4}[.]?[0-9]{4}[.]?[0-9]{2}"),
        _weighted([1, 3] * 6 + [1], 10),
        digits=True,
    ),
    Form(
        "national_id",
        _of("[1-9][0-9]{5}(19|20)[0-9]{2}(0[1-9]|1[0-2])[0-9]{5}[0-9X]"),
        _chinese,
        digits=True,
    ),
    Form(
        "national_id",
        _of("[0-9]{3} [0-9]{3} [0-9]{4}"),
        _weighted([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 11),
        least=ALONE,
    ),
    Form(
        "national_id",
        "^( *)([0-9]{9})( *)$",
        _weighted([9, 8, 7, 6, 5, 4, 3, 2, -1], 11),
        least=ALONE,
        digits=True,
    ),
    Form(
        "national_id",
        "^( *)([0-9]{10})( *)$",
        _weighted([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 11),
        least=ALONE,
        digits=True,
    ),
    Form("national_id", "^( *)([0-9]{11})( *)$", _brazilian, least=ALONE, digits=True),
    Form(
        "national_id",
        "^( *)([0-9]{11})( *)$",
        _weighted([1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1], 10),
        least=ALONE,
        digits=True,
    ),
)

_NAMES = (
    "jan january januar feb february februar mar march mär märz apr april may mai jun june juni"
    " jul july juli aug august sep sept september oct october okt oktober nov november dec december"
    " dez dezember"
)
_MONTH = "|".join(
    "".join(f"[{sign.upper()}{sign}]" for sign in name)
    for name in sorted(_NAMES.split(), key=len, reverse=True)
)
_YEAR, _DAY = "(18|19|20)[0-9]{2}", "(0?[1-9]|[12][0-9]|3[01])"
DATE_FORMS = (
    "(^|[^0-9])(18|19|20)[0-9]{2}[-/.](0?[1-9]|1[0-2])[-/.](0?[1-9]|[12][0-9]|3[01])([^0-9]|$)",
    "(^|[^0-9])(0?[1-9]|[12][0-9]|3[01])[-/.](0?[1-9]|[12][0-9]|3[01])[-/.](18|19|20)[0-9]{2}"
    "([^0-9]|$)",
    # 4 May 1961, 04-MAY-61
    f"(^|[^0-9A-Za-z]){_DAY}(st|nd|rd|th|[.])?[ -]?({_MONTH})[.,]?[ -]((18|19|20)?[0-9]{{2}})"
    "([^0-9]|$)",
    # May 4th, 1961, and May 1961
    f"(^|[^0-9A-Za-z])({_MONTH})[.]?[ -]({_DAY}(st|nd|rd|th)?,? )?{_YEAR}([^0-9]|$)",
    f"^ *{_YEAR}[-/.](0[1-9]|1[0-2]) *$",
)
"""Days and months of the calendar in text, in whatever order."""

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
"""What is looked for, as a policy names it, and what its number counts."""
ANY = "|".join(f"({form.pattern})" for form in FORMS)
"""What no text has that has none of the forms; one pattern, which is read once."""
SIGNS = f"[0-9@:{UNUSUAL_SIGNS}]|[Ww][Ww][Ww][.]|[(\\[]at[)\\]]|-[^-]*-[^-]*-[^-]*-"
"""What every such text has, and few other words: asked before, since it costs a tenth."""

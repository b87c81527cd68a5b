"""Forms of identifiers in text: a pattern for each, and check digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anonymizer.compile import lit

# Normalization of text: unusual characters, composed letters, and word boundaries.
#
# Equal texts may be written differently: with non-breaking spaces, full-width digits, separate
# accents, or invisible characters. Patterns and comparisons use one form.


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


def usual_characters(value: str) -> str:
    """A text as SQL, with unusual spaces, hyphens and digits replaced by the usual ones.

    Word processors write numbers with non-breaking spaces and hyphens, unlike patterns.
    """
    translated = f"translate({value}, {lit(_STRANGE)}, {lit(_USUAL)})"
    some = lit(f"[{_SPACES}{_DASHES}{UNUSUAL_SIGNS}{_UNSEEN}]")
    return f"case when regexp_matches({value}, {some}) then {translated} else {value} end"


def separate_ideographs(value: str) -> str:
    """A text as SQL with usual characters, composed letters, and separated ideographs."""
    composed = f"nfc_normalize({usual_characters(value)})"
    apart = lit(rf"{BETWEEN}\1{BETWEEN}")
    ideographs = lit(f"([{IDEOGRAPHS}])")
    made = f"regexp_replace({composed}, {ideographs}, {apart}, 'g')"
    return f"case when regexp_matches({value}, '[^ -~]') then {made} else {value} end"


def fold_case(value: str) -> str:
    """A text in lower case, as SQL; letters with the same capital get the same small letter."""
    small = f"translate(lower({value}), {lit(_CAPITALS + 'İςſı')}, {lit(_SMALL + 'iσsi')})"
    return f"replace(replace({small}, 'i\u0307', 'i'), 'ß', 'ss')"


# Check digits and lengths that distinguish identifiers from other numbers, as SQL conditions.


Condition = Callable[[str], str]
"""Maps the name of a column with the letters and digits of an identifier to a condition."""

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
"""Countries, by the length of their IBAN."""


def _sum(number: str, weights: Sequence[int]) -> str:
    """The sum of digits times weights, from the left."""
    terms = [
        f"{weight} * cast(substr({number}, {place}, 1) as integer)"
        for place, weight in enumerate(weights, 1)
        if weight
    ]
    return f"({' + '.join(terms)})"


def _of_length(number: str, length: int, condition: str) -> str:
    """A condition on exactly this many digits; it is not evaluated for other lengths."""
    return f"case when length({number}) = {length} then {condition} else false end"


def weighted_sum(weights: Sequence[int], modulus: int) -> Condition:
    """The sum of digits times weights is a multiple of the modulus, and not zero."""

    def holds(found: str) -> str:
        zeros = lit("0" * len(weights)).text  # (a value for none)
        condition = f"{found} <> {zeros} and {_sum(found, weights)} % {modulus} = 0"
        return _of_length(found, len(weights), condition)

    return holds


def luhn(least: int, most: int) -> Condition:
    """Luhn's check (ISO/IEC 7812-1) on this many digits."""

    def holds(found: str) -> str:
        number = f"lpad({found}, {most}, '0')"
        # every second digit from the right is doubled, and the digits of the result are added: the
        # position of a digit in this text is that sum plus one
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
    """A number of `length` digits, as text, modulo a small number."""
    step = 9
    padded = -(-length // step) * step
    text = f"lpad({number}, {padded}, '0')"
    parts = []
    for start in range(0, padded, step):
        weight = pow(10, padded - start - step, modulus)
        part = f"cast(substr({text}, {start + 1}, {step}) as bigint)"
        parts.append(f"{part} % {modulus} * {weight}")
    return f"(({' + '.join(parts)}) % {modulus})"


def iban(found: str) -> str:
    """ISO 7064, MOD 97-10: first four characters moved to the end, letters as two digits."""
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


def letter(found: str) -> str:
    """The letter of a Spanish DNI or NIE: the number modulo 23, with X, Y and Z as 0, 1 and 2."""
    number = f"translate(substr({found}, 1, 8), 'XYZ', '012')"
    sign = f"substr('TRWAGMYFPDXBNJZSQVHLCKE', cast({number} as integer) % 23 + 1, 1)"
    return _of_length(found, 9, f"{sign} = right({found}, 1)")


def french(found: str) -> str:
    """The key of a French NIR: 97 minus the number modulo 97; 2A and 2B count as 19 and 18."""
    text = f"replace(replace({found}, '2A', '19'), '2B', '18')"
    key = f"cast(right({found}, 2) as integer)"
    return _of_length(found, 15, f"97 - {_remainder(f'left({text}, 13)', 13, 97)} = {key}")


def finnish(found: str) -> str:
    """The last character of a Finnish HETU: the nine digits modulo 31."""
    number = f"concat(left({found}, 6), left(right({found}, 4), 3))"
    sign = f"substr('0123456789ABCDEFHJKLMNPRSTUVWXY', cast({number} as integer) % 31 + 1, 1)"
    return f"{sign} = right({found}, 1)"


def belgian(found: str) -> str:
    """97 minus the first nine digits modulo 97; from 2000 on with a leading 2."""
    nine, key = f"cast(left({found}, 9) as bigint)", f"cast(right({found}, 2) as integer)"
    return _of_length(found, 11, f"{key} in (97 - {nine} % 97, 97 - (2000000000 + {nine}) % 97)")


def brazilian(found: str) -> str:
    """Two check digits modulo 11, with 10 written as 0; not eleven equal digits."""
    signs = [
        f"{_sum(found, range(first, 1, -1))} * 10 % 11 % 10"
        f" = cast(substr({found}, {first}, 1) as integer)"
        for first in (10, 11)
    ]
    different = f"{found} <> repeat(left({found}, 1), 11)"
    return _of_length(found, 11, " and ".join((different, *signs)))


def chinese(found: str) -> str:
    """ISO 7064, MOD 11-2, with 10 written as X."""
    weights = [pow(2, 17 - place, 11) for place in range(17)]
    sign = f"substr('10X98765432', {_sum(found, weights)} % 11 + 1, 1)"
    return _of_length(found, 18, f"{sign} = right({found}, 1)")


def octets(found: str) -> str:
    """An octet of 64 or more, which version numbers seldom have."""
    return f"regexp_matches({found}, '(6[4-9]|[7-9][0-9]|[12][0-9][0-9])')"


def pairs_with_letter(found: str) -> str:
    """Six pairs with a letter: those of digits alone may be numbers of anything."""
    return f"regexp_matches({found}, '[A-F]')"


def telephone(found: str) -> str:
    """A number of digits that E.164 allows."""
    return f"length({found}) between 8 and 15"


def telephone_number(found: str) -> str:
    """A telephone number with two leading zeros; part numbers and drug codes are shorter."""
    return f"length({found}) between 11 and 15"


# What a written form of an identifier is: a pattern, a check, and when it is no coincidence.


BEFORE, AFTER = "(^|[^0-9A-Za-z])", "([^0-9A-Za-z]|$)"
ALONE = 0.8
"""Share for numbers that only a check digit distinguishes, or how they are grouped."""
SOME = 0.25
"""Share for forms that a tenth of other numbers has by chance."""


@dataclass(frozen=True, slots=True)
class Form:
    """One written form of an identifier."""

    kind: str
    """The kind of identifier, as a policy names it."""
    pattern: str
    check: Condition | None = None
    least: float = 0.0
    """Least share among the values that are `like` it, or that have its pattern but may fail the
    check: below, it is a coincidence. Values of other forms do not count."""
    digits: bool = False
    """True if a text of digits only may have it."""
    like: str | None = None
    """A wider pattern, which other numbers have as well."""

    @property
    def inside(self) -> bool:
        """True if it may be a part of a text."""
        return not self.pattern.startswith("^")


def of(core: str) -> str:
    """A pattern that no letter or digit precedes or follows."""
    return f"{BEFORE}({core}){AFTER}"


def any_case(listed: str) -> str:
    """Words in any mix of capitals and small letters, as alternatives."""
    return "|".join(
        "".join(f"[{sign.upper()}{sign}]" if sign.isalpha() else sign for sign in word)
        for word in listed.split()
    )


# Forms of telephone numbers in text: international, of some countries, and beside a word.


MORE = "[0-9 ()/.-]"
NO_YEAR = "([03-9]|1[0-8 ()/.-]|2[1-9 ()/.-]|(19|20)[0-9]?[ ()/.-]|(19|20)[0-9]{3})"
"""Beginnings of digits that are not the four of a year."""
THREE = "([03-9][0-9]{2}|1[0-8][0-9]|2[1-9][0-9]|(19|20)[0-9][ ()/.-]|(19|20)[0-9]{3})"
"""The same with three digits or more in a row."""
NO_DATE = (
    f"[ ()]{MORE}{{4,}}|[./-]([ ()./-]{MORE}{{3,}}|[0-9]{{3}}{MORE}+|[0-9]{{1,2}}[ ()]{MORE}{{2,}}"
    f"|[0-9]{{1,2}}[./-]{NO_YEAR}{MORE}*)"
)
"""Follows one or two digits of a number that does not begin like 31.01.2024 or 1/31/2024."""

NAMED = any_case(
    "phone telef telem mobil mobiel movil móvil handy portable appel anruf rufnummer llama chiama"
    " whatsapp celular cellular komórk komork телефон мобил звон сотов"
    " 电话 電話 手机 手機 致电 携帯 전화 휴대폰 هاتف جوال موبايل تلفون फ़ोन फोन मोबाइल"
)
CALLS = any_case(
    "tel tél fax cell call called calling ring rang dial dialled bel mob gsm cep тел моб"
)
LETTER = "A-Za-zА-яЁё"
REACHED = any_case("contact contacto kontakt ph text texted sms reach reached")
"""Words before a telephone number; the last are followed by other things as well."""
PHONES_BETWEEN = (
    f"[ .:,;#()=-]|{any_case('is on at me him her them us back to no number num nr via')}"
)
DIALLED = f"({THREE}{MORE}{{3,}}[0-9]|[0-9]{{1,2}}({NO_DATE})[0-9]|[0-9]{{10,11}})"
"""A number after a word such as `called`, which a date follows as well."""
ZERO = f"(0[0-9]{{2}}{MORE}{{5,}}[0-9]|0[0-9]?({NO_DATE})[0-9]|[0-9]{{10,11}})"
"""The same, that begins with zero, or has 10 or 11 digits in a row."""
SHORT = "43|49|98|247|290|352|358|500|672|676|677|678|682|685|686|690"
"""Countries with numbers of eight digits, their own included; those under 1 and 7 have eleven."""

PHONES: tuple[Form, ...] = (
    Form(
        "phone",
        # (in groups; +12345.678 is a number with a sign, unless more digits follow the point)
        of("[+][1-9][0-9]*([ ()/-]|[.][0-9]*[ ()/.-]|[.][0-9]{4})[0-9 ()/.-]*[0-9]"),
        telephone,
    ),
    Form(
        "phone",
        # (in one, or with a point before four digits; +12345678.90 is a number with a sign)
        f"{BEFORE}([+]([17][0-9]{{10}}|({SHORT})[0-9]{{4,}}|[2-689][0-9]{{8,}}"
        "|[1-9][0-9]{6,}[.][0-9]{4}))"
        "([^0-9A-Za-z.,]|[.,]?$|[.,][^0-9]|,[0-9]{5})",
        telephone,
    ),
    Form("phone", of("00[1-9][0-9]?[)]?[ /-][0-9 ()/.-]{5,}[0-9]"), telephone_number),
    Form(
        "phone",
        # (00781-1234-05 is the code of a drug)
        of(
            "00[1-9][0-9]{2}(([)]?[ /]|[)]-|-([0-9]{0,3}[ ()/.-]|[0-9]{4}[ ()/.]|[0-9]{5}"
            "|[0-9]{4}-[0-9]{1,2}[()/.-]))[0-9 ()/.-]*[0-9]"
            "|-[0-9]{4}-[0-9]{3,}([0-9 ()/.-]*[0-9])?)"
        ),
        telephone_number,
    ),
    # (numbers in Luxembourg may have six digits, as drug codes have)
    Form("phone", of("00352-[0-9]{4}-[0-9]{2}"), telephone_number),
    Form(
        "phone",
        "(^|[^0-9A-Za-z.-])((1[ .-]?)?([(][2-9][0-9]{2}[)] ?[2-9][0-9]{2}[ .-][0-9]{4}"
        "|[2-9][0-9]{2}([.-])[2-9][0-9]{2}[.-][0-9]{4}))([^0-9A-Za-z]|$)",
    ),
    Form(
        "phone",
        # (five numbers of a lottery may begin so)
        of("0[1-9]([ .-][0-9]{2}){4}"),
        least=ALONE,
        like=of("[0-9]{2}([ .-][0-9]{2}){4}"),
    ),
    Form(
        "phone",
        of("0[1-9][0-9]{1,4}([ /-]|[)] ?)[0-9]{3,4}[ -]?[0-9]{3,5}"),
        least=SOME,
        like=of("[0-9]{3,6}([ /-]|[)] ?)[0-9]{3,4}[ -]?[0-9]{3,5}"),
    ),
    Form("phone", of("[3-9][0-9]{2} [0-9]{3} [0-9]{4}|[6-9][0-9]{2}( [0-9]{2}){3}")),
    Form(
        "phone",
        of("[3-9][0-9]{2} [0-9]{3} [0-9]{3}"),
        least=ALONE,
        like=of("[0-9]{1,3} [0-9]{3} [0-9]{3}"),
    ),
    Form(
        "phone",
        # (not after a bracket: that is a replacement such as `[phone]`)
        f"((?:(?:{NAMED})|(?:^|[^{LETTER}])(?:{CALLS})[^0-9{LETTER}\\]])[^0-9+\\]]{{0,14}})"
        # (nor before the minutes of a time)
        f"({DIALLED})([^0-9A-Za-z:]|:[^0-9]|:?$)",
        telephone,
    ),
    Form(
        "phone",
        f"((?:^|[^A-Za-z])(?:{REACHED})(?:{PHONES_BETWEEN}){{1,9}})({ZERO})([^0-9A-Za-z:]|:[^0-9]|:?$)",
        telephone,
    ),
    Form(
        "phone",
        # (before the word)
        f"(^|[^0-9A-Za-z.])({ZERO})"
        "([ ,(:-]{1,3}(?:(?:is|was|his|her|my|their|the|a) )*"
        f"(?:{any_case('phone telephone mobile cell tel fax handy mobil')})(?:[^A-Za-z]|$))",
        telephone,
    ),
)


# Forms of dates and months in text.


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
_MONTH = any_case(" ".join(sorted(set(_NAMES.split()), key=lambda name: (-len(name), name))))
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


# Forms of identifiers in text: a pattern for each, and check digits to exclude other numbers.
#
# Patterns use only what all engines support: no word boundaries, no look-around. The identifier is
# the second group; no letter or digit precedes or follows it. Sources: ISO 13616 (IBAN) and its
# registry of lengths, ISO/IEC 7812 (payment cards), E.164 (telephone numbers), RFC 4122 (UUID), and
# for identity numbers the rules that their countries publish.


COUNTRIES = "|".join(code for listed in IBAN_LENGTHS.values() for code in listed.lower().split())
OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"


BIRTH = "[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])"
DOT = "([.]| ?[(\\[{<][dD][oO][tT][)\\]}>] ?| dot )"
LOCAL, DOMAIN = "[A-Za-z][0-9A-Za-z]*", "[A-Za-z0-9-]+"
ENDS = any_case(
    "com org net edu gov info io eu uk de fr es nl pl ch pt br ru se dk fi cz gr tr ca au nz jp cn"
    " kr mx ar example test invalid"
)
"""Ends of domains that are no words, which may follow a point without a space."""
MAILERS = any_case("mail yahoo outlook hotmail live icloud aol gmx web example")
GROUP = (
    "([0-9][0-9A-Za-z]{3}|[A-Za-z][0-9][0-9A-Za-z]{2}|[A-Za-z]{2}[0-9][0-9A-Za-z]|[A-Za-z]{3}[0-9])"
)
"""Four letters and digits, and no word."""

EXACT = "-?1?[0-9]{1,2}[.,][0-9]{3,}"
DEGREES = f"{EXACT} ?°?"
AXES = any_case(
    "lat latitude latitud breite breitengrad lon lng long longitude longitud länge laenge"
)
AXIS = f"[\"']?({AXES})[\"' ]*[:=]?[\"' ]*"


def _pair(point: str, between: str) -> str:
    """Two numbers that nothing but their form tells to be coordinates, with four decimals or more.

    Two numbers below 10 may be a ratio with its bounds: these have five or more.
    """
    far = f"-?[1-8][0-9]{point}[0-9]{{4,}}{between}-?1?[0-9]{{1,2}}{point}[0-9]{{4,}}"
    east = f"-?0?[0-9]{point}[0-9]{{4,}}{between}-?1?[0-9]{{2}}{point}[0-9]{{4,}}"
    near = f"-?0?[0-9]{point}[0-9]{{5,}}{between}-?0?[0-9]{point}[0-9]{{5,}}"
    return f"{far}|{east}|{near}"


_detectors_DIGITS = "([0-9]{{{}}})([^0-9A-Za-z]|$)"
BSN = weighted_sum([9, 8, 7, 6, 5, 4, 3, 2, -1], 11)
NHS = weighted_sum([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 11)
PESEL = weighted_sum([1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1], 10)

FORMS: tuple[Form, ...] = (
    Form(
        "mail",
        "(^|\\n|.)([^ \\t\\r\\n@<>,;:\"'()]+@"
        # (part of the domain may have been replaced by `[name]`)
        "[A-Za-z0-9À-힣_\\[\\]-]+([.][A-Za-z0-9À-힣_\\[\\]-]+)*[.][A-Za-zÀ-힣]{2,})",
    ),
    Form(
        "mail",
        # with spaces around the at sign, or with the signs in words
        "(^|[^0-9A-Za-z])([0-9A-Za-z][0-9A-Za-z._+-]*( @ ?|@ | ?[(\\[{<][aA][tT][)\\]}>] ?)"
        f"[A-Za-z0-9-]+({DOT}[A-Za-z0-9-]+)*{DOT}[a-z]{{2,}})([^0-9A-Za-z]|$)",
    ),
    Form(
        "mail",
        # as in web addresses and web pages
        "(^|[^0-9A-Za-z])([0-9A-Za-z%][0-9A-Za-z._%+-]*(%40|&#0*64;|&#[xX]0*40;|&commat;)"
        "[A-Za-z0-9-]+(([.]|%2[eE]|&#0*46;|&#[xX]0*2[eE];|&period;)[A-Za-z0-9-]+)+)"
        "([^0-9A-Za-z]|$)",
    ),
    # jane.doe at mail.org, jane at mail dot org; not: bought at amazon.com, pain at rest.denies
    Form(
        "mail", of(f"{LOCAL}[._0-9+-][0-9A-Za-z._+-]* [aA][tT] {DOMAIN}([.]{DOMAIN})*[.]({ENDS})")
    ),
    Form("mail", of(f"{LOCAL} [aA][tT] {DOMAIN}( [dD][oO][tT] {DOMAIN})* [dD][oO][tT] ({ENDS})")),
    Form("mail", of(f"{LOCAL} [aA][tT] ([A-Za-z0-9-]*({MAILERS}))[.]({DOMAIN}[.])?({ENDS})")),
    Form("url", "(^|\\n|.)(([hH][tT][tT][pP][sS]?|[fF][tT][pP])://[^ \\t\\r\\n]+)"),
    Form("url", of("[wW]{3}[.][A-Za-z0-9-]+[.][A-Za-z]{2,}[^\\n]*")),
    Form("uuid", of("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")),
    Form("mac", of("[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")),
    Form("mac", of("[0-9a-fA-F]{2}(-[0-9a-fA-F]{2}){5}"), pairs_with_letter),
    Form("mac", of("[0-9a-fA-F]{4}[.][0-9a-fA-F]{4}[.][0-9a-fA-F]{4}")),
    Form("ip", f"(^|[^0-9A-Za-z.])({OCTET}([.]{OCTET}){{3}})([.]?[^0-9A-Za-z.]|[.]?$)", octets),
    Form("ip", of("[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){7}")),
    Form(
        "ip",
        of("[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){1,5}::([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){0,5})?"),
    ),
    Form("ip", of("[0-9a-fA-F]{1,4}::[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){2,5}")),
    Form("ip", of("[fF][eE]80::[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){0,6}")),
    Form("iban", of("[A-Z]{2}[0-9]{2}([ .-]?[A-Z0-9]{4}){2,7}([ .-]?[A-Z0-9]{1,3})?"), iban),
    Form("iban", of("[A-Za-z]{2}[0-9]{2}([ .-]?[0-9]{4}){2,7}([ .-]?[0-9]{1,3})?"), iban),
    Form(
        "iban",
        of(
            f"[A-Za-z]{{2}}[0-9]{{2}}[ .-]?[0-9A-Za-z]{{4}}([ .-]?{GROUP}){{2,6}}"
            "([ .-]?[0-9][0-9A-Za-z]{0,2})?"
        ),
        iban,
    ),
    Form("iban", of(f"({COUNTRIES})[0-9]{{2}}[0-9a-z]{{11,30}}"), iban),
    Form(
        "card",
        of("[3-6][0-9]{3}[ .-]?[0-9]{4,6}[ .-]?[0-9]{4,5}([ .-]?[0-9]{1,4})?"),
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
        "(^|[^0-9A-Za-z.])([0-8][0-9]{2}[.][0-9]{2}[.][0-9]{4})([.]?[^0-9A-Za-z.]|[.]?$)",
    ),
    Form(
        "ssn",
        f"((?:{any_case('ssn')}|[Ss]ocial [Ss]ecurity)[^0-9\\]]{{0,12}})"
        + _detectors_DIGITS.format(9),
    ),
    *PHONES,
    *(
        Form("coordinates", f"(^|[^0-9A-Za-z.,])({pair})([.,]?[^0-9A-Za-z.,]|[.,]?$)")
        for pair in (_pair("[.]", " ?[,; ] ?"), _pair(",", "( ?[;/] ?|, | )"))
    ),
    Form("coordinates", of(f"{AXIS}{DEGREES}[\"' ]*[,;/ ]{{1,3}}{AXIS}{DEGREES}")),
    Form("coordinates", of(f"[NS] ?{DEGREES} ?[,;/]? ?[EWO] ?{DEGREES}")),
    Form("coordinates", of(f"{DEGREES} ?[NS] ?[,;/]? ?{DEGREES} ?[EWO]")),
    Form("coordinates", f"{BEFORE}({EXACT}° ?[,;/]? ?{EXACT}°)"),
    Form("coordinates", "(^|[^0-9A-Za-z])([0-9]{1,3}° ?[0-9]{1,2}['′][^\\n]*[NSEWO])(\\n|.|$)"),
    Form(
        "national_id",
        of("([0-9]{8}|[0-9]{2}[.][0-9]{3}[.][0-9]{3}|[XYZxyz]-?[0-9]{7})-?[A-Za-z]"),
        letter,
    ),
    Form("national_id", of("[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]")),
    Form("national_id", of("[a-z]{6}[0-9]{2}[a-ehlmprst][0-9]{2}[a-z][0-9]{3}[a-z]")),
    Form(
        "national_id",
        of("[12] ?[0-9]{2} ?[0-9]{2} ?(2[AB]|[0-9]{2}) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}"),
        french,
        digits=True,
    ),
    Form("national_id", of("[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]([ -]?[0-9]{2}){3}[ -]?[A-D]")),
    Form(
        "national_id",
        of("[a-ceghj-pr-tw-z][a-ceghj-npr-tw-z]([ -]?[0-9]{2}){3}[ -]?[a-d]"),
        least=SOME,
        like=of("[a-z]{2}([ -]?[0-9]{2}){3}[ -]?[a-z]"),
    ),
    Form("national_id", of(f"{BIRTH}[-+][0-9]{{4}}"), luhn(10, 10)),
    Form(
        "national_id",
        of("(0[1-9]|[12][0-9]|3[01])(0[1-9]|1[0-2])[0-9]{2}[-+A-FU-Y][0-9]{3}[0-9A-Ya-y]"),
        finnish,
    ),
    Form("national_id", of("[0-9]{2}[.][0-9]{2}[.][0-9]{2}-[0-9]{3}[.][0-9]{2}"), belgian),
    Form("national_id", of("[0-9]{3}[.][0-9]{3}[.][0-9]{3}-[0-9]{2}"), brazilian),
    Form(
        "national_id",
        of("756[.]?[0-9]{4}[.]?[0-9]{4}[.]?[0-9]{2}"),
        weighted_sum([1, 3] * 6 + [1], 10),
        digits=True,
    ),
    Form(
        "national_id",
        of("[1-9][0-9]{5}(19|20)[0-9]{2}(0[1-9]|1[0-2])[0-9]{5}[0-9X]"),
        chinese,
        digits=True,
    ),
    Form(
        "national_id",
        of("[0-9]{3} [0-9]{3} [0-9]{4}"),
        NHS,
        least=ALONE,
    ),
    *(
        Form("national_id", f"((?:{any_case(word)})[^0-9\\]]{{0,12}}){number}", check)
        for word, number, check in (
            ("bsn sofi burgerservicenummer", _detectors_DIGITS.format(9), BSN),
            ("nhs", _detectors_DIGITS.format(10), NHS),
            ("pesel", _detectors_DIGITS.format(11), PESEL),
            ("cpf", _detectors_DIGITS.format(11), brazilian),
        )
    ),
    Form(
        "national_id",
        "^( *)([0-9]{9})( *)$",
        BSN,
        least=ALONE,
        digits=True,
    ),
    Form(
        "national_id",
        "^( *)([0-9]{10})( *)$",
        NHS,
        least=ALONE,
        digits=True,
    ),
    Form("national_id", "^( *)([0-9]{11})( *)$", brazilian, least=ALONE, digits=True),
    Form(
        "national_id",
        "^( *)([0-9]{11})( *)$",
        PESEL,
        least=ALONE,
        digits=True,
    ),
)

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
    "name": " different values in a column named like an identifier",
    "identifier_value": " values that contain a value of an identifier column",
}
"""The kinds of identifiers as a policy names them, and the nouns for counts."""
ANY = "|".join(f"({form.like or form.pattern})" for form in FORMS)
"""One pattern that matches every text with one of the forms, or one that is like it."""
SIGNS = (
    f"[0-9@:{UNUSUAL_SIGNS}]|[Ww][Ww][Ww][.]|[(\\[{{<][aA][tT][)\\]}}>]|&commat;"
    "| [aA][tT] [A-Za-z0-9-]+([.]| [dD][oO][tT] )|-[^-]*-[^-]*-[^-]*-"
)
"""A pre-check that matches every such text, and few others, at a tenth of the cost."""

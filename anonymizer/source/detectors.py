"""Forms of identifiers in text: a pattern for each, and check digits to exclude other numbers.

Patterns use only what all engines support: no word boundaries, no look-around. The identifier is
the second group; no letter or digit precedes or follows it. Sources: ISO 13616 (IBAN) and its
registry of lengths, ISO/IEC 7812 (payment cards), E.164 (telephone numbers), RFC 4122 (UUID),
and for identity numbers the rules that their countries publish.
"""

from __future__ import annotations

from anonymizer.source.check_digits import (
    IBAN_LENGTHS,
    belgian,
    brazilian,
    chinese,
    finnish,
    french,
    iban,
    letter,
    lettered,
    luhn,
    octets,
    weighted,
)
from anonymizer.source.forms import ALONE, BEFORE, SOME, Form, any_case, of
from anonymizer.source.phones import PHONES
from anonymizer.source.signs import UNUSUAL_SIGNS

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


_DIGITS = "([0-9]{{{}}})([^0-9A-Za-z]|$)"
BSN = weighted([9, 8, 7, 6, 5, 4, 3, 2, -1], 11)
NHS = weighted([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 11)
PESEL = weighted([1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1], 10)

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
    Form("mac", of("[0-9a-fA-F]{2}(-[0-9a-fA-F]{2}){5}"), lettered),
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
        f"((?:{any_case('ssn')}|[Ss]ocial [Ss]ecurity)[^0-9\\]]{{0,12}})" + _DIGITS.format(9),
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
        weighted([1, 3] * 6 + [1], 10),
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
            ("bsn sofi burgerservicenummer", _DIGITS.format(9), BSN),
            ("nhs", _DIGITS.format(10), NHS),
            ("pesel", _DIGITS.format(11), PESEL),
            ("cpf", _DIGITS.format(11), brazilian),
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
    "name": " different values under a name that says who somebody is",
    "identifier_value": " values that hold one of an identifier column",
}
"""What is searched for, as a policy names it, and what is counted."""
ANY = "|".join(f"({form.like or form.pattern})" for form in FORMS)
"""One pattern that matches every text with one of the forms, or one that is like it."""
SIGNS = (
    f"[0-9@:{UNUSUAL_SIGNS}]|[Ww][Ww][Ww][.]|[(\\[{{<][aA][tT][)\\]}}>]|&commat;"
    "| [aA][tT] [A-Za-z0-9-]+([.]| [dD][oO][tT] )|-[^-]*-[^-]*-[^-]*-"
)
"""A pre-check that matches every such text, and few others, at a tenth of the cost."""

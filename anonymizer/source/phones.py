"""Forms of telephone numbers in text: international, of some countries, and beside a word."""

from __future__ import annotations

from anonymizer.source.check_digits import dialled, telephone
from anonymizer.source.forms import ALONE, BEFORE, SOME, Form, any_case, of

CALLED = (
    "([03-9(]|1[0-8 ()/.-]|2[1-9 ()/.-]|(19|20)[0-9]?[ ()/.-]|(19|20)[0-9]{3})"  # not 2024-01-31
)
"""How a number begins after a word such as `called`: not like a date."""

NAMED = any_case(
    "phone telef telem mobil mobiel movil móvil handy portable appel anruf rufnummer llama chiama"
    " whatsapp celular cellular komórk komork"
)
CALLS = any_case("tel tél fax cell call called calling ring rang dial dialled bel mob gsm cep")
REACHED = any_case("contact contacto kontakt ph text texted sms reach reached")
"""Words before a telephone number; the last are followed by other things as well."""
BETWEEN = f"[ .:,;#()=-]|{any_case('is on at me him her them us back to no number num nr via')}"
DIALLED = f"({CALLED}[0-9 ()/.-]{{5,}}[0-9]|[0-9]{{10,11}})"

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
        f"{BEFORE}([+][1-9][0-9]{{6,}}([.][0-9]{{4}})?)"
        "([^0-9A-Za-z.,]|[.,]?$|[.,][^0-9]|,[0-9]{5})",
        telephone,
    ),
    Form("phone", of("00[1-9][0-9]?[)]?[ /-][0-9 ()/.-]{5,}[0-9]"), dialled),
    Form(
        "phone",
        # (00781-1234-05 is the code of a drug)
        of(
            "00[1-9][0-9]{2}(([)]?[ /]|[)]-|-([0-9]{0,3}[ ()/.-]|[0-9]{4}[ ()/.]|[0-9]{5}"
            "|[0-9]{4}-[0-9]{1,2}[()/.-]))[0-9 ()/.-]*[0-9]"
            "|-[0-9]{4}-[0-9]{3,}([0-9 ()/.-]*[0-9])?)"
        ),
        dialled,
    ),
    # (numbers in Luxembourg may have six digits, as drug codes have)
    Form("phone", of("00352-[0-9]{4}-[0-9]{2}"), dialled),
    Form(
        "phone",
        "(^|[^0-9A-Za-z.-])((1[ .-]?)?([(][2-9][0-9]{2}[)] ?[2-9][0-9]{2}[ .-][0-9]{4}"
        "|[2-9][0-9]{2}([.-])[2-9][0-9]{2}[.-][0-9]{4}))([^0-9A-Za-z]|$)",
    ),
    Form("phone", of("0[1-9]([ .-][0-9]{2}){4}")),
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
        f"((?:(?:{NAMED})|(?:^|[^A-Za-z])(?:{CALLS})[^0-9A-Za-z\\]])[^0-9+\\]]{{0,14}})"
        f"({DIALLED})([^0-9A-Za-z]|$)",
        telephone,
    ),
    Form(
        "phone",
        f"((?:^|[^A-Za-z])(?:{REACHED})(?:{BETWEEN}){{1,9}})"
        "(0[0-9 ()/-]{7,}[0-9]|[0-9]{10,11})([^0-9A-Za-z]|$)",
        telephone,
    ),
    Form(
        "phone",
        # (before the word)
        "(^|[^0-9A-Za-z.])(0[0-9 /-]{7,}[0-9]|[0-9]{10,11})"
        "([ ,(:-]{1,3}(?:(?:is|was|his|her|my|their|the|a) )*"
        f"(?:{any_case('phone telephone mobile cell tel fax handy mobil')})(?:[^A-Za-z]|$))",
        telephone,
    ),
)

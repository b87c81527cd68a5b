"""Forms of telephone numbers in text: international, of some countries, and beside a word."""

from __future__ import annotations

from anonymizer.source.check_digits import dialled, telephone
from anonymizer.source.forms import ALONE, BEFORE, SOME, Form, any_case, of

MORE = "[0-9 ()/.-]"
NO_YEAR = "([03-9]|1[0-8 ()/.-]|2[1-9 ()/.-]|(19|20)[0-9]?[ ()/.-]|(19|20)[0-9]{3})"
"""How digits begin that are not the four of a year."""
THREE = "([03-9][0-9]{2}|1[0-8][0-9]|2[1-9][0-9]|(19|20)[0-9][ ()/.-]|(19|20)[0-9]{3})"
"""The same with three digits or more in a row."""
NO_DATE = (
    f"[ ()]{MORE}{{4,}}|[./-]([ ()./-]{MORE}{{3,}}|[0-9]{{3}}{MORE}+|[0-9]{{1,2}}[ ()]{MORE}{{2,}}"
    f"|[0-9]{{1,2}}[./-]{NO_YEAR}{MORE}*)"
)
"""What follows one or two digits in a number that does not begin like 31.01.2024 or 1/31/2024."""

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
BETWEEN = f"[ .:,;#()=-]|{any_case('is on at me him her them us back to no number num nr via')}"
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
        f"((?:^|[^A-Za-z])(?:{REACHED})(?:{BETWEEN}){{1,9}})({ZERO})([^0-9A-Za-z:]|:[^0-9]|:?$)",
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

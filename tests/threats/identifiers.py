"""Columns of text with and without identifiers, made by public rules; no real person's data.

Check digits come from python-stdnum, example telephone numbers from phonenumbers.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable
from functools import cache

import phonenumbers
from stdnum import iban, luhn
from stdnum.br import cpf
from stdnum.ch import ssn as ahv
from stdnum.cn import ric
from stdnum.es import dni, nie
from stdnum.fi import hetu
from stdnum.fr import nir
from stdnum.gb import nhs
from stdnum.it import codicefiscale
from stdnum.nl import bsn
from stdnum.pl import pesel

Make = Callable[[random.Random], str]
ROWS = 200


def digits(r: random.Random, n: int) -> str:
    return "".join(r.choices(string.digits, k=n))


def wide(text: str) -> str:
    """The text in the full-width letters and digits of East Asian keyboards."""
    return "".join(chr(ord(sign) + 0xFEE0) if sign > " " else sign for sign in text)


def letters(r: random.Random, n: int) -> str:
    return "".join(r.choices(string.ascii_lowercase, k=n))


def valid(draw: Make, check: Callable[[str], bool]) -> Make:
    """Draws again until the check digits are right."""

    def make(r: random.Random) -> str:
        while not check(found := draw(r)):
            pass
        return found

    return make


def born(r: random.Random, form: str) -> str:
    """A date as YYMMDD or DDMMYY."""
    year, month, day = r.randint(30, 99), r.randint(1, 12), r.randint(1, 28)
    return form.format(y=f"{year:02}", m=f"{month:02}", d=f"{day:02}")


def phone(region: str, form: int) -> Make:
    """An example number of a region in its international or national form."""

    def make(r: random.Random) -> str:
        mobile = phonenumbers.PhoneNumberType.MOBILE
        number = phonenumbers.example_number_for_type(region, mobile)
        assert number is not None
        text = str(number.national_number)
        while True:
            changed = phonenumbers.parse(text[:4] + digits(r, len(text) - 4), region)
            if phonenumbers.is_valid_number(changed):
                return phonenumbers.format_number(changed, form)

    return make


INTERNATIONAL = phonenumbers.PhoneNumberFormat.INTERNATIONAL
NATIONAL = phonenumbers.PhoneNumberFormat.NATIONAL
E164 = phonenumbers.PhoneNumberFormat.E164


def account(country: str, length: int) -> Make:
    def make(r: random.Random) -> str:
        body = digits(r, length - 4)
        return str(iban.calc_check_digits(f"{country}00{body}").join((country, body)))

    return make


def lettered(country: str, signs: int, length: int) -> Make:
    """An account whose number begins with letters."""

    def make(r: random.Random) -> str:
        body = letters(r, signs).upper() + digits(r, length - 4 - signs)
        return str(iban.calc_check_digits(f"{country}00{body}").join((country, body)))

    return make


def card(prefix: str, length: int) -> Make:
    def make(r: random.Random) -> str:
        body = prefix + digits(r, length - 1 - len(prefix))
        return str(body + luhn.calc_check_digit(body))

    return make


def grouped(make: Make, *sizes: int, by: str = " ") -> Make:
    """The same in groups; what is left over is the last one."""

    def split(r: random.Random) -> str:
        text, parts = make(r), []
        for size in sizes:
            parts.append(text[:size])
            text = text[size:]
        return by.join([*parts, text] if text else parts)

    return split


SENTENCES = (
    "Seen on the ward; {} was noted, no fever.",
    "Bitte {} vormerken, danke",
    "veuillez noter {} pour le dossier",
    "el paciente dio {}, sin alergias",
    "contatto: {} (verificato)",
)


def inside(make: Make, among: int = 1) -> Make:
    """In a sentence, one of `among` times."""

    def write(r: random.Random) -> str:
        text = make(r) if r.randrange(among) == 0 else "nothing of note"
        return r.choice(SENTENCES).format(text)

    return write


def mail(r: random.Random) -> str:
    return f"{letters(r, 5)}.{letters(r, 6)}@{letters(r, 7)}.{r.choice(['org', 'de', 'co.uk'])}"


def address(r: random.Random) -> str:
    return ".".join(str(r.randint(1, 254)) for _ in range(4))


def hexadecimal(r: random.Random, n: int) -> str:
    return "".join(r.choices("0123456789abcdef", k=n))


def uuid(r: random.Random) -> str:
    text = hexadecimal(r, 32)
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def mac(r: random.Random) -> str:
    return ":".join("".join(r.choices("0123456789ABCDEF", k=2)) for _ in range(6))


def ssn(r: random.Random) -> str:
    return f"{r.randint(100, 665):03}-{r.randint(1, 99):02}-{r.randint(1, 9999):04}"


def coordinates(r: random.Random) -> str:
    return f"{r.uniform(-80, 80):.5f}, {r.uniform(-170, 170):.5f}"


def _placed(form: str) -> Make:
    return lambda r: form.format(r.uniform(10, 80), r.uniform(10, 170))


def _called(word: str) -> Make:
    return lambda r: f"{word}1{digits(r, 10)}"


def spanish(r: random.Random) -> str:
    number = digits(r, 8)
    return str(number + dni.calc_check_digit(number))


def foreigner(r: random.Random) -> str:
    number = r.choice("XYZ") + digits(r, 7)
    return str(number + nie.calc_check_digit(number))


def italian(r: random.Random) -> str:
    body = "".join(r.choices("BCDFGLMNPRSTV", k=6)) + f"{r.randint(30, 99)}"
    body += r.choice("ABCDEHLMPRST") + f"{r.randint(1, 28):02}" + r.choice("ABCDEFGHIL")
    body += digits(r, 3)
    return str(body + codicefiscale.calc_check_digit(body))


def french(r: random.Random) -> str:
    body = r.choice("12") + born(r, "{y}{m}") + f"{r.randint(10, 95)}" + digits(r, 6)
    return str(body + nir.calc_check_digits(body))


def swedish(r: random.Random) -> str:
    body = born(r, "{y}{m}{d}") + digits(r, 3)
    return f"{body[:6]}-{body[6:]}{luhn.calc_check_digit(body)}"


def finnish(r: random.Random) -> str:
    body = born(r, "{d}{m}{y}") + f"{r.randint(2, 899):03}"
    return f"{body[:6]}-{body[6:]}{hetu._calc_checksum(body)}"


def belgian(r: random.Random) -> str:
    body = born(r, "{y}{m}{d}") + digits(r, 3)
    number = body + f"{97 - int(body) % 97:02}"
    return f"{number[:2]}.{number[2:4]}.{number[4:6]}-{number[6:9]}.{number[9:]}"


def british(r: random.Random) -> str:
    return f"{r.choice(['AB', 'CE', 'JK', 'WL'])} {digits(r, 2)} {digits(r, 2)} {digits(r, 2)} C"


def brazilian(r: random.Random) -> str:
    return str(cpf.format(valid(lambda s: digits(s, 11), cpf.is_valid)(r)))


def swiss(r: random.Random) -> str:
    return str(ahv.format(valid(lambda s: "756" + digits(s, 10), ahv.is_valid)(r)))


def chinese(r: random.Random) -> str:
    body = "110101" + f"19{born(r, '{y}{m}{d}')}" + digits(r, 3)
    return str(body + ric.calc_check_digit(f"{body}0"))


def english(r: random.Random) -> str:
    return str(nhs.format(valid(lambda s: digits(s, 10), nhs.is_valid)(r)))


def dutch(r: random.Random) -> str:
    return valid(lambda s: str(s.randint(1, 9)) + digits(s, 8), bsn.is_valid)(r)


def polish(r: random.Random) -> str:
    return valid(lambda s: born(s, "{y}{m}{d}") + digits(s, 5), pesel.is_valid)(r)


PLANTED: dict[str, tuple[str, Make]] = {
    "mail": ("mail", mail),
    "mail in sentences": ("mail", inside(mail)),
    "mail, rarely": ("mail", inside(mail, 50)),
    "mail in brackets": ("mail", lambda r: f"<{mail(r)}>"),
    "mail with umlauts": ("mail", lambda r: f"jürgen.{mail(r)}"),
    "web addresses": ("url", lambda r: f"https://{letters(r, 8)}.example/u/{digits(r, 5)}"),
    "web addresses in sentences": ("url", inside(lambda r: f"http://{letters(r, 8)}.org/~me")),
    "web addresses, www": ("url", lambda r: f"www.{letters(r, 9)}.org"),
    "UUIDs": ("uuid", uuid),
    "UUIDs in sentences": ("uuid", inside(uuid, 10)),
    "UUIDs in capitals": ("uuid", lambda r: uuid(r).upper()),
    "MAC addresses": ("mac", mac),
    "MAC addresses with hyphens": ("mac", lambda r: mac(r).replace(":", "-")),
    "IP addresses": ("ip", address),
    "IP addresses in sentences": ("ip", inside(address, 5)),
    "IPv6 addresses": ("ip", lambda r: ":".join(f"{r.randrange(65536):x}" for _ in range(8))),
    "short IPv6 addresses": ("ip", lambda r: f"2001:db8:{r.randrange(65536):x}::{digits(r, 2)}"),
    "accounts DE": ("iban", account("DE", 22)),
    "accounts FR in groups": ("iban", grouped(account("FR", 27), 4, 4, 4, 4, 4, 4)),
    "accounts ES in sentences": ("iban", inside(grouped(account("ES", 24), 4, 4, 4, 4, 4), 5)),
    "accounts NL": ("iban", account("NL", 18)),
    "accounts IT in sentences": ("iban", inside(account("IT", 27))),
    "cards": ("card", card("4", 16)),
    "cards in groups": ("card", grouped(card("51", 16), 4, 4, 4)),
    "cards with hyphens": ("card", grouped(card("4", 16), 4, 4, 4, by="-")),
    "cards in sentences": ("card", inside(grouped(card("51", 16), 4, 4, 4), 10)),
    "cards of 15": ("card", grouped(card("37", 15), 4, 6)),
    "social security": ("ssn", ssn),
    "social security in sentences": ("ssn", inside(ssn, 20)),
    "social security with spaces": ("ssn", lambda r: ssn(r).replace("-", " ")),
    "phones DE": ("phone", phone("DE", INTERNATIONAL)),
    "phones FR": ("phone", phone("FR", INTERNATIONAL)),
    "phones ES": ("phone", phone("ES", E164)),
    "phones IT in sentences": ("phone", inside(phone("IT", INTERNATIONAL), 10)),
    "phones GB in sentences": ("phone", inside(phone("GB", INTERNATIONAL))),
    "phones US": ("phone", phone("US", NATIONAL)),
    "phones US in sentences": ("phone", inside(phone("US", NATIONAL), 20)),
    "phones DE at home": ("phone", phone("DE", NATIONAL)),
    "phones FR at home": ("phone", phone("FR", NATIONAL)),
    "phones GB at home": ("phone", phone("GB", NATIONAL)),
    "phones ES at home": ("phone", phone("ES", NATIONAL)),
    "phones after a point": ("phone", lambda r: f"+49.{r.randint(10**8, 10**9)}"),
    "phones at the end of a sentence": ("phone", lambda r: f"call +49{digits(r, 9)}."),
    "phones in a list": ("phone", lambda r: f"+49{digits(r, 9)},+33{digits(r, 9)}"),
    "phones in a list at home": ("phone", lambda r: f"+49{digits(r, 9)},030{digits(r, 7)}"),
    "phones in short groups": ("phone", lambda r: f"00353-{digits(r, 4)}-{digits(r, 3)}"),
    "phones with one point": (
        "phone",
        lambda r: f"+1{r.randint(200, 999)}{r.randint(200, 999)}.{digits(r, 4)}",
    ),
    "phones of six digits": ("phone", lambda r: f"00352-{digits(r, 4)}-{digits(r, 2)}"),
    "phones in pairs": ("phone", lambda r: f"00352-{digits(r, 2)}-{digits(r, 2)}-{digits(r, 2)}"),
    "phones with non-breaking spaces": (
        "phone",
        lambda r: phone("FR", INTERNATIONAL)(r).replace(" ", "\u202f"),
    ),
    "phones with non-breaking hyphens": (
        "phone",
        lambda r: f"{r.randint(201, 989)}\u2011{r.randint(201, 999)}\u2011{digits(r, 4)}",
    ),
    "phones of wide digits": ("phone", lambda r: wide(phone("DE", INTERNATIONAL)(r))),
    "social security with dashes": ("ssn", lambda r: ssn(r).replace("-", "\u2013")),
    "accounts with non-breaking spaces": (
        "iban",
        lambda r: grouped(account("FR", 27), 4, 4, 4, 4, 4, 4)(r).replace(" ", "\u00a0"),
    ),
    "link-local IPv6 addresses": ("ip", lambda r: f"fe80::1ff:{digits(r, 4)}:4567:890a"),
    "mails at domains with umlauts": ("mail", lambda r: f"{letters(r, 5)}@m\u00fcller.example"),
    "phones after a word": ("phone", lambda r: f"Tel. {phone('DE', NATIONAL)(r)}, abends"),
    "DNI": ("national_id", spanish),
    "NIE in sentences": ("national_id", inside(foreigner, 5)),
    "codice fiscale": ("national_id", italian),
    "codice fiscale in sentences": ("national_id", inside(italian, 10)),
    "NIR": ("national_id", french),
    "NIR in groups": ("national_id", grouped(french, 1, 2, 2, 2, 3, 3)),
    "personnummer": ("national_id", swedish),
    "HETU": ("national_id", finnish),
    "rijksregisternummer": ("national_id", belgian),
    "NINO": ("national_id", british),
    "NINO in sentences": ("national_id", inside(british)),
    "CPF": ("national_id", brazilian),
    "AHV": ("national_id", swiss),
    "identity numbers CN": ("national_id", chinese),
    "NHS": ("national_id", english),
    "BSN": ("national_id", dutch),
    "PESEL": ("national_id", polish),
    "coordinates": ("coordinates", coordinates),
    "mails with spaces": ("mail", lambda r: mail(r).replace("@", " @ ")),
    "mails with the sign in words": ("mail", inside(lambda r: mail(r).replace("@", " (at) "))),
    "web addresses in capitals": ("url", lambda r: f"HTTPS://{letters(r, 8)}.example".upper()),
    "accounts in small letters": ("iban", lambda r: account("DE", 22)(r).lower()),
    "MAC addresses with dots": ("mac", lambda r: re.sub("(.{4})(?=.)", r"\1.", hexadecimal(r, 12))),
    "social security with dots": ("ssn", lambda r: ssn(r).replace("-", ".")),
    "phones US with their country": (
        "phone",
        lambda r: f"1-{r.randint(201, 989)}-{r.randint(201, 999)}-{digits(r, 4)}",
    ),
    "phones with marks of direction": (
        "phone",
        lambda r: "\u202a" + phone("DE", INTERNATIONAL)(r).replace(" ", "\u200e ") + "\u202c",
    ),
    "phones of Indian digits": (
        "phone",
        lambda r: phone("IN", INTERNATIONAL)(r).translate(
            {48 + digit: 0x966 + digit for digit in range(10)}
        ),
    ),
    "DNI in small letters": ("national_id", lambda r: spanish(r).lower()),
    "DNI with dots": (
        "national_id",
        lambda r: re.sub(r"(..)(...)(...)(.)", r"\1.\2.\3-\4", spanish(r)),
    ),
    "codice fiscale in small letters": ("national_id", lambda r: italian(r).lower()),
    "NINO with hyphens": ("national_id", lambda r: british(r).replace(" ", "-")),
    "phones DE at home, rarely": ("phone", inside(phone("DE", NATIONAL), 20)),
    "phones GB at home, rarely": ("phone", inside(phone("GB", NATIONAL), 20)),
    "phones ES at home, rarely": ("phone", inside(phone("ES", NATIONAL), 20)),
    "phones with a bracket": ("phone", inside(lambda r: f"(0171) 2{digits(r, 6)}", 20)),
    "phones among part numbers": (
        "phone",
        lambda r: f"0171 2{digits(r, 6)}" if r.random() < 0.4 else f"{digits(r, 3)}-{digits(r, 4)}",
    ),
    "phones among words": (
        "phone",
        lambda r: f"0171 2{digits(r, 6)}" if r.random() < 0.1 else r.choice(["none", "ward 3"]),
    ),
    "phones after call": ("phone", inside(lambda r: f"call 20{digits(r, 8)}", 20)),
    "phones of 11 digits in capitals": ("phone", inside(lambda r: f"MOBILE 07{digits(r, 9)}", 20)),
    "phones before a word": ("phone", inside(lambda r: f"2{digits(r, 9)} is her cell", 20)),
    "phones of contacts": ("phone", inside(lambda r: f"contact no. 98{digits(r, 8)}", 20)),
    "coordinates in sentences, rarely": ("coordinates", inside(coordinates, 20)),
    **{
        f"coordinates as in {form}": ("coordinates", inside(_placed(form), 20))
        for form in (
            "lat={:.4f}, lon={:.4f}",
            "Lat: {:.4f} Long: {:.4f}",
            '{{"latitude": {:.5f}, "longitude": {:.5f}}}',
            "N {:.4f} E {:.4f}",
            "{:.4f}°N, {:.4f}°E",
            "{:.4f}°, {:.4f}°",
        )
    },
    "coordinates with commas": (
        "coordinates",
        inside(lambda r: _placed("{:.4f}; {:.4f}")(r).replace(".", ","), 20),
    ),
    "coordinates near the Gulf of Guinea": (
        "coordinates",
        inside(lambda r: f"{r.uniform(4, 9):.5f}, {r.uniform(-8, 9):.5f}", 20),
    ),
    **{
        f"phones after {word}": (
            "phone",
            inside(_called(word), 20),
        )
        for word in (
            "电话：",
            "手机",
            "電話 ",
            "тел. ",
            "телефон: ",
            "Позвонить ",
            "هاتف ",
            "फ़ोन: ",
        )
    },
    "phones of eight digits": ("phone", lambda r: f"+49{r.randint(2, 9)}{digits(r, 5)}"),
    "social security with dots, rarely": ("ssn", inside(lambda r: ssn(r).replace("-", "."), 20)),
    "social security in one": ("ssn", inside(lambda r: f"SSN: {ssn(r).replace('-', '')}", 20)),
    "MAC addresses with hyphens, rarely": ("mac", inside(lambda r: mac(r).replace(":", "-"), 20)),
    "accounts with hyphens": (
        "iban",
        inside(grouped(account("DE", 22), 4, 4, 4, 4, 4, by="-"), 20),
    ),
    "accounts NL in small letters": (
        "iban",
        inside(lambda r: lettered("NL", 4, 18)(r).lower(), 20),
    ),
    "accounts GB in small groups": (
        "iban",
        inside(lambda r: grouped(lettered("GB", 4, 22), 4, 4, 4, 4, 4)(r).lower(), 20),
    ),
    "accounts MT in small letters": ("iban", lambda r: lettered("MT", 4, 31)(r).lower()),
    "mails of web addresses": ("mail", inside(lambda r: mail(r).replace("@", "%40"), 20)),
    "mails of web pages": ("mail", inside(lambda r: mail(r).replace("@", "&#64;"), 20)),
    "mails with a word for the sign": ("mail", inside(lambda r: mail(r).replace("@", " at "), 20)),
    "mails in words": (
        "mail",
        inside(lambda r: f"{letters(r, 5)} at {letters(r, 6)} dot com", 20),
    ),
    "cards with dots": ("card", inside(grouped(card("51", 16), 4, 4, 4, by="."), 20)),
    "cards among order numbers": (
        "card",
        lambda r: card("4", 16)(r) if r.random() < 0.35 else f"4{digits(r, 15)}",
    ),
    "BSN in some rows": ("national_id", lambda r: dutch(r) if r.random() < 0.1 else "unknown"),
    "BSN after its name": ("national_id", inside(lambda r: f"BSN {dutch(r)}", 20)),
    "PESEL after its name": ("national_id", inside(lambda r: f"PESEL {polish(r)}", 20)),
}
"""What a column holds: the kind that has to be found, and how its values are drawn."""


def _dose(r: random.Random) -> str:
    return f"{r.choice([5, 10, 20, 40])} mg {r.choice(['am', 'pm'])}"


def _call_on_a_day(r: random.Random) -> str:
    day, month, year = f"{r.randint(1, 28):02}", f"{r.randint(1, 12):02}", r.randint(1990, 2025)
    date = r.choice([".", "/", "-"]).join((day, month, str(year)))
    return r.choice(
        [
            f"called on {date}",
            f"{date} phone call with mother",
            f"contact ({date} 10:{r.randint(10, 59)})",
            f"Anruf am {day}.{month}.{year} {r.randint(10, 19)}:30",
            f"called {day}.{month}.{year % 100:02} {r.randint(10, 19)}:{r.randint(10, 59)}",
        ]
    )


INNOCENT: dict[str, Make] = {
    "order numbers": lambda r: f"ORD-{digits(r, 8)}",
    "order numbers of digits": lambda r: digits(r, 8),
    "order numbers of 10": lambda r: str(r.randint(1, 9)) + digits(r, 9),
    "order numbers of 12": lambda r: digits(r, 12),
    "order numbers of 16": lambda r: "4" + digits(r, 15),
    "order numbers in groups": lambda r: f"{digits(r, 3)}-{digits(r, 7)}-{digits(r, 7)}",
    "invoices": lambda r: f"RE{r.randint(2015, 2025)}/{digits(r, 5)}",
    "ICD-10": lambda r: f"{r.choice('ABCEFGIJK')}{digits(r, 2)}.{digits(r, 1)}",
    "ICD-9": lambda r: f"{digits(r, 3)}.{digits(r, 2)}",
    "ATC codes": lambda r: f"{r.choice('ABCDGH')}{digits(r, 2)}{r.choice('ABX')}A{digits(r, 2)}",
    "LOINC": lambda r: f"{digits(r, 5)}-{digits(r, 1)}",
    "SNOMED": lambda r: str(r.randint(10**7, 10**9)),
    "CPT": lambda r: digits(r, 5),
    "versions": lambda r: f"{r.randint(0, 20)}.{r.randint(0, 30)}.{r.randint(0, 50)}",
    "versions of four": lambda r: ".".join(str(r.randint(0, 30)) for _ in range(4)),
    "builds": lambda r: f"10.0.{r.randint(10000, 22631)}.{r.randint(1, 4000)}",
    "measurements": lambda r: f"{r.uniform(0, 300):.2f}",
    "many decimals": lambda r: f"{r.uniform(0, 1):.12f}",
    "pressures": lambda r: f"{r.randint(90, 180)}/{r.randint(50, 110)}",
    "ranges": lambda r: f"{r.randint(0, 50)}-{r.randint(51, 100)}",
    "units": lambda r: f"{r.uniform(0, 10):.1f} mmol/l",
    "doses": _dose,
    "vitals": lambda r: (
        f"BP {r.randint(90, 180)}/80, pulse {r.randint(50, 99)}, T 36.{digits(r, 1)}"
    ),
    "dates": lambda r: f"20{r.randint(10, 25)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}",
    "German dates": lambda r: f"{r.randint(1, 28):02}.{r.randint(1, 12):02}.20{r.randint(10, 25)}",
    "US dates": lambda r: f"{r.randint(1, 12)}/{r.randint(1, 28)}/20{r.randint(10, 25)}",
    "dates of digits": lambda r: f"20{born(r, '{y}{m}{d}')}",
    "times": lambda r: f"{r.randint(0, 23):02}:{r.randint(0, 59):02}:{r.randint(0, 59):02}",
    "timestamps": lambda r: (
        f"2024-{r.randint(1, 12):02}-11T{r.randint(10, 23)}:10:{r.randint(10, 59)}Z"
    ),
    "timestamps with zone": lambda r: f"2024-05-11 {r.randint(10, 23)}:10:11.{digits(r, 6)}+02:00",
    "seconds": lambda r: str(r.randint(1_600_000_000, 1_700_000_000)),
    "milliseconds": lambda r: str(r.randint(1_600_000_000_000, 1_700_000_000_000)),
    "diagnoses": lambda r: r.choice(["flu", "type 2 diabetes", "asthma", "fracture of the wrist"]),
    "notes": lambda r: f"patient stable, day {r.randint(1, 30)}, mobile again, call if fever",
    "notes with days": lambda r: (
        f"{r.choice(['called', 'recall', 'cellulitis'])} 2024-01-{r.randint(10, 28)} 10:30"
    ),
    "notes with days of other forms": _call_on_a_day,
    "five of 49": lambda r: " ".join(f"{n:02}" for n in sorted(r.sample(range(1, 50), 5))),
    "six of 49": lambda r: "-".join(f"{n:02}" for n in sorted(r.sample(range(1, 50), 6))),
    "rooms and sizes": lambda r: (
        f"{r.choice(['hotel', 'spring'])} {r.randint(1000, 9999)} 1000 2000"
    ),
    "drug codes": lambda r: f"00{r.randint(10, 99)}-{digits(r, 4)}-{digits(r, 2)}",
    "notes with numbers": lambda r: (
        f"phoned twice; given {r.randint(1, 9)} of 10, room {digits(r, 3)}"
    ),
    "amounts": lambda r: f"{r.randint(1, 999)},{digits(r, 3)}.{digits(r, 2)} EUR",
    "amounts with spaces": lambda r: f"{r.randint(1, 9)} {digits(r, 3)} {digits(r, 3)},00",
    "large numbers": lambda r: f"{r.randint(1, 999)} {digits(r, 3)} {digits(r, 3)}",
    "percent": lambda r: f"{r.randint(0, 100)} %",
    "ZIP+4": lambda r: f"{digits(r, 5)}-{digits(r, 4)}",
    "postal codes": lambda r: f"{r.choice('DF')}-{digits(r, 5)}",
    "UK postcodes": lambda r: f"SW{digits(r, 1)}A {digits(r, 1)}AA",
    "towns": lambda r: r.choice(["Paris", "Roma", "Sankt Georgen", "Llanfair"]),
    "roads": lambda r: f"A{r.randint(1, 99)} km {r.randint(1, 500)}",
    "drug codes of 11": lambda r: f"00{r.randint(400, 999)}-{digits(r, 4)}-{digits(r, 2)}",
    "drug codes and tablets": lambda r: f"00{r.randint(400, 999)}-{digits(r, 4)}-{digits(r, 2)} 30",
    "signed numbers": lambda r: f"{r.choice('+-')}{r.randint(1, 10**9)}.{digits(r, 3)}",
    "signed numbers of eight digits": lambda r: f"+1{digits(r, 7)}",
    "ratios and their bounds": lambda r: f"HR {r.uniform(0, 9):.4f}, {r.uniform(0, 9):.4f}",
    "pairs with commas": lambda r: f"{r.uniform(0, 9):.4f}; {r.uniform(0, 9):.4f}".replace(
        ".", ","
    ),
    "teachers": lambda r: f"учитель {r.randint(10**9, 10**10)}, посетитель {digits(r, 10)}",
    "signed amounts": lambda r: f"{r.choice('+-')}{r.randint(1, 10**9)}.{digits(r, 2)}",
    "signed amounts, comma": lambda r: f"{r.choice('+-')}{r.randint(1, 10**9)},{digits(r, 2)}",
    "part numbers": lambda r: f"{digits(r, 3)}-{digits(r, 3)}-{digits(r, 3)}",
    "part numbers with letters": lambda r: f"{letters(r, 2).upper()}{digits(r, 4)}-{digits(r, 2)}",
    "batches": lambda r: f"LOT{digits(r, 6)}{r.choice('ABC')}",
    "hashes": lambda r: "".join(r.choices("0123456789abcdef", k=40)),
    "short hashes": lambda r: "".join(r.choices("0123456789abcdef", k=7)),
    "colours": lambda r: "#" + "".join(r.choices("0123456789ABCDEF", k=6)),
    "files": lambda r: f"scan_{digits(r, 8)}.dcm",
    "paths": lambda r: f"/data/{letters(r, 4)}/{digits(r, 4)}.csv",
    "sizes": lambda r: f"{r.randint(1, 90)}x{r.randint(1, 90)}x{r.randint(1, 90)} mm",
    "scores": lambda r: f"{r.randint(0, 5)}:{r.randint(0, 5)}",
    "genes": lambda r: f"rs{digits(r, 8)}",
    "variants": lambda r: f"NM_{digits(r, 6)}.4:c.{digits(r, 3)}A>G",
    "flags": lambda r: r.choice(["yes", "no", "unknown"]),
    "ratings": lambda r: f"{r.randint(1, 5)} of 5",
    "months": lambda r: f"{r.randint(2015, 2025)}-Q{r.randint(1, 4)}",
    "handles of teams": lambda r: f"team @ level {r.randint(1, 9)}",
    "places": lambda r: f"seen @ St.Mary, ward {r.randint(1, 9)}, at 10.30",
    "prices": lambda r: f"{r.randint(1, 9)} @ {r.randint(1, 99)}.50 EUR",
    "item codes": lambda r: f"{letters(r, 2)}{digits(r, 6)}{letters(r, 1)}",
    "batch numbers": lambda r: f"{digits(r, 8)}{letters(r, 1)}",
    "short ids": lambda r: hexadecimal(r, 16),
    "article numbers": lambda r: f"{digits(r, 4)}.{digits(r, 4)}.{digits(r, 2)}",
    "sections": lambda r: f"{r.randint(1, 9)}.{digits(r, 2)}.{digits(r, 4)}",
    "part numbers in sentences": lambda r: (
        f"replaced {digits(r, 3)}-{digits(r, 3)}-{digits(r, 3)}, no defect"
    ),
    "order numbers in sentences": lambda r: f"order {digits(r, 3)}-{digits(r, 7)}-{digits(r, 7)}",
    "large numbers in sentences": lambda r: (
        f"paid {r.randint(1, 999)} {digits(r, 3)} {digits(r, 3)} in all"
    ),
    "item codes in sentences": lambda r: f"item {letters(r, 2)}{digits(r, 6)}{letters(r, 1)} sent",
    "cards that are none": lambda r: f"order 4{digits(r, 15)} sent",
    "shops": lambda r: f"bought at {r.choice(['amazon.com', 'zalando.de', 'etsy.com'])}",
    "spaces left out": lambda r: (
        f"pain {r.randint(1, 9)} at rest.{r.choice(['denies', 'no'])} fever"
    ),
    "rare numbers of 9": lambda r: digits(r, 9) if r.random() < 0.02 else digits(r, 4),
    "zeros": lambda r: "000000000" if r.random() < 0.1 else f"{r.randint(1, 999)}",
    "cells": lambda r: f"cells {r.randint(10**6, 10**10)} per litre",
    "callings": lambda r: f"calluses {r.randint(10**9, 10**10)}, telomeres {digits(r, 10)}",
    "beds": lambda r: (
        f"on{r.randint(10, 99)} beds with {digits(r, 4)} sheets, at{digits(r, 2)} then"
    ),
}


def kinds(planted: bool) -> dict[str, str | None]:
    """The kind to be found in every column, by its name."""
    if not planted:
        return dict.fromkeys(INNOCENT)
    return {name: kind for name, (kind, _) in PLANTED.items()}


@cache
def columns(planted: bool) -> tuple[tuple[str, str | None, list[str]], ...]:
    """Name, kind to be found, and values of every column."""
    kinds: dict[str, tuple[str | None, Make]] = (
        {**PLANTED} if planted else {name: (None, make) for name, make in INNOCENT.items()}
    )
    return tuple(
        (name, kind, [make(r) for _ in range(ROWS)])
        for number, (name, (kind, make)) in enumerate(kinds.items(), 0 if planted else 1000)
        for r in (random.Random(number),)
    )

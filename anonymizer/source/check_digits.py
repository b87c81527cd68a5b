"""Check digits and lengths that distinguish identifiers from other numbers, as SQL conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anonymizer.compile import lit

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


def _guarded(number: str, length: int, condition: str) -> str:
    """A condition on exactly this many digits; it is not evaluated for other lengths."""
    return f"case when length({number}) = {length} then {condition} else false end"


def weighted(weights: Sequence[int], modulus: int) -> Condition:
    """The sum of digits times weights is a multiple of the modulus, and not zero."""

    def holds(found: str) -> str:
        zeros = lit("0" * len(weights)).text  # (a value for none)
        condition = f"{found} <> {zeros} and {_sum(found, weights)} % {modulus} = 0"
        return _guarded(found, len(weights), condition)

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
    return _guarded(found, 9, f"{sign} = right({found}, 1)")


def french(found: str) -> str:
    """The key of a French NIR: 97 minus the number modulo 97; 2A and 2B count as 19 and 18."""
    text = f"replace(replace({found}, '2A', '19'), '2B', '18')"
    key = f"cast(right({found}, 2) as integer)"
    return _guarded(found, 15, f"97 - {_remainder(f'left({text}, 13)', 13, 97)} = {key}")


def finnish(found: str) -> str:
    """The last character of a Finnish HETU: the nine digits modulo 31."""
    number = f"concat(left({found}, 6), left(right({found}, 4), 3))"
    sign = f"substr('0123456789ABCDEFHJKLMNPRSTUVWXY', cast({number} as integer) % 31 + 1, 1)"
    return f"{sign} = right({found}, 1)"


def belgian(found: str) -> str:
    """97 minus the first nine digits modulo 97; from 2000 on with a leading 2."""
    nine, key = f"cast(left({found}, 9) as bigint)", f"cast(right({found}, 2) as integer)"
    return _guarded(found, 11, f"{key} in (97 - {nine} % 97, 97 - (2000000000 + {nine}) % 97)")


def brazilian(found: str) -> str:
    """Two check digits modulo 11, with 10 written as 0; not eleven equal digits."""
    signs = [
        f"{_sum(found, range(first, 1, -1))} * 10 % 11 % 10"
        f" = cast(substr({found}, {first}, 1) as integer)"
        for first in (10, 11)
    ]
    different = f"{found} <> repeat(left({found}, 1), 11)"
    return _guarded(found, 11, " and ".join((different, *signs)))


def chinese(found: str) -> str:
    """ISO 7064, MOD 11-2, with 10 written as X."""
    weights = [pow(2, 17 - place, 11) for place in range(17)]
    sign = f"substr('10X98765432', {_sum(found, weights)} % 11 + 1, 1)"
    return _guarded(found, 18, f"{sign} = right({found}, 1)")


def octets(found: str) -> str:
    """An octet of 64 or more, which version numbers seldom have."""
    return f"regexp_matches({found}, '(6[4-9]|[7-9][0-9]|[12][0-9][0-9])')"


def lettered(found: str) -> str:
    """Six pairs with a letter: those of digits alone may be numbers of anything."""
    return f"regexp_matches({found}, '[A-F]')"


def telephone(found: str) -> str:
    """A number of digits that E.164 allows."""
    return f"length({found}) between 8 and 15"


def dialled(found: str) -> str:
    """A telephone number with two leading zeros; part numbers and drug codes are shorter."""
    return f"length({found}) between 11 and 15"

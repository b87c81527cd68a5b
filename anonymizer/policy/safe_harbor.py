"""Safe Harbor, 45 CFR 164.514(b)(2): the eighteen identifiers, and how they may be published."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, get_args

from anonymizer.policy.columns import Column
from anonymizer.policy.paths import words
from anonymizer.policy.values import HarborKind

KINDS: tuple[HarborKind, ...] = get_args(HarborKind)
LETTERS: Mapping[str, tuple[str, tuple[HarborKind, ...]]] = {
    "A": ("names", ("names",)),
    "B": ("geographic subdivisions smaller than a state", ("geography",)),
    "C": ("elements of dates, except the year, and ages over 89", ("dates", "birth", "ages")),
    "D": ("telephone numbers", ("telephone",)),
    "E": ("fax numbers", ("fax",)),
    "F": ("mail addresses", ("mail",)),
    "G": ("social security numbers", ("ssn",)),
    "H": ("medical record numbers", ("medical_record",)),
    "I": ("health plan beneficiary numbers", ("health_plan",)),
    "J": ("account numbers", ("account",)),
    "K": ("certificate and license numbers", ("licence",)),
    "L": ("vehicle identifiers and serial numbers, license plates", ("vehicle",)),
    "M": ("device identifiers and serial numbers", ("device",)),
    "N": ("web addresses (URLs)", ("url",)),
    "O": ("IP addresses", ("ip",)),
    "P": ("biometric identifiers, finger and voice prints", ("biometric",)),
    "Q": ("full-face photographs and comparable images", ("photograph",)),
    "R": ("any other unique identifying number, characteristic or code", ("other",)),
}
"""The identifiers in the order of (b)(2)(i), and the kinds of columns that contain them."""
COARSE: tuple[HarborKind, ...] = ("geography", "dates", "birth", "ages")
"""Kinds that may be published in part."""
LETTER_OF: Mapping[str | None, str] = {
    kind: letter for letter, (_, kinds) in LETTERS.items() for kind in kinds
}

PRESET = "safe_harbor"
OLDEST = 90
"""The lowest age of the single category of all ages above 89."""
YEARS = (1800, 2200)
"""Range of whole numbers that are years."""
NO_AREA = "000"
"""Published for areas with 20,000 people or fewer."""
FEW = 20_000
_FEW = "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893"
RESTRICTED = tuple(_FEW.split())
"""The areas with 20,000 people or fewer, by the Census of 2000: Office for Civil Rights (HHS),
Guidance Regarding Methods for De-identification of Protected Health Information (2012)."""
CENSUS, GIVEN = "census 2000", "given"
"""The source of the populations: the guidance, or a file of the policy."""
ZIP3 = re.compile(r"[0-9]{3}\Z")
UNPUBLISHED = ("identifier", "drop")
EMPTIED = ("null", "constant")
"""Roles that publish nothing of a value."""


def applies(policy: Any) -> bool:
    """Return whether a policy asks for Safe Harbor."""
    return bool(policy.preset == PRESET)


def shows(column: Column) -> bool:
    """Return whether anything of a column's values is published."""
    return column.role not in (*UNPUBLISHED, *EMPTIED)


def earliest(year: int) -> int:
    """The earliest published year of birth in a release made in `year`.

    Persons born later are at most 89 in all of that year; those born earlier are one category.
    """
    return year - OLDEST


def _set(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_KEYS = _set("id key number no nr num code ref reference serial identifier")
_SAID: Mapping[HarborKind, frozenset[str]] = {
    "names": _set(
        "firstname lastname forename surname fullname maiden nickname initials vorname nachname"
        " lastnm firstnm patientnm ptnm"
    ),
    "geography": _set(
        "address addr street city town village county zip zipcode postcode postal plz precinct"
        " latitude longitude geocode coordinates neighborhood neighbourhood parish municipality"
        " strasse fips tract zcta cbsa borough wohnort lat lon lng"
    ),
    "birth": _set(
        "dob birthday birthdate birthyear yob dateofbirth yearofbirth born"
        " birthdt geburtsdatum geburtstag geburtsjahr"
    ),
    "ages": _set("age ages alter lebensalter"),
    "dates": _set("date dates datetime timestamp dt dttm datum dod"),
    "telephone": _set("phone telephone tel mobile telefon cellphone"),
    "fax": _set("fax telefax"),
    "mail": _set("mail email"),
    "ssn": _set("ssn socialsecurity nino"),
    "medical_record": _set(
        "mrn medicalrecord healthrecord hospitalnumber hospitalno"
        " medicalrec chartno chartnumber chartid"
    ),
    "health_plan": _set(
        "healthplan healthcard hicn mbi policyholder hicno hicnum"
        " medicareid medicareno medicarenumber medicaidid medicaidno medicaidnumber mbrid"
    ),
    "account": _set("iban acct"),
    "vehicle": _set("vin plate licenseplate licenceplate numberplate"),
    "device": _set("serial imei udi"),
    "url": _set("url website homepage"),
    "biometric": _set("biometric biometrics fingerprint fingerprints voiceprint retina faceprint"),
    "photograph": _set("photo photos photograph photographs portrait selfie avatar"),
    "other": _set(
        "passport nationalid uuid guid token signature login username"
        " encounterid encounterno claimid claimno claimnumber accessionno accessionnumber"
    ),
}
"""Words (or pairs of adjacent words) that indicate the content of a column."""
_NUMBERED: Mapping[str, HarborKind] = {
    **dict.fromkeys(("insurance", "plan", "policy", "member", "subscriber"), "health_plan"),
    **dict.fromkeys(("beneficiary", "insured", "enrollee"), "health_plan"),
    "account": "account",
    "card": "account",
    **dict.fromkeys(("license", "licence", "certificate"), "licence"),
    "vehicle": "vehicle",
    "device": "device",
    "implant": "device",
    **dict.fromkeys(("patient", "person", "subject", "customer", "user", "client"), "other"),
    **dict.fromkeys(("pat", "cust", "subj", "participant", "employee", "household"), "other"),
}
"""Words that do so alone, or next to a word for a number: `device_id`, but not `device_type`."""
_CALENDAR = _set("day month year week quarter weekday")
_THINGS = _set(
    "drug medication medicine test lab diagnosis disease procedure operation product item article"
    " state country region department ward unit clinic hospital study file column table code"
    " event category group class type status variable measure"
)
"""Things with names that are not persons."""
NOTES = _set("note notes comment comments remark remarks narrative memo freetext")


def named_kinds(name: str) -> tuple[HarborKind, ...]:
    """The identifiers that the name of a column indicates."""
    found = words(name)
    told = {*found, *("".join(two) for two in pairwise(found)), "".join(found)}
    kinds: dict[HarborKind, None] = {
        k: None for k, said in _SAID.items() if not said.isdisjoint(told)
    }
    if not {"name", "names"}.isdisjoint(found) and _THINGS.isdisjoint(found):
        kinds["names"] = None
    if "birth" in found and (
        len(found) == 1 or not {"date", "day", "year", "month"}.isdisjoint(found)
    ):
        kinds["birth"] = None
    if found and found[-1] in _CALENDAR:
        kinds["dates"] = None
    if found and (found[-1] == "ip" or "ipaddress" in told):
        kinds["ip"] = None
    alone, numbered = len(found) == 1, not _KEYS.isdisjoint(found)
    for word in found:
        if word in _NUMBERED and (alone or numbered):
            kinds[_NUMBERED[word]] = None
    if found == ["id"]:
        kinds["other"] = None
    return tuple(kinds)


def named_notes(name: str) -> bool:
    """Return whether a column is named like free text."""
    found = words(name)
    return not NOTES.isdisjoint({*found, "".join(found)})


def kind_of_column(name: str, column: Column) -> HarborKind | None:
    """The content of a column: as stated, or, if it is not published, as its name indicates."""
    if column.safe_harbor is not None or column.role not in UNPUBLISHED:
        return column.safe_harbor
    return next(iter(named_kinds(name)), None)


def stated(policy: Any) -> list[dict[str, Any]]:
    """The eighteen identifiers, each with its columns and how they are treated."""
    columns: Mapping[str, Column] = policy.columns
    kinds = {name: kind_of_column(name, column) for name, column in columns.items()}
    absent = "not in the table" if None not in kinds.values() else "not published"
    listed = []
    for letter, (identifier, of) in LETTERS.items():
        held = [
            {"column": name, "done": done(columns[name], kind)}
            for name, kind in kinds.items()
            if kind in of
        ]
        made = {"letter": letter, "identifier": identifier, "columns": held}
        listed.append(made if held else {**made, "done": absent})
    return listed


def done(column: Column, kind: str) -> str:
    """Describe what is published of a column."""
    if column.role in UNPUBLISHED:
        return "not published"
    if column.role == "null":
        return "no value"
    if column.role == "constant":
        return "one value for all"
    masks = dict(column.masks)
    if kind == "geography":
        populations = "a file of the policy" if column.population else "the Census of 2000"
        return f"first three digits of the ZIP code, {NO_AREA} where few live (by {populations})"
    if kind == "ages":
        return f"{getattr(masks['top_code'], 'at', '')} and older as one"
    if "bottom_code" in masks:
        at = str(getattr(masks["bottom_code"], "at", ""))[:4]
        return f"year only, {at} and earlier as one"
    return "year only"

"""Words in column names that say what a column is likely to hold."""

from __future__ import annotations

import re
from itertools import pairwise


def _set(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


IDENTIFIER = _set(
    "name firstname lastname forename surname fullname maiden email mail phone telephone mobile fax"
    " ssn passport iban account address street ip url website user username login nickname mrn nhs"
    " license licence plate insurance uuid guid token signature photo fingerprint device serial"
    " vorname nachname strasse telefon nino"
)
PERSON = _set(
    "person patient customer user member client employee subject household student citizen pid"
    " individual respondent donor donator voter tenant insured policyholder subscriber beneficiary"
    " enrollee"
)
SHORT = _set("pat cust emp mbr subj usr insd")
"""Words for a person that stand for one only beside a word of KEY: `pat_id`."""
NUMBERS = _set(
    "mrn nhs ssn nino passport email mail username login nickname medicalrecord socialsecurity"
    " nationalid healthcard hospitalnumber hospitalno"
)
"""What one person has for themselves, as one word or as two: `medical_record`."""
NAMES = _set("firstname lastname forename surname fullname maiden vorname nachname")
"""Names of people, whatever else the name of the column says."""
OTHERS = _set(
    "doctor physician clinician surgeon nurse provider prescriber hospital clinic ward room bed"
    " unit site store shop branch product item article drug test station vehicle"
)
"""What is numbered in a table on persons and is none of them."""
HIDING = _set("hide hides hidden mask masked show shown redact redacted suppress suppressed")
KEY = _set("id key number no nr num code pk rowid ref reference index")
QUASI = _set(
    "age birth birthday birthdate born dob yob sex gender race ethnicity ethnic"
    " zip zipcode postcode postal plz city town county district state province"
    " region country nationality citizenship"
    " marital married education degree school profession job workclass occupation employer"
    " language religion height weight admission admitted discharge arrival visit date year month"
    " relationship family children veteran industry sector department position title"
)
SENSITIVE = _set(
    "disease diagnosis diagnoses icd condition illness symptom treatment medication drug therapy"
    " procedure hiv aids cancer allergy salary wage income earnings pay payment credit debt loan"
    " balance fine political party vote orientation crime offense offence conviction grade score"
    " result disability union benefit welfare mental pregnancy abortion insulin dose lab finding"
    " complaint outcome"
)
POSTAL = _set("zip zipcode postcode postal plz")
_JOINED = frozenset(who + what for who in PERSON | SHORT | NUMBERS for what in (*KEY, *NUMBERS))
"""`patientid` and the like, which have no mark between their words."""


def words(name: str) -> list[str]:
    """The words of a name: `patientId`, `patient_id` and `PATIENT-ID` have the same."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return [word for word in re.split(r"[^a-z]+", spaced.lower()) if word]


def names_person(name: str) -> bool:
    """Whether a column is named like one that tells persons apart: `patient_id`, `mrn`, `user`.

    The word has to come last or to be numbered: `patient_sex` and `customer_segment` tell nobody
    apart, nor does `patient_visit_no`, which numbers visits.
    """
    found = words(name)
    pairs = {"".join(two) for two in pairwise(found)}
    whole = "".join(found)
    if NUMBERS & {*found, *pairs} or whole in NUMBERS or whole in _JOINED:
        return True
    if len(found) > 1 and found[-2] in PERSON | SHORT and found[-1] in KEY:
        return True
    if not found or not (QUASI | SENSITIVE | OTHERS).isdisjoint(found):
        return False
    numbered = any(word in KEY for word in found)
    return found[-1] in PERSON or (numbered and any(word in PERSON | SHORT for word in found))


def names_people(name: str) -> bool:
    """Whether a column is named like one of people's names, however few they are."""
    found = words(name)
    named = "".join(found) == "name" or ("name" in found and not PERSON.isdisjoint(found))
    return named or says(name, NAMES | NUMBERS)


def says(name: str, meanings: frozenset[str]) -> bool:
    """Whether a word of `name`, or all of it together, is one of `meanings`."""
    found = words(name)
    return any(word in meanings for word in found) or "".join(found) in meanings

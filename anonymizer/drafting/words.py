"""Words in column names that say what a column is likely to hold."""

from __future__ import annotations

import re


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
    " individual respondent donor donator voter tenant"
)
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


def words(name: str) -> list[str]:
    """The words of a name: `patientId`, `patient_id` and `PATIENT-ID` have the same."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return [word for word in re.split(r"[^a-z]+", spaced.lower()) if word]


def says(name: str, meanings: frozenset[str]) -> bool:
    """Whether a word of `name`, or all of it together, is one of `meanings`."""
    found = words(name)
    return any(word in meanings for word in found) or "".join(found) in meanings

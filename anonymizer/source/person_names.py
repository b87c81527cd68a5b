"""Whether a column is named like names of persons, in some twenty languages."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from anonymizer.policy.words import words
from anonymizer.source.column_names import (
    JOBS,
    KIN,
    NAMES,
    PERSON,
    RELATED,
    SHORT,
    SITES,
    says,
    word_set,
)

NAME = word_set(
    "name names nom noms nome nomes nomi nombre nombres naam namen namn navn nimi imie isim adi"
    " jmeno meno nev nume"
)
"""The word for a name in several languages; it may be that of a thing."""
NAMED = ("name", "names", "naam", "namn", "navn")
"""Those that end a word: `patientname`, `Kundenname`."""
LONG_NAMES = tuple(name for name in NAMES if len(name) > 6)
"""The same at the end of a word: `spousefirstname`."""
WHOLE = word_set("fullname realname legalname displayname adsoyad adisoyadi")
"""Names of one person, as far as names go."""
PART = word_set(
    "first middle last given family full maiden birth sur second nick real legal preferred other"
    " former previous alias known display"
    " famille naissance usage jeune fille pila paterno materno completo completa completo social"
    " rodowe panienskie panienska efter for fore"
)
"""Words that say which part of a name, or which name of a person, a column holds."""
ALONE = word_set("first last middle mid given initial init nick alias nm ad")
"""Words that mean a name where no word but those for its bearer stands beside them: `LAST`."""
OTHER_LETTERS = word_set(
    "имя фамилия отчество фио ім'я прізвище όνομα επώνυμο ονοματεπώνυμο име презиме"
    " 姓名 名字 姓 名 氏名 名前 이름 성명 성 الاسم اسم שם"
)
"""Names of columns with names, in letters that `words` leaves out."""
BEARERS = (
    PERSON
    | RELATED
    | KIN
    | SHORT
    | word_set(
        "contact owner holder player athlete author artist doctor physician clinician surgeon nurse"
        " provider prescriber teacher student instructor officer agent actor candidate applicant"
        " suspect victim offender witness defendant judge staff worker resident passenger driver"
        " guest borrower buyer seller sender recipient payee signer deceased emergency nok"
        " patientin kunde kundin kunden mitarbeiter versicherter klient arzt"
        " assure salarie medecin eleve paciente cliente empleado empleada medico alumno alumna"
        " funcionario aluno paziente dipendente klant medewerker arts pacjent"
        " pacjenta klienta pracownik pracownika lekarz patientens kundens anstalld hasta"
        " musteri calisan personel doktor ogrenci"
    )
)
"""Those who bear a name: `nom_patient`, `doctor_name`, `hasta_adi`."""


@cache
def _joined_names() -> frozenset[str]:
    """`patientname`, `Kundenname`, `mothersname`, without a separator between the words."""
    whose = BEARERS | PART
    return frozenset(f"{who}{by}{word}" for who in whose for by in ("", "s", "n") for word in NAMED)


def names_people(name: str) -> bool:
    """Whether a text column is named like a name of persons, however few values it has: `surname`,
    `first`, `nom_de_famille`, `mother_name`; not `drug_name`, `nom_commune` or `first_visit`.
    """
    found = words(name)
    joined = {*found, *("".join(two) for two in pairwise(found)), "".join(found)}
    if joined & (NAMES | _joined_names()) or any(word.endswith(LONG_NAMES) for word in joined):
        return True
    if OTHER_LETTERS.intersection(re.findall(r"[\w']+", name.casefold())):
        return True
    if NAME.intersection(found):
        whose = (BEARERS | PART).intersection(found)
        return len(found) == 1 or bool(whose and not (SITES | JOBS).intersection(found))
    left = {word for word in found if word not in BEARERS}
    return bool(left) and left <= ALONE


def names_bearers(name: str) -> bool:
    """Whether the name of a column says nothing but who a person is: `spouse`, `co_borrower`."""
    found = set(words(name)) - {"co", "of", "next", "primary", "attending", "referring"}
    return bool(found) and found <= BEARERS


def names_part(name: str) -> bool:
    """Whether a column is named like a part of a name, which many persons share: `first_name`."""
    found = words(name)
    return (
        names_people(name)
        and not says(name, WHOLE)
        and not NAME.issuperset(word for word in found if word not in BEARERS)
    )

"""Words in column names that suggest the content of a column, or several rows per person."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from anonymizer.policy.paths import words
from anonymizer.source.profile import kind_of

# Words in column names that suggest the content of a column.


def word_set(listed: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(listed.split())


IDENTIFIER = word_set(
    "name firstname lastname forename surname fullname maiden email mail phone telephone mobile fax"
    " ssn passport iban account address street ip url website user username login nickname mrn nhs"
    " license licence plate insurance uuid guid token signature photo fingerprint device serial"
    " vorname nachname strasse telefon nino"
)
PERSON = word_set(
    "person patient customer user member client employee subject household student citizen pid"
    " individual respondent donor donator voter tenant insured policyholder subscriber beneficiary"
    " enrollee"
)
RELATED = word_set(
    "manager supervisor superior boss leader mentor parent mother father guardian spouse husband"
    " wife partner sibling referrer sponsor approver reviewer assignee caregiver carer relative kin"
)
"""Words for another person than the one whose row it is, next to a word of KEY: `manager_id`."""
SHORT = word_set(
    "pat cust emp mbr subj usr insd"
    # German (as in Patientennummer, Kunden-Nr.), French, Spanish, Italian, Dutch
    " patienten kunden mitarbeiter personal personen versicherten versicherungs matrikel schuler"
    " studenten mitglieds klienten burger beschaftigten client salarie assure eleve etudiant"
    " adherent paciente cliente empleado alumno afiliado paziente dipendente assistito klant"
    " medewerker verzekerde persoons"
)
"""Words for a person, but only next to a word of KEY: `pat_id`."""
NUMBERS = word_set(
    "mrn nhs ssn nino passport email mail username login nickname medicalrecord socialsecurity"
    " nationalid healthcard hospitalnumber hospitalno"
)
"""Things that belong to one person, written as one word or two: `medical_record`."""
NAMES = word_set(
    "firstname middlename lastname givenname familyname forename forenames surname surnames"
    " fullname maiden maidenname nickname birthname realname legalname preferredname spousename"
    " mothername fathername fname mname lname gname firstnm lastnm fullnm initials"
    # German, Dutch
    " vorname vornamen nachname nachnamen familienname zuname rufname geburtsname madchenname"
    " maedchenname spitzname voornaam voornamen achternaam familienaam tussenvoegsel roepnaam"
    " meisjesnaam geboortenaam bijnaam"
    # French, Spanish, Portuguese, Italian
    " prenom prenoms patronyme surnom apellido apellidos apellidouno apellidodos sobrenome"
    " sobrenomes apelido apelidos cognome cognomi soprannome"
    # Polish, Czech, Slovak
    " imiona nazwisko nazwiska prijmeni krestni priezvisko"
    # Swedish, Norwegian, Danish, Finnish
    " fornamn efternamn mellannamn flicknamn smeknamn tilltalsnamn fornavn etternavn efternavn"
    " mellomnavn mellemnavn etunimi sukunimi kutsumanimi"
    # Turkish, Hungarian, Romanian, Croatian
    " soyad soyadi soyisim adsoyad adisoyadi kizlik vezeteknev keresztnev csaladnev utonev prenume"
    " prezime ime"
    # Russian, in Latin letters
    " imya familiya otchestvo"
)
"""Names of persons, whatever the rest of the column's name."""
KIN = word_set(
    "wife husband spouse partner child children kid kids family sibling siblings dependent"
    " dependents mother father parent guardian kin relative brother sister son daughter"
    " mutter vater ehepartner ehefrau ehemann kind kinder mere pere conjoint epoux epouse enfant"
    " madre padre conyuge esposo esposa hijo hija mae pai conjuge marido mulher filho filha"
    " coniuge moglie marito figlio figlia moeder echtgenoot echtgenote matka ojciec"
    " maz zona malzonek mor far mamma pappa make maka anne baba esi cocuk"
)
"""Relatives: with few values how many or what kind there are, with many values their names."""
WHO = NAMES | word_set(
    "name names nom nome nombre naam namn navn nimi imie isim displayname"
    " email emails mail emailaddress mailaddress phone telephone tel mobile"
    " mobilephone cellphone fax phonenumber phoneno telephonenumber telephoneno mobilenumber"
    " faxnumber telefon handy ssn socialsecurity socialsecuritynumber socialsecurityno"
    " passport passportnumber passportno nationalid nationalidnumber nino nhsnumber nhsno mrn"
    " medicalrecordnumber healthcardnumber taxid driverlicense driverlicence driverslicense"
    " driverlicensenumber iban accountnumber creditcard creditcardnumber cardnumber address"
    " streetaddress postaladdress username login nickname"
)
"""Names of columns that identify persons, as a whole."""
WHOSE = word_set("home private personal contact primary work")
"""Words before one of WHO that do not change its meaning."""
OTHERS = word_set(
    "doctor physician clinician surgeon nurse provider prescriber hospital clinic ward room bed"
    " unit site store shop branch product item article drug test station vehicle"
)
"""Things other than persons that may be numbered in a table about persons."""
GROUPS = word_set("household family group")
"""Groups of several persons."""
JOBS = word_set(
    "profession job work workclass employer occupation occ industry industri sector department"
    " position title role function designation rank grade team agency beruf tatigkeit abteilung"
    " metier emploi fonction service profesion ocupacion puesto cargo profissao ocupacao"
    " professione mestiere beroep functie afdeling zawod stanowisko yrke befattning meslek gorev"
)
"""Jobs, and where people work."""
INDIVIDUAL = word_set(
    "age birth birthday birthdate birthyear born dob yob sex gender race ethnicity ethnic hispanic"
    " marital married nationality citizenship religion education"
)
"""Attributes of one person, not of a group, place or event."""
NOMINAL = word_set(
    "sex gender race racial ethnicity ethnic hispanic ancestry marital nationality citizenship"
    " religion language country state region county district occupation occ industry workclass"
    " relationship geschlecht familienstand staatsangehorigkeit nationalitat bundesland beruf sexe"
    " sexo sesso geslacht nationalite nacionalidad beroep"
)
"""Attributes whose numbers are codes: between 1 (married) and 5 (single) lies nothing."""
HIDING = word_set("hide hides hidden mask masked show shown redact redacted suppress suppressed")
KEY = word_set(
    "id key number no nr nbr num code pk rowid ref reference index nummer kennung kennziffer numero"
    " matricule codice codigo"
)
QUASI = word_set(
    "age birth birthday birthdate born dob yob sex gender female male race ethnicity ethnic"
    " black white asian hispanic latino origin ancestry birthplace birthcountry native immigrant"
    " abroad zip zipcode postcode postal plz city town village county district state province"
    " municipality region country nationality citizenship citizen msa smsa puma south north"
    " urban rural migration moved residence house housing site center centre popul population"
    " marital married maried single divorced widowed spouse husband wife children child kids kid"
    " dependents family relationship sibling siblings education educ edu edlevel ed degree"
    " school schooling college university study enrolled enrollment grade class profession job"
    " work worked working worker workclass workplace outwork employer employed employment"
    " occupation occ bluecol industry industri sector department position title experience"
    " commute commuting hours weeks wks shift language height weight admitted admission"
    " discharge arrival visit date year years yrs month veteran veterans military army religion"
    # German, French, Spanish, Italian, Dutch
    " alter geburtsdatum geburtsjahr geburtstag geburtsort geschlecht wohnort ort gemeinde kreis"
    " bundesland land beruf familienstand staatsangehorigkeit nationalitat groesse grosse gewicht"
    " naissance sexe ville departement nationalite nacimiento edad sexo ciudad provincia pais"
    " profesion nacionalidad nascita sesso citta professione geboortedatum leeftijd geslacht"
    " woonplaats beroep"
)
FLAGS = word_set(
    "female male black white asian hispanic latino married maried single divorced widowed"
    " employed veteran citizen immigrant native south north urban rural moved bluecol children"
    " kids"
)
"""Words of QUASI that may name a flag; a flag named `age` is not an age."""
SENSITIVE = word_set(
    "disease diagnosis diagnoses diag dx icd condition illness comorbidity symptom symptoms"
    " sick treatment treat treated trt rx medication medicine drug drugs therapy procedure"
    " surgery surg operation hiv aids cancer tumor tumour allergy disability disabled handicap"
    " impairment health hlth healthy medical clinical medicaid medicare mental depression"
    " anxiety stress pregnancy pregnant abortion contraception insulin dose lab finding"
    " complaint biopsy stage ecog relapse recurrence infection death died dead suicide"
    " doctorvisits visits docvis hospvis hosp hospitalized hospitalizations emr adl chronic"
    " smoke smoking smoker smokes cigarettes alcohol drinking bmi bp systolic diastolic"
    " cholesterol chol hdl ldl triglycerides trig glucose bilirubin bili albumin copper platelet"
    " platelets creatinine hemoglobin hgb ast alt alk phos protime sodium potassium ascites"
    " hepato hepatomegaly spiders edema steroid steroids antibiotics gene genetic genotype"
    " mutation inherit inheritance hereditary salary wage wages lwage income earnings earned pay"
    " payment credit debt loan mortgage balance fine poverty poor tax taxes dividend dividends"
    " gain gains loss losses capital asset assets wealth savings revenue spending expenses"
    " benefit benefits welfare pension unemployment unemployed layoff political politics party"
    " vote votes voted voting ideology conservative liberal union orientation opinion attitude"
    " trust satisfaction happiness happy religious religiosity belief crime offense offence"
    " conviction convicted arrest arrests arrested prison prior victim affair affairs deny"
    " denied default abuse violence score iq result outcome rating rate rated"
    # German, French, Spanish, Italian, Dutch
    " befund behandlung medikament medikamente gehalt lohn schulden maladie traitement medicament"
    " salaire revenu enfermedad tratamiento medicamento salario malattia terapia farmaco stipendio"
    " reddito ziekte behandeling medicijn salaris"
)
EVENT = word_set(
    "status event events enum start stop tstart tstop begin end time futime duration survival"
    " followup outcome censored censor failure success response"
)
"""Events and times relative to a start: findings of a study, unless the name says more."""
MEASURED = word_set("weight wt wgt pweight fnlwgt")
SAMPLED = word_set(
    "person instance sample sampling survey final replicate design household population probability"
)
"""Beside a word of MEASURED: how many persons a row of a sample stands for, and no body weight."""
ENDINGS = (
    *("income", "inc", "wage", "salary", "vis", "visits", "score"),
    *("diagnose", "diagnosen", "krankheit", "erkrankung", "gehalt", "einkommen", "inkomen"),
)
BEGINNINGS = (
    "diagno",
    "krank",
    "chron",
    "numchron",
    "adl",
    "diab",
    "cardi",
    "depress",
    "psych",
    "symptom",
    "therap",
)
POSTAL = word_set("zip zipcode postcode postal plz")
PLACES = POSTAL | word_set(
    "address street city town village county district state province municipality region country"
)
SITES = PLACES | word_set(
    "location place area zone territory borough neighborhood neighbourhood suburb precinct ward"
    " parish community hometown birthplace birthcountry residence nation continent nationality"
    " citizenship origin ancestry destination station airport port embarked site center centre"
    " campus branch office facility hospital clinic school college university noc msa puma"
    " geburtsort wohnort ort stadt gemeinde kreis bundesland land landkreis staatsangehorigkeit"
    " nationalitat ville commune departement pays lieu nationalite ciudad municipio provincia pais"
    " localidad poblacion barrio nacionalidad cidade municipio estado freguesia bairro"
    " nacionalidade citta comune regione paese luogo cittadinanza plaats woonplaats gemeente"
    " provincie miasto miejscowosc gmina powiat wojewodztwo kraj stad ort kommun lan sehir il ilce"
    " mahalle ulke"
)
"""Places of any kind."""
LATITUDE = word_set("lat latitude")
LONGITUDE = word_set("lon lng long longitude")
DONE = word_set(
    "treatment treat treated rx medication medicine drug drugs therapy procedure procedures surgery"
    " surg operation operations lab test vaccine vaccination contraception insulin"
)
"""Words for actions on a person in an event, which others may know: partly words of SENSITIVE."""
GRADED = word_set("grade class")
"""Of a school, or, next to findings, of a tumor."""
_JOINED = frozenset(who + what for who in PERSON | SHORT | NUMBERS for what in (*KEY, *NUMBERS))
"""`patientid` and the like, without a separator between the words."""

NUMBERED = KEY | frozenset(who + what for who in PERSON | SHORT for what in KEY)
"""Numbers of rows: `id`, `fall_nr`, `kundennummer`."""

_RELATED = frozenset(who + what for who in RELATED for what in KEY)


def names_person(name: str) -> bool:
    """Return whether a column is named like a person key: `patient_id`, `mrn`, `user`.

    The word has to be last or numbered: `patient_sex` and `customer_segment` identify nobody, nor
    does `patient_visit_no`, which numbers visits.
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


def names_related(name: str) -> bool:
    """True if a column is named like the key of another person: `manager_id`, `mother_no`."""
    found = words(name)
    return "".join(found[-2:]) in _RELATED or found == ["reports", "to"]


def names_identifier(name: str) -> bool:
    """True if the whole name of a column indicates an identifier: `ssn`, `e_mail`, `patient_name`;
    not `drug_name`, `email_opened` or `phone_type`.
    """
    found = words(name)
    while len(found) > 1 and found[0] in PERSON | SHORT | WHOSE:
        found = found[1:]
    return "".join(found) in WHO


def familiar(name: str) -> bool:
    """True if a column is named like a place, a job, a date or the like, and not like a relative:
    what many persons share, however many values there are.
    """
    return says(name, (QUASI | SITES | JOBS) - KIN)


def says(name: str, meanings: frozenset[str]) -> bool:
    """Return whether a word of `name`, or the whole name, is one of `meanings`."""
    found = words(name)
    return any(word in meanings for word in found) or "".join(found) in meanings


def sensitive(name: str) -> bool:
    """Return whether a word of the name, or its prefix or suffix, suggests health or money."""
    long = [word for word in words(name) if len(word) > 4]
    begins = any(word.startswith(BEGINNINGS) for word in long)
    return says(name, SENSITIVE) or begins or any(word.endswith(ENDINGS) for word in long)


def coordinate(name: str) -> str | None:
    """`latitude` or `longitude`, if a column is named like one."""
    if says(name, LATITUDE):
        return "latitude"
    return "longitude" if says(name, LONGITUDE) else None


def weighs_a_sample(name: str) -> bool:
    """Return whether a column is named like the weights of a survey: `person_weight`, `fnlwgt`."""
    found = words(name)
    weight = not MEASURED.isdisjoint(found)
    return weight and (not SAMPLED.isdisjoint(found) or not {"fnlwgt", "pweight"}.isdisjoint(found))


# Detects columns whose counts look like those of persons with several rows each.


CATEGORY = 2
"""Up to this number, values are categories, whatever the column's name."""
MOST_ROWS = 50
"""Average rows per value up to which values may be persons."""
MANY = 100
"""From this number of values on, a column named like a person key counts at any number of rows."""
A_FEW = 10
"""Up to this many values, a text is a category, however few rows there are."""
UNFAMILIAR = 1 / 20
"""Values per row above which a text is no category: it may be names, or what tells them."""
NEARLY_UNIQUE = 0.9
"""Values per row above which a column without such a name repeats by chance."""

EXACT_UP_TO = {"DOUBLE": 10**15, "FLOAT": 2**24}
"""The numbers up to which types keep every digit."""


def countable(sql_type: str) -> bool:
    """Return whether values of the type may be person numbers: not measurements, dates or flags."""
    measure = sql_type in ("BOOLEAN", "FLOAT", "DOUBLE", "TIME") or fractional(sql_type)
    return not measure and kind_of(sql_type) in ("numeric", "categorical")


def fractional(sql_type: str) -> bool:
    """Return whether numbers of the type may have decimals, so that they are measurements."""
    decimals = sql_type.startswith("DECIMAL(") and not sql_type.endswith(",0)")
    return sql_type in ("FLOAT", "DOUBLE") or decimals


def repeats_like_persons(name: str, different: int, known: int) -> bool:
    """Return whether `different` values in `known` rows may be persons with several rows each."""
    if not CATEGORY < different < known:
        return False
    few_rows = known <= different * MOST_ROWS
    if names_person(name):
        return few_rows or different >= MANY
    return few_rows and different <= known * NEARLY_UNIQUE


# Whether a column is named like names of persons, in some twenty languages.


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
    """True if a text column is named like a name of persons, however few values it has: `surname`,
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
    """True if the name of a column says nothing but who a person is: `spouse`, `co_borrower`."""
    found = set(words(name)) - {"co", "of", "next", "primary", "attending", "referring"}
    return bool(found) and found <= BEARERS


def names_part(name: str) -> bool:
    """True if a column is named like a part of a name, which many persons share: `first_name`."""
    found = words(name)
    return (
        names_people(name)
        and not says(name, WHOLE)
        and not NAME.issuperset(word for word in found if word not in BEARERS)
    )

"""Tables with the shape of public ones: names, types, codes, numbers of values, dependencies.

Everything follows from the row's number and the seed,
    so that every machine makes the same table. No
row is taken from the original.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

MACROS = """
create or replace temp macro u(i, salt) as
    (md5_number_lower(concat_ws(':', {seed}, i, salt)) % 1000003) / 1000003.0;
create or replace temp macro pick(i, salt, options) as
    options[1 + cast(floor(u(i, salt) * len(options)) as integer)];
create or replace temp macro skewed(i, salt, most, power) as
    cast(floor(pow(u(i, salt), power) * (most + 1)) as integer);
create or replace temp macro bell(i, salt) as
    (u(i, salt || 'a') + u(i, salt || 'b') + u(i, salt || 'c') + u(i, salt || 'd') - 2) * 1.7;
create or replace temp macro between_ends(x, least, most) as greatest(least, least(most, x));
"""
# a scale from 1 to 6, pulled up or down by one trait of the person, with a few answers missing
ANSWER = (
    "case when u(i, '{name}-') >= 0.008 then cast(between_ends(round({mean} + {pull}"
    " * bell(i, 'trait{trait}') + 1.1 * bell(i, '{name}')), 1, 6) as double) end as \"{name}\""
)
MEANS = {"A": (2.4, 4.8, 4.6), "C": (4.5, 4.4, 3), "E": (3, 3.1, 4), "N": (2.9, 3.5, 3.2)}


def _answers() -> str:
    columns = []
    for letter in "ACENO":
        means = MEANS.get(letter, (4.8, 2.7, 4.4))
        for number in range(5):
            mean = means[number % len(means)]
            pull = 0.8 if mean > 3.5 else -0.8
            columns.append(
                ANSWER.format(name=f"{letter}{number + 1}", mean=mean, pull=pull, trait=letter)
            )
    return ",\n    ".join(columns)


FAIR = """
select
    cast(pick(i, 'rate', [1, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5,
        5]) as double)
        as rate_marriage,
    [17.5, 22.0, 27.0, 32.0, 37.0, 42.0][a]::double as age,
    [0.5, 2.5, 6.0, 9.0, 13.0, 16.5, 23.0][cast(between_ends(a + round(bell(i, 'm')), 1, 7) as
        integer)]::double
        as yrs_married,
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.5][cast(between_ends(a - 1 + round(bell(i, 'c')), 1, 6) as
        integer)]::double
        as children,
    cast(pick(i, 'rel', [1, 2, 2, 2, 3, 3, 3, 4]) as double) as religious,
    cast(pick(i, 'educ', [9, 12, 12, 12, 12, 12, 12, 14, 14, 14, 14, 14, 14, 14, 16, 16, 16, 16,
        17, 17, 20]) as double)
        as educ,
    cast(pick(i, 'occ', [1, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5,
        6]) as double) as occupation,
    cast(pick(i, 'husb', [1, 2, 2, 2, 3, 4, 4, 4, 4, 5, 5, 5, 5,
        6]) as double) as occupation_husb,
    case when u(i, 'any') < 0.32
        then round(pick(i, 'n', [0.15, 1, 1, 3.5, 3.5, 7, 12]) / pick(i, 'y', [1, 2.5, 4, 6, 9,
            13, 16.5]), 6)
        else 0 end::double as affairs
from (select i, pick(i, 'age', [1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6,
    6]) as a from drawn)
"""

ANES96 = """
select
    p as popul,
    cast(pick(i, 'tv', [0, 0, 1, 2, 3, 4, 5, 6, 7, 7, 7]) as double) as "TVnews",
    cast(between_ends(round(4.4 + 1.2 * side + 0.5 * bell(i, 's')), 1, 7) as double) as "selfLR",
    cast(between_ends(round(2.9 - 0.5 * side + 1.1 * bell(i, 'cl')), 1, 7) as double) as "ClinLR",
    cast(between_ends(round(5.4 + 0.3 * side + bell(i, 'do')), 1, 7) as double) as "DoleLR",
    cast(between_ends(round(2.9 + 1.9 * side + bell(i, 'pid')), 0, 6) as double) as "PID",
    cast(19 + floor(pow(u(i, 'age'), 1.5) * 73) as double) as age,
    cast(pick(i, 'educ', [1, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 6, 6, 6, 6, 6, 7, 7,
        7]) as double) as educ,
    cast(24 - floor(pow(u(i, 'inc'), 1.7) * 24) as double) as income,
    cast(side + bell(i, 'v') * 0.4 > 0.2 as double) as vote,
    ln(p + 0.1) as logpopul
from (
    select
        i,
        bell(i, 'side') as side,
        cast(pick(i, 'where', [0, 0, 0, 0, 1, 2, 3, 5, 8, 12, 16, 20, 22, 25, 31, 33, 40, 44,
            55, 60, 67, 73, 80,
            91, 96, 110, 124, 150, 167, 190, 220, 280, 350, 390, 430, 500, 640, 740, 900, 1000,
                1600, 2800, 3500,
            7300]) as double) as p
    from drawn
)
"""

RWM5YR = """
select
    person as id,
    skewed(i, 'doc', 60, 5) as docvis,
    case when u(i, 'hosp') < 0.09 then 1 + skewed(i, 'hospn', 20, 6) else 0 end as hospvis,
    1984 + wave as year,
    level as edlevel,
    25 + age_at_start + wave as age,
    cast(u(person, 'out' || wave // 3) < 0.34 as integer) as outwork,
    female,
    cast(u(person, 'married') < 0.77 as integer) as married,
    cast(u(person, 'kids') < 0.41 as integer) as kids,
    round(0.3 + pow(u(i, 'inc'), 2.2) * 12, 2)::double as hhninc,
    [10.5, 12.0, 15.0, 18.0][level]::double
        + pick(person, 'years', [0, 0, 0, 0, 0, -1.5, -0.5, 0.5, 0.31824])::double as educ,
    cast(u(person, 'self') < 0.06 as integer) as self,
    cast(level = 1 as integer) as edlevel1,
    cast(level = 2 as integer) as edlevel2,
    cast(level = 3 as integer) as edlevel3,
    cast(level = 4 as integer) as edlevel4
from (
    select
        person * 5 + wave as i,
        person,
        wave,
        pick(person, 'level', [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4]) as level,
        skewed(person, 'age', 34, 1.2) as age_at_start,
        cast(u(person, 'sex') < 0.48 as integer) as female
    from (select i as person from drawn where i <= {rows} // 3)
    cross join range(5) as waves(wave)
    where u(person * 5 + wave, 'there') < 0.62
)
"""

BFI = (
    """
select
    """
    + _answers()
    + """,
    cast(1 + cast(u(i, 'gender') < 0.67 as integer) as integer) as gender,
    case when u(i, 'edna') > 0.08
        then cast(pick(i, 'ed', [1, 2, 3, 3, 3, 3, 3, 4, 5, 5]) as double) end as education,
    cast(between_ends(11 + floor(pow(u(i, 'age'), 2) * 70), 3, 86) as integer) as age
from drawn
"""
)

CGD = """
select
    person as id,
    center,
    date '1988-08-28' + cast(u(person, 'date') * 270 as integer) as random,
    treat,
    pick(person, 'sex', ['male', 'male', 'male', 'male', 'female']) as sex,
    age,
    round(70 + least(age, 18) * 6 + bell(person, 'height') * 7, 1)::double as height,
    round(9 + least(age, 20) * 2.8 + (1 + bell(person, 'weight')) * 5, 1)::double as weight,
    pick(person, 'inherit', ['X-linked', 'X-linked', 'autosomal']) as inherit,
    cast(u(person, 'steroids') < 0.03 as integer) as steroids,
    cast(u(person, 'propylac') < 0.85 as integer) as propylac,
    case when center = 'NIH' then 'US:NIH' when center = 'Amsterdam' then 'Europe:Amsterdam'
        when center in ('Univ. of Zurich',
            'Copenhagen') then 'Europe:other' else 'US:other' end as "hos.cat",
    case when event = 1 then 0 else cast((event - 1) * last / events as integer) end as tstart,
    cast(event as integer) as enum,
    case when event = events then last else cast(event * last / events as integer) end as tstop,
    cast(event < events as integer) as status
from (
    select
        i as person,
        pick(i, 'treat', ['placebo', 'rIFN-g']) as treat,
        1 + skewed(i, 'age', 43, 1.7) as age,
        pick(i, 'center', ['NIH', 'NIH', 'NIH', 'NIH', 'Scripps Institute', 'Scripps Institute',
            'Scripps Institute', 'Amsterdam', 'Amsterdam', 'Amsterdam', 'Univ. of Zurich',
                'Univ. of Zurich',
            'Mott Children''s Hosp', 'Mott Children''s Hosp', 'L.A. Children''s Hosp',
                'Texas Children''s Hosp',
            'Univ. of Minnesota', 'Univ. of Utah', 'Mt. Sinai Medical Ctr', 'Copenhagen',
                'Harvard Medical Sch',
            'Univ. of Washington']) as center,
        1 + skewed(i, 'events', 6, 4) as events,
        150 + cast(u(i, 'last') * 289 as integer) as last
    from drawn
) as persons
cross join range(1, 9) as numbers(event)
where event <= events
"""

OFP = """
select
    skewed(i, 'ofp', 60, 4) as ofp,
    case when u(i, 'a') < 0.33 then skewed(i, 'ofnp', 70, 5) else 0 end as ofnp,
    case when u(i, 'b') < 0.23 then skewed(i, 'opp', 60, 6) else 0 end as opp,
    case when u(i, 'c') < 0.17 then skewed(i, 'opnp', 70, 6) else 0 end as opnp,
    case when u(i, 'd') < 0.18 then 1 + skewed(i, 'emr', 11, 6) else 0 end as emr,
    case when u(i, 'e') < 0.2 then 1 + skewed(i, 'hosp', 7, 5) else 0 end as hosp,
    pick(i, 'chron', [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4, 5,
        6, 7]) as numchron,
    cast(u(i, 'adl') < 0.2 as integer) as adldiff,
    round(6.6 + pow(u(i, 'age'), 1.4) * 3.9, 1)::double as age,
    case when u(i, 'black') < 0.12 then 'yes' else 'no' end as black,
    pick(i, 'sex', ['female', 'female', 'female', 'male', 'male']) as sex,
    pick(i, 'maried', ['yes', 'no']) as maried,
    cast(between_ends(round(10.3 + 4 * bell(i, 'school')), 0, 18) as integer) as school,
    round(pow(u(i, 'inc'), 3) * 30, 2)::double as faminc,
    case when u(i, 'emp') < 0.1 then 'yes' else 'no' end as employed,
    case when u(i, 'priv') < 0.78 then 'yes' else 'no' end as privins,
    case when u(i, 'aid') < 0.09 then 'yes' else 'no' end as medicaid,
    pick(i, 'region', ['other', 'other', 'other', 'other', 'midwest', 'midwest', 'midwest',
        'noreast', 'noreast',
        'west', 'west']) as region,
    pick(i, 'hlth', ['other', 'other', 'other', 'other', 'other', 'other', 'other', 'other',
        'poor', 'excellent'])
        as hlth
from drawn
"""

PBC = """
select
    i as id,
    cast(41 + u(i, 'time') * 4750 as integer) as time,
    pick(i, 'status', [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2]) as status,
    case when tried then cast(1 + i % 2 as double) end as trt,
    round(between_ends(50.7 + bell(i, 'age') * 10.4, 26.3, 78.4) * 60) / 60 as age,
    case when u(i, 'sex') < 0.89 then 'f' else 'm' end as sex,
    case when tried then cast(u(i, 'ascites') < 0.08 as double) end as ascites,
    case when tried then cast(u(i, 'hepato') < 0.5 as double) end as hepato,
    case when tried then cast(u(i, 'spiders') < 0.29 as double) end as spiders,
    cast(pick(i, 'edema', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, 0.5,
        1]) as double) as edema,
    round(0.3 + pow(u(i, 'bili'), 4) * 27.7, 1)::double as bili,
    case when u(i, 'cholna') > 0.32 then cast(120 + floor(pow(u(i, 'chol'),
        3) * 900) as double) end as chol,
    round(3.5 + bell(i, 'albumin') * 0.42, 2)::double as albumin,
    case when tried then cast(4 + floor(pow(u(i, 'copper'), 2.5) * 400) as double) end as copper,
    case when tried then round(289 + pow(u(i, 'alk'), 3) * 9000, 0)::double end as "alk.phos",
    case when tried then round(26.35 + pow(u(i, 'ast'), 2) * 31 * 9) ::double end as ast,
    case when u(i, 'trigna') > 0.33 then cast(33 + floor(pow(u(i, 'trig'),
        2) * 300) as double) end as trig,
    case when u(i, 'plna') > 0.03 then cast(62 + floor(u(i,
        'platelet') * 400) as double) end as platelet,
    case when u(i, 'prona') > 0.005 then round(9 + pow(u(i, 'protime'), 2) * 6,
        1)::double end as protime,
    case when u(i, 'stagena') > 0.014 then cast(pick(i, 'stage', [1, 2, 2, 2, 2, 3, 3, 3, 3, 3,
        3, 3, 4, 4, 4, 4, 4,
        4, 4]) as double) end as stage
from (select i, u(i, 'tried') < 0.75 as tried from drawn)
"""

TABLES = {
    "fair": (FAIR, 6366),  # statsmodels: extramarital affairs, Fair 1978
    "anes96": (ANES96, 944),  # statsmodels: American National Election Study 1996
    "rwm5yr": (RWM5YR, 19609),  # COUNT: German health survey, up to five years per person
    "bfi": (BFI, 2800),  # psych: 25 personality items of five scales
    "cgd": (CGD, 128),  # survival: recurrent infections in a trial of gamma interferon
    "ofp": (OFP, 4406),  # Ecdat: visits to physicians, elderly Americans
    "pbc": (PBC, 418),  # survival: Mayo Clinic trial in primary biliary cirrhosis
}
"""Per table its statement over `drawn`, and about the number of rows that the original has."""


def make(database: Path, name: str, seed: int = 1) -> Path:
    """Write the table `name` into a database file, as large as the original."""
    statement, rows = TABLES[name]
    with duckdb.connect(str(database), config={"threads": 1}) as connection:
        connection.execute(MACROS.format(seed=seed))
        connection.execute(
            f"create or replace table {name} as"
            f" with drawn as (select range + 1 as i from range({rows}))"
            f" {statement.format(rows=rows)}"
        )
    return database

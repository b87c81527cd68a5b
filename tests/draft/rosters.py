"""Small tables with the columns of public ones, among them names of persons: `rosters.yml`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import duckdb
from ruamel.yaml import YAML

FIRST = """Owen Laina Elisabeth Timothy Oscar Guadalupe Wei Agnieszka Jean-Luc Björn Fatma Priya
    Kwame Ioana Aarav Saoirse Jacinto Lindsay Kris Abdul Yolanda Dewitt Marybeth Ezequiel Cordelia
    Thurman Ramona Elliott Xóchitl Brendan Mabel Rigoberto Tanisha Kermit Zola Hollis Ingeborg
    Matteo Lupe Vesna"""
LAST = """Braund Cumings Heikkinen Futrelle Allen Moran McCarthy Palsson Nasser Sandstrom Bonnell
    Saundercock Vestrom Hewlett Rice Masselmani Fynney Beesley Sloper Asplund Emir Fortune Dwyer
    Todoroff Uruchurtu Spencer Glynn Wheadon Holverson Cann Vander Nicola Arnold Nye Laroche Samaan
    Turpin Kraft Zabour Goldsmith Kantor Backstrom Coutts Petranec Osen Waelens Moubarek Bing
    Petroff Widegren Barbara Rothes Sirayanian Icard Skoog Stewart"""
TOWNS = "Boston Worcester Springfield Lowell Cambridge Brockton Quincy Lynn Newton Somerville"
JOBS = """Nurse Teacher Clerk Firefighter Sergeant Custodian Engineer Analyst Librarian Paramedic
    Auditor Driver Electrician Supervisor Plumber Inspector Accountant Planner Cashier Dispatcher
    Porter Machinist Roofer"""
LISTS = {"firsts": FIRST, "lasts": LAST, "towns": TOWNS, "jobs": JOBS}
SYNTHEA = ("patients", "encounters", "conditions")


def _drawn(salt: str, of: int) -> str:
    return f"(md5_number_lower(i || '{salt}') % {of})::int"


WORDS = {
    **{name: name for name in LISTS},
    "first": f"firsts[1 + {_drawn('f', len(FIRST.split()))}]",
    "last": f"lasts[1 + {_drawn('l', len(LAST.split()))}]",
    "born": f"date '1930-01-01' + {_drawn('b', 27000)}",
}


@cache
def rosters() -> dict[str, dict[str, Any]]:
    """Per table its rows, columns with names, and columns."""
    text = Path(__file__).with_name("rosters.yml").read_text(encoding="utf-8")
    return dict(YAML(typ="safe").load(text))


def make(database: Path, *tables: str) -> Path:
    """Write tables into a database."""
    lists = ", ".join(f"{listed.split()} as {name}" for name, listed in LISTS.items())
    with duckdb.connect(str(database), config={"threads": 1}) as connection:
        for table in tables:
            given = rosters()[table]
            columns = ", ".join(
                f'{str(text).format(**WORDS)} as "{name}"'
                for name, text in given["columns"].items()
            )
            connection.execute(
                f'create table "{table}" as with lists as (select {lists})'
                f" select {columns} from range({given['rows']}) r(i), lists"
            )
    return database

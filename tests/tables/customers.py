"""A table of customers as a shop keeps it: 25 columns, of which several have thousands of values.

Everything follows from the row's number and the seed, so that every machine makes the same table.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

CITIES = 17_000
JOBS = 639
STATES = 50

SQL = """
create or replace table customers as
with drawn as (
    select
        range + 1 as number,
        [
            cast(md5_number_lower(concat_ws(':', {seed}, range, part)) % 1000003 as bigint)
            for part in range(24)
        ] as d
    from range({rows})
)
select
    number as customer_id,
    printf('%s %s', ['Ada', 'Ben', 'Cleo', 'Dan', 'Eva', 'Finn', 'Gia', 'Hal'][1 + d[1] % 8],
        ['Abel', 'Brook', 'Cole', 'Dean', 'East', 'Ford', 'Gale', 'Hill'][1 + d[2] % 8]
            || 'er' || (d[3] % 4000)) as full_name,
    printf('user%d@mail.example', number * 7919 % 1000003) as email,
    printf('+1-555-%03d-%04d', d[4] % 1000, d[5] % 10000) as phone,
    case when d[6] % 100 < 52 then 'F' when d[6] % 100 < 99 then 'M' else 'X' end as gender,
    date '2007-01-01' - cast(sqrt(d[7]) * 24.0 as integer) as date_of_birth,
    printf('%d %s', d[8] % 9900 + 100, ['Main St', 'Oak Ave', 'Hill Rd'][1 + d[9] % 3]) as street,
    printf('City %05d', d[10] % {cities}) as city,
    printf('%05d', 501 + ((d[10] % {cities}) * 5 + d[9] % 4) * 1171 % 98999) as postcode,
    printf('State %02d', (d[10] % {cities}) % {states}) as state,
    printf('Job %03d', cast(floor(pow(d[11] / 1000003.0, 1.6) * {jobs}) as integer)) as job,
    date '2015-01-01' + cast(d[12] % 4000 as integer) as customer_since,
    timestamp '2026-01-01' + to_seconds(cast(d[13] * 31 % 25000000 as bigint)) as last_seen,
    ['web', 'store', 'phone'][1 + d[14] % 3] as channel,
    d[15] % 2 as newsletter,
    d[16] % 7 = 0 as blocked,
    ['bronze', 'silver', 'gold'][1 + cast(sqrt(d[17] % 9) as integer) % 3] as tier,
    cast(d[18] % 60 as integer) as orders,
    cast(round(d[18] % 60 * (5 + d[19] % 90) + 0.99, 2) as decimal(10, 2)) as revenue,
    ['card', 'invoice', 'transfer', 'wallet'][1 + d[20] % 4] as payment,
    printf('%04d-%04d', d[21] % 10000, d[22] % 10000) as card_tail,
    case when d[23] % 5 = 0 then null else printf('Agent %02d', d[23] % 40) end as agent,
    cast(d[3] % 5 + 1 as tinyint) as rating,
    case when d[5] % 9 = 0 then 'called twice' end as remark,
    'US' as country
from drawn
order by number
"""


def make(database: Path, rows: int, seed: int = 1) -> Path:
    """Write the table `customers` with so many rows into a new database file."""
    with duckdb.connect(str(database)) as connection:
        connection.execute(
            SQL.format(rows=rows, seed=seed, cities=CITIES, states=STATES, jobs=JOBS)
        )
    return database

"""Secret-keyed draws: the only randomness of a run.

A row's draw is a digest of the run's secret and the row's identity. Every later draw is a digest
of an earlier one and a purpose, so the secret is bound in one statement and nowhere else.
"""

from __future__ import annotations

from anonymizer.compile import Sql, lit


def later_draw(draw: str, purpose: str) -> Sql:
    """The draw for `purpose`, derived from `draw`, a column or expression of type UHUGEINT.

    It is printed in hexadecimal first, because printing a 128-bit integer in decimal takes 500
    times longer (and DuckDB 1.5 cannot cast it to a UUID).
    """
    return Sql(f"md5_number(concat(hex({draw}), {lit(':' + purpose)}))")

"""The privacy loss of releases with noise: what each of them spends of the ledger's budget.

Losses add up, whoever is in the releases (Dwork and Roth 2014, theorem 3.16). They are decimals, so
that three times 0.1 is 0.3.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from anonymizer.compile import ident, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import EngineError, GuaranteeError
from anonymizer.ledger.store import SPENDS
from anonymizer.release import objects


def spends_of(engine: DuckDBEngine) -> dict[int, tuple[Decimal, Decimal | None]]:
    """What each release of the attached ledger spends, and the budget that its policy states.

    Raises EngineError for what no release can have spent.
    """
    if not objects.is_base_table(engine, SPENDS):  # a ledger of an older version
        return {}
    rows = engine.raw(f"select release, epsilon, budget from {ident(SPENDS)}", "ledger")
    try:
        found = {int(n): (Decimal(e), Decimal(b) if b is not None else None) for n, e, b in rows}
    except (InvalidOperation, TypeError):
        found = {0: (Decimal(), None)}
    if len(found) < len(rows) or not all(0 < epsilon < 100 for epsilon, _ in found.values()):
        said = "is damaged: it holds what no release has spent"
        raise EngineError.at("ledger", said, hint="restore it from a copy")
    return found


def record_spend(
    engine: DuckDBEngine, release: int, epsilon: float, budget: float | None
) -> tuple[float, float]:
    """Record what a release spends; return the sum, and the budget that it is within.

    `budget`: what the policy states. Raises GuaranteeError, and records nothing, if too little is
    left.
    """
    before, spend = spends_of(engine).values(), _decimal(epsilon)
    asked = _decimal(budget) if budget is not None else None
    stated = min((one for _, one in before if one is not None), default=None)
    if asked is not None and stated is not None and asked > stated:
        said = f"is above the budget of an earlier release of the ledger, which is {_text(stated)}"
        raise GuaranteeError.at("dp.budget", said, hint=f"dp: {{budget: {_text(stated)}}}")
    most = min((one for one in (asked, stated) if one is not None), default=spend)
    spent = sum((one for one, _ in before), Decimal())
    if (total := spent + spend) > most:
        left = max(most - spent, Decimal())
        said = f"is {_text(spend)}, and {_text(left)} is left of the ledger's budget of"
        hint = f"epsilon: {_text(left)}" if left else "use a release that there is"
        if asked is None and stated is None:
            hint = f"budget: {_text(total)}, if these persons may lose as much"
        raise GuaranteeError.at("dp.epsilon", f"{said} {_text(most)}", hint=hint)
    figures = ", ".join(lit(None if one is None else _text(one)).text for one in (spend, asked))
    engine.raw(f"insert into {ident(SPENDS)} values ({lit(release)}, {figures})", "ledger")
    return float(total), float(most)


def _decimal(value: float) -> Decimal:
    """A number as the policy writes it."""
    return Decimal(repr(float(value)))


def _text(value: Decimal) -> str:
    return f"{value.normalize():f}"

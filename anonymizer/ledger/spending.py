"""The privacy loss of releases with noise: what each of them spends of the ledger's budget.

Losses add up, whoever is in the releases (Dwork and Roth 2014, theorem 3.16). They are decimals, so
that three times 0.1 is 0.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from anonymizer.compile import ident, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import EngineError, GuaranteeError
from anonymizer.ledger.store import SPENDS
from anonymizer.release import objects


@dataclass(frozen=True, slots=True)
class Spend:
    """What one release spends, and the budget that its policy states."""

    epsilon: float
    budget: float | None


@dataclass(frozen=True, slots=True)
class Account:
    """The attached ledger's sum, and the least budget that a policy has stated."""

    spent: Decimal
    stated: Decimal | None

    @classmethod
    def of(cls, engine: DuckDBEngine) -> Account:
        """Raises EngineError for what is no sum."""
        text = f"select epsilon, budget from {ident(SPENDS)}"
        try:
            rows = [
                [None if one is None else Decimal(one) for one in row]
                for row in engine.raw(text, "ledger")
            ]
        except InvalidOperation:
            rows = [[None, None]]
        if any(one is None or not one.is_finite() or one <= 0 for one, _ in rows):
            said = "is damaged: it holds what no release has spent"
            raise EngineError.at("ledger", said, hint="restore it from a copy")
        budgets = [budget for _, budget in rows if budget is not None]
        return cls(
            sum((one for one, _ in rows if one is not None), Decimal()), min(budgets, default=None)
        )


def spent_by_release(engine: DuckDBEngine) -> dict[int, float]:
    """What each release has spent; a ledger of an older version has no such table."""
    if not objects.is_base_table(engine, SPENDS):
        return {}
    rows = engine.raw(f"select release, epsilon from {ident(SPENDS)}", "ledger")
    return {int(release): float(epsilon) for release, epsilon in rows}


def record_spend(engine: DuckDBEngine, release: int, spend: Spend) -> tuple[float, float]:
    """Record what a release spends; return the sum, and the budget that it is within.

    Raises GuaranteeError, and records nothing, if it is more than is left.
    """
    account, epsilon = Account.of(engine), decimal(spend.epsilon)
    asked = decimal(spend.budget) if spend.budget is not None else None
    if asked is not None and account.stated is not None and asked > account.stated:
        said = f"is above the budget of an earlier release of the ledger, which is {account.stated}"
        raise GuaranteeError.at("dp.budget", said, hint=f"dp: {{budget: {account.stated}}}")
    budget = min((b for b in (asked, account.stated) if b is not None), default=epsilon)
    total = account.spent + epsilon
    if total > budget:
        left = max(budget - account.spent, Decimal())
        said = f"is {epsilon}, and {left} is left of the ledger's budget of {budget}"
        hint = f"dp: {{epsilon: {left}}}" if left else "publish what was released before"
        if asked is None and account.stated is None:
            hint = f"dp: {{epsilon: {epsilon}, budget: {total}}}, if these persons may lose as much"
        raise GuaranteeError.at("dp.epsilon", said, hint=hint)
    engine.raw(
        f"insert into {ident(SPENDS)} values ({lit(release)}, {lit(str(epsilon))},"
        f" {'null' if asked is None else lit(str(asked))})",
        "ledger",
    )
    return float(total), float(budget)


def decimal(value: float) -> Decimal:
    """A number as the policy writes it."""
    return Decimal(repr(float(value))).normalize() + 0

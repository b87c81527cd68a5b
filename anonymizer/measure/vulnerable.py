"""The share of classes that an identity-reserved guarantee accepts and its enhanced form rejects.

A *vulnerable* class satisfies IR (k,l) or IR (alpha,beta), but not EIR l or EIR (alpha,beta): a
person known to be in it may have a value that everybody in it has (Wang et al. 2018, §5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.compile import Table, ident
from anonymizer.contract.checks import RunSql
from anonymizer.contract.layout import Layout, Requirement
from anonymizer.errors import NothingToCheckError
from anonymizer.policy.privacy import Privacy
from anonymizer.privacy.of_policy.registry import OF_TABLE, asked
from anonymizer.verification.guarantees import questions


def enhanced(privacy: Privacy) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """The enhanced forms of the identity-reserved guarantees of a policy: name, parameters."""
    return tuple(
        (guarantee.enhanced[0], {part: getattr(value, part) for part in guarantee.enhanced[1]})
        for guarantee, value in asked(OF_TABLE, privacy)
        if guarantee.enhanced is not None
    )


def vulnerable_share(
    run_sql: RunSql, view: Table, layout: Layout, column: str, privacy: Privacy
) -> float:
    """Share, 0 to 1, of the classes of a release that are vulnerable in the sensitive `column`.

    The release must satisfy its IR guarantee. Raises `NothingToCheckError` if it has no such
    guarantee, or no classes.
    """
    forms = enhanced(privacy)
    if not forms or layout.class_id is None:
        raise NothingToCheckError.at(
            "privacy", "has no identity-reserved guarantee with an enhanced form"
        )
    broken: set[Any] = set()
    for name, parameters in forms:
        requirement = Requirement(name, column, dict(parameters))
        for question in questions(view, layout, requirement):
            broken |= {row[0] for row in run_sql(question.sql())}
    (row,) = run_sql(f"select count(distinct {ident(layout.class_id)}) from {ident(view)}")
    return len(broken) / row[0] if row[0] else 0.0

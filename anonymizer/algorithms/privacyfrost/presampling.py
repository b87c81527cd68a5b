"""Pre-sampling (Kiyomoto and Miyake 2014, §5.1): rows of small classes are suppressed first."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.algorithms.encode import CODED
from anonymizer.algorithms.privacyfrost.columns import Searched
from anonymizer.compile import Sql, Table
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.policy import Policy, PrivacyFrost
from anonymizer.privacy.exact import share_at_most
from anonymizer.steps import Guard, Row, Stage, Step


def presampling_stages(
    policy: Policy, columns: Sequence[Searched], everything: Table
) -> tuple[Stage, ...]:
    """Stages that remove the isolated rows from `coded`, if there can be any.

    They count as suppressed, as do rows of `everything` left out because of NULLs; more than the
    limit stops the run before the search.
    """
    options = policy.algorithm
    assert isinstance(options, PrivacyFrost)
    if options.presampling_k < 2:
        return ()
    context = {
        "everything": everything,
        "coded": CODED,
        "domains": [a.domain for a in columns],
        "attributes": list(columns),
        "codes": [a.c for a in columns],
        "count": Sql("count(distinct person)" if policy.person is not None else "count(*)"),
        "least": options.presampling_k,
        "share": share_at_most(policy.suppression_limit),
    }
    unit = "persons" if policy.person is not None else "rows"

    def explain(row: Row) -> Problem:
        removed, total = row
        if removed == total:
            said = f"removes all {total} {unit}"
        else:
            said = (
                f"removes {removed} of {total} {unit} as isolated, more than the suppression limit"
                f" of {policy.suppression_limit:g}"
            )
        return Problem(
            "algorithm.presampling_k",
            said,
            hint="lower it, lower the columns' presampling_level, or raise suppression_limit",
        )

    return (
        Step("pre-sampling", "privacyfrost/presample.sql.j2", context),
        Guard(
            Step("size of the pre-sampling", "privacyfrost/removed.sql.j2", context),
            explain,
            GuaranteeError,
        ),
    )

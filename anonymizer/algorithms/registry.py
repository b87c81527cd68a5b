"""Which algorithm compiles which policy."""

from __future__ import annotations

from collections.abc import Callable

from anonymizer.algorithms.compiled import Compiled
from anonymizer.algorithms.danonyir.compiling import compile_danonyir
from anonymizer.algorithms.geneir.compiling import compile_geneir
from anonymizer.algorithms.lattice.compiling import compile_full_domain
from anonymizer.algorithms.lgb.compiling import compile_lgb
from anonymizer.algorithms.mondrian.compiling import compile_mondrian
from anonymizer.algorithms.msb.compiling import compile_msb
from anonymizer.algorithms.privacyfrost import compile_privacyfrost
from anonymizer.algorithms.roles import Roles
from anonymizer.errors import PolicyError, Problem
from anonymizer.policy import Policy
from anonymizer.profile import TableProfile

Compiler = Callable[[Policy, TableProfile, Roles], Compiled]

ALGORITHMS: dict[str, Compiler] = {
    "mondrian": compile_mondrian,
    "lgb": compile_lgb,
    "full_domain": compile_full_domain,
    "privacyfrost": compile_privacyfrost,
    "msb": compile_msb,
    "danonyir": compile_danonyir,
    "geneir": compile_geneir,
}


def compiler(policy: Policy) -> Compiler:
    """Raises PolicyError for an algorithm that this version cannot run."""
    if policy.republish is not None:
        from anonymizer.republish import compile_republish

        return compile_republish
    name = policy.algorithm.name
    if name not in ALGORITHMS:
        raise PolicyError(
            Problem(
                "algorithm.name",
                f"{name} is not available in this version",
                allowed=", ".join(sorted(ALGORITHMS)),
            )
        )
    return ALGORITHMS[name]

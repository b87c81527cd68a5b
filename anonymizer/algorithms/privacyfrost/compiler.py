"""The algorithm `privacyfrost`: from policy and profile to stages, assembly and layout."""

from __future__ import annotations

from anonymizer.algorithms.compiled import Assembly, Compiled, published
from anonymizer.algorithms.encode import (
    PERSONS,
    coded_stages,
    domain_steps,
    person_stages,
    units_step,
)
from anonymizer.algorithms.guards import enough_units
from anonymizer.algorithms.lattice.packing import packing
from anonymizer.algorithms.lattice.publish import CLASS_LEVELS, recoded_cells
from anonymizer.algorithms.lattice.recode import recode_steps, tuple_steps
from anonymizer.algorithms.privacyfrost.columns import searched
from anonymizer.algorithms.privacyfrost.partial import DIVIDED, class_stages
from anonymizer.algorithms.privacyfrost.presampling import presampling_stages
from anonymizer.algorithms.privacyfrost.search import search_context, search_stages
from anonymizer.algorithms.privacyfrost.trail import findings
from anonymizer.algorithms.protections import protections
from anonymizer.policy import Policy, PrivacyFrost
from anonymizer.privacy.of_policy.sizes import least_class
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import rows_read
from anonymizer.steps import Stage


def compile_privacyfrost(policy: Policy, profile: TableProfile, roles: Roles) -> Compiled:
    """Raises PolicyError for priorities, levels and hierarchies that the search cannot use."""
    options = policy.algorithm
    assert isinstance(options, PrivacyFrost)
    assert profile.rows is not None
    k = least_class(policy)
    packed = packing(profile.shapes)
    columns = searched(policy, roles, packed)
    search = search_context(policy, roles, columns, packed, k)
    keys = [a.c for a in roles.quasi]
    _, rule_stages = protections(policy, roles, keys)
    paths, tuples = tuple_steps(policy, roles, packed, keys)[:2]
    # persons are numbered when it is known who stays
    numbering = person_stages(policy, roles)
    stages: tuple[Stage, ...] = (
        *domain_steps(roles),
        *coded_stages(policy, roles, numbered=False),
        *numbering[:1],
        enough_units(policy, k),
        *presampling_stages(policy, columns, rows_read(policy, roles)),
        *numbering[1:],
        units_step(policy, keys),
        *rule_stages,
        *recode_steps(policy, roles, losses=False),
        paths,
        tuples,
        *search_stages(policy, columns, search),
        *class_stages(
            policy, roles, columns, packed, k, partial=options.partial_domain, rows=profile.rows
        ),
        *recoded_cells(roles, policy.publish.cells),
    )
    layout, published_columns = published(policy, roles, {})
    persons = PERSONS if policy.person is not None else None
    assembly = Assembly(published_columns, tuple(keys), persons=persons)
    told = {**search, "divided": DIVIDED, "class_levels": CLASS_LEVELS}
    return Compiled(stages, assembly, layout, findings=findings(roles, columns, told))

"""Compiles the algorithm `privacyfrost`: from policy and profile to stages and layout."""

from __future__ import annotations

from anonymizer.algorithms.core.compiled import Assembly, Compiled, published_columns
from anonymizer.algorithms.core.encode import (
    PERSONS,
    coded_stages,
    domain_steps,
    person_stages,
    units_step,
)
from anonymizer.algorithms.core.guards import enough_units
from anonymizer.algorithms.core.protections import protections
from anonymizer.algorithms.lattice.recode import (
    CLASS_LEVELS,
    packing,
    recode_steps,
    recoded_cells,
    tuple_steps,
)
from anonymizer.algorithms.lattice.search import lattice_size
from anonymizer.algorithms.privacyfrost.priorities import (
    findings,
    presampling_stages,
    search_columns,
)
from anonymizer.algorithms.privacyfrost.search import (
    DIVIDED,
    anytime_stages,
    class_stages,
    judging_context,
    leave_out_stages,
    none_safe,
    search_context,
    search_stages,
    suppressing_stages,
    value_steps,
)
from anonymizer.guarantees.requirements import least_class
from anonymizer.policy import Policy, PrivacyFrost
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import rows_read
from anonymizer.steps import Guard, Stage


def compile_privacyfrost(policy: Policy, profile: TableProfile, roles: Roles) -> Compiled:
    """Compile. Raises PolicyError for priorities, levels and hierarchies that are unusable."""
    options = policy.algorithm
    assert isinstance(options, PrivacyFrost)
    assert profile.rows is not None
    k = least_class(policy)
    packed = packing(profile.shapes)
    columns = search_columns(policy, roles, packed)
    search = search_context(policy, roles, columns, packed, k)
    keys = [a.c for a in roles.quasi]
    _, rule_stages = protections(policy, roles, keys)
    # without recursion by keys every table is judged in statements of its own
    suppressing = policy.suppression_limit > 0 or not profile.recursive
    if policy.suppression_limit > 0:
        # a rule that the whole table breaks may hold after suppressing some rows
        rule_stages = tuple(stage for stage in rule_stages if not isinstance(stage, Guard))
    # persons are numbered after suppression
    numbering = person_stages(policy, roles)
    units = (units_step(policy, keys), *rule_stages)
    paths, tuples, _, limits = tuple_steps(policy, roles, packed, keys)
    judging, judged, own = judging_context(policy, roles, packed, search)
    searching: tuple[Stage, ...]
    safe: tuple[Stage, ...] = ()
    if suppressing:
        safe = (none_safe(policy, columns, own),)
        searching = (
            limits,
            *value_steps(own),
            *suppressing_stages(judging, judged, own),
        )
    else:
        searching = search_stages(policy, columns, search)
    if options.budget is None:
        searching += safe
    else:
        if not suppressing:
            # the same levels, with the columns that the walkers need
            searching += (limits, *value_steps(own))
        searching += anytime_stages(
            judging,
            judged,
            own,
            columns,
            packed,
            budget=options.budget,
            size=lattice_size(profile.shapes),
            safe=safe,
        )
    if suppressing:
        left = (*numbering[-1:], *units, tuples)
        searching += (*leave_out_stages(judging, judged, own), *left)
    stages: tuple[Stage, ...] = (
        *domain_steps(roles),
        *coded_stages(policy, roles, numbered=False),
        *numbering[:1],
        enough_units(policy, k),
        *presampling_stages(policy, columns, rows_read(policy, roles)),
        *numbering[1:],
        *units,
        *recode_steps(policy, roles, losses=False),
        paths,
        tuples,
        *searching,
        *class_stages(
            policy,
            roles,
            columns,
            packed,
            k,
            partial=options.partial_domain,
            rows=profile.rows,
            recursive=profile.recursive,
        ),
        *recoded_cells(roles, policy.publish.cells),
    )
    layout, released = published_columns(policy, roles, {})
    persons = PERSONS if policy.person is not None else None
    assembly = Assembly(released, tuple(keys), persons=persons)
    told = {**search, "divided": DIVIDED, "class_levels": CLASS_LEVELS}
    return Compiled(stages, assembly, layout, findings=findings(roles, columns, told))

"""Append-only releases under k-anonymity: classes stay together, and only new persons are placed.

Persons who were in one class stay in one class, so intersecting releases leaves at least k. The
differences of releases show who came and who went: of persons with the same history, either nobody
leaves or at least k do, and the same holds for those who join a class. Others wait for a later
release, or are withdrawn.

With rules of columns (`follow`) such groups have to keep them by themselves: whoever leaves takes
others of the group along, as many as it takes, and who joins a class, or makes one, does so where
the newcomers keep them.
"""

from __future__ import annotations

from anonymizer.algorithms.core.cells import cell_steps
from anonymizer.algorithms.core.compiled import Assembly, Compiled, published_columns
from anonymizer.algorithms.core.encode import (
    CODED,
    PERSONS,
    UNITS,
    coded_stages,
    domain_steps,
    person_stages,
    units_step,
)
from anonymizer.algorithms.core.guards import enough_units
from anonymizer.algorithms.core.partition import MEMBERS, Partitioning, partition_stages
from anonymizer.algorithms.core.protections import column_rules, protections
from anonymizer.algorithms.core.refine import refine_stages
from anonymizer.algorithms.schema.rules import failing_steps
from anonymizer.compile import Sql, work
from anonymizer.guarantees.requirements import bucket_rule, least_class
from anonymizer.ledger.history import digests_step
from anonymizer.ledger.protected_columns import same_text
from anonymizer.ledger.store import (
    DIGESTS,
    HISTORY,
    HISTORY_COMMON,
    HISTORY_COUNTS,
    HISTORY_RELEASES,
)
from anonymizer.policy import Mondrian, Policy
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.steps import Stage, Step

STAYING = work("staying")
"""Persons who stay, with the earlier class that they continue."""
STANDING = work("standing_rows")
"""Rows of those who stay or are new."""
MOST_ALONG = 100
"""How many beyond k may go along before the whole group does: each number is tried, so that the
work does not grow with the square of a large group."""
FAILING = work("failing_newcomers")
"""Groups of newcomers who break a rule by themselves."""


def divides(policy: Policy) -> bool:
    """Return whether part of a group may go: rules on shares may break by the values left."""
    protects = (policy.columns[name].protect for name in policy.protected)
    asked = {name for protect in protects if protect for name, of in protect if of is not None}
    return asked <= {"l_diversity"} and {*policy.privacy.guarantees} <= {"k_anonymity"}


def compile_append(policy: Policy, profile: TableProfile, roles: Roles) -> Compiled:
    """The stages of an append-only release; reads the history tables of scratch."""
    options = policy.algorithm
    assert isinstance(options, Mondrian)
    assert profile.rows is not None
    assert policy.republish is not None
    follow, wait = bool(policy.republish.follow), policy.republish.wait or 1
    k = least_class(policy)
    ruled = [(s, rules) for s in roles.sensitive if (rules := column_rules(policy, s))]
    codes = [a.c for a in roles.quasi]
    carried = [s.s for s in roles.sensitive] + [kept.k for kept in roles.kept]
    if policy.person is not None:
        carried.append(Sql("person"))
    context = {
        "coded": CODED,
        "digests": DIGESTS,
        "history": HISTORY,
        "units": UNITS,
        "all_units": work("all_units"),
        "members": MEMBERS,
        "attributes": roles.quasi,
        "columns": [Sql("draw"), Sql("row_ref"), *codes, *carried],
        "staying": STAYING,
        "standing": STANDING,
        "newcomers": work("newcomers"),
        "failing": FAILING,
        "history_common": HISTORY_COMMON,
        "history_counts": HISTORY_COUNTS,
        "history_releases": HISTORY_RELEASES,
        "kept": [
            {
                "name": Sql(f"kept_{s.index}"),
                "column": s.column,
                "text": same_text(f"cast(r.{s.s} as varchar)", s.sql_type),
                "least": bucket_rule(s.column, protect).m,
            }
            for s, _ in ruled
            if follow and (protect := policy.columns[s.column].protect) is not None
        ],
        "values": list(dict.fromkeys(s.s for s, _ in ruled)),
        "whole": follow,
        "divides": divides(policy),
        "most": k + MOST_ALONG,
        "wait": wait,
        "k": k,
    }

    def step(name: str, template: str) -> Step:
        return Step(name, f"republish/{template}", context)

    def rule_steps(of: str) -> tuple[Step, ...]:
        """Steps that list the groups of newcomers who break a rule of a column by themselves."""
        if not ruled:
            return ()
        newcomers = work("newcomers")
        shared = {**context, "members": newcomers, "joining": of == "joining"}
        found = [
            Step(f"newcomers who are {of}", "republish/newcomers", shared),
            Step("no newcomers break a rule yet", "schema/no_failing", shared),
        ]
        for s, rules in ruled:
            found += failing_steps(
                f"{s.column}, {of}",
                s,
                rules,
                pairs=False,
                remaining=newcomers,
                judged=newcomers,
                failing=FAILING,
                members=newcomers,
            )
        return tuple(found)

    keys = [Sql("lineage"), *codes]
    every, rule_stages = protections(policy, roles, keys)
    how = Partitioning(k=k, split=options.split, strict=True, protections=every)
    refine = options.refine if follow else 0
    stages: tuple[Stage, ...] = (
        *domain_steps(roles),
        *coded_stages(policy, roles, numbered=False),
        digests_step(policy, roles, profile),
        step("who stays", "staying"),
        step("rows of persons who stay or are new", "standing_rows"),
        *rule_steps("joining"),
        step("classes that go on", "lineages"),
        *rule_steps("arriving"),
        *person_stages(policy, roles),
        enough_units(policy, k),
        units_step(policy, keys),
        step("all units", "all_units"),
        step("new units", "arriving_units"),
        *rule_stages,
        *partition_stages(roles.quasi, how, profile.rows, recursive=profile.recursive),
        *refine_stages(roles.quasi, how, refine, recursive=profile.recursive),
        step("all units again", "restore_units"),
        step("continue classes", "continue_classes"),
        *cell_steps(roles.quasi, policy.publish.cells),
    )
    layout, columns = published_columns(policy, roles, {})
    persons = PERSONS if policy.person is not None else None
    return Compiled(stages, Assembly(columns, tuple(keys), persons=persons), layout)

"""A policy, its guarantees and its measures as sentences, for readers who do not know YAML."""

from __future__ import annotations

from collections.abc import Iterator

from anonymizer.algorithms.registry import publishes_nodes
from anonymizer.contract.layout import Layout, Requirement
from anonymizer.guarantees.requirements import BY_NAME, GUARANTEES
from anonymizer.policy import Policy
from anonymizer.policy.columns import MASKS, Column
from anonymizer.process.text import figure
from anonymizer.release.certificate import mask_words
from anonymizer.review.attack import Attack
from anonymizer.review.report.distributions import Distribution
from anonymizer.review.report.pictures import percent

ROLES = {
    "identifier": "says who somebody is",
    "quasi": "may be known to others",
    "sensitive": "must not become known of anybody",
    "keep": "is published as it is",
    "drop": "is not published",
    "masked": "is published masked",
}
NO_GUARANTEE = "No guarantee is promised, of the table or of any column."
CHECKS = {
    ask.name.format(name=guarantee.name): ask.words
    for guarantee in GUARANTEES
    for ask in guarantee.asks
    if ask.words is not None
}


def column_sentences(policy: Policy, layout: Layout) -> Iterator[dict[str, str]]:
    """Every column: its name, its role, and its treatment."""
    kinds = {column.column: column.kind for column in layout.columns}
    for name, column in policy.columns.items():
        how = "as ranges or sets"
        if column.role == "quasi" and publishes_nodes(policy, name, kinds[name]):
            how = "as nodes of its hierarchy"
        how += ", the same for everybody in a class"
        if layout.class_id is None:
            how = "as it was, apart from the sensitive values of its group"
        says = _column(policy, name, column, how)
        yield {"column": name, "role": column.role, "says": says}


def _column(policy: Policy, name: str, column: Column, how: str) -> str:
    said = ROLES["masked" if column.role in MASKS else column.role]
    if name == policy.person and column.role not in ("keep", "token"):
        return "tells whose row it is; published as a random number"
    if name == policy.key and column.role != "token":
        return "tells rows apart; never published"
    if column.masks:
        masked = mask_words(policy, name)
        if column.role in MASKS:
            return f"{said}: {masked}"
        said += f"; read {masked}"
    if column.role == "identifier":
        return f"{said}; never published"
    if column.role == "quasi":
        said += f"; published {how}"
        if column.sensitive_when is not None:
            said += f"; where {column.sensitive_when} holds, the cell counts as sensitive"
    if column.role == "sensitive" and column.protect is None:
        said += "; no rule of its own"
    return said


def guarantee_sentence(requirement: Requirement, unit: str) -> str:
    """The sentence that describes a requirement."""
    guarantee = BY_NAME.get(requirement.name)
    return guarantee.sentence(requirement, unit) if guarantee is not None else requirement.name


def attack_sentences(found: Attack) -> Iterator[str]:
    """Sentences on the results of the attacks."""
    link = found.linking
    yield (
        f"Attacks on {link.targets:,} {found.unit} whose quasi-identifiers are known: the largest"
        f" chance to pick the right one is {figure(link.most)} ({_promised(link.bound)}), and"
        f" {percent(link.success)} are found on average"
    )
    for item in found.inference:
        if item.most_confident is not None:
            most, bound = figure(item.most_confident), _promised(item.bound)
            yield f"The largest chance of one value of {item.column} is {most} ({bound})"
    if found.uncompared:
        yield "Nothing was compared with the earlier release: no column or target is in both"
    elif found.intersection and not found.together():
        yield "Beside the earlier release nobody has one value left, and no promise falls"


def _promised(bound: float | None) -> str:
    return "nothing is promised" if bound is None else f"{figure(bound)} is promised"


def moved_sentence(found: Distribution) -> str:
    """How far a distribution has moved, and whether the bars hide part of it."""
    if found.distance is None:
        return ""
    if found.distance == 0:
        return "The distribution is as it was"
    moved = f"{percent(found.distance)} of the distribution has moved"
    if found.below is None:
        said = f"{moved}, value by value"
    else:
        said = f"Shares below a value are off by {percent(found.below)} at most"
        said += f"; value by value, {moved}"
    if found.folded:
        said += ". The bars put several values together; the figures do not"
    return said

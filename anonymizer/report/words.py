"""A policy, its guarantees and its measures in words, for people who read no YAML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from anonymizer.algorithms.hierarchies import publishes_nodes
from anonymizer.policy import Policy
from anonymizer.policy.columns import Column
from anonymizer.release.layout import Layout, Requirement

ROLES = {
    "identifier": "says who somebody is",
    "quasi": "may be known to others",
    "sensitive": "must not become known of anybody",
    "keep": "is published as it is",
    "drop": "is not published",
}
ALGORITHMS = {
    "mondrian": "Mondrian: the table is cut again and again along one column at a time, while both"
    " parts keep the guarantees; the rows of a part get the same cells (LeFevre et al. 2006).",
    "lgb": "Local generalization and bucketization: quasi-identifiers are generalized class by"
    " class, sensitive cells are mixed in buckets of different values (Li and He 2023).",
    "full_domain": "Full-domain recoding: every column is published on one level of its hierarchy.",
    "privacyfrost": "PrivacyFrost: full-domain levels are refined by priority, where the guarantees"
    " allow.",
    "msb": "Multi-sensitive bucketization: rows are put into groups whose sensitive values are"
    " published apart.",
    "danonyir": "Clustering of persons with all of their records under an identity-reserved model"
    " (Wang et al. 2018).",
    "geneir": "Generalization of persons with all of their records under an identity-reserved"
    " model (Wang et al. 2018).",
}
CHECKS = {
    "k_anonymity": "k-anonymity",
    "k_anonymity_tuples": "k-anonymity of equal published cells",
    "ir_k": "identity-reserved k",
    "ir_k_tuples": "identity-reserved k of equal published cells",
    "distinct_l": "distinct l-diversity",
    "bucket_unique": "how often a value may stand in a bucket",
    "entropy_l": "entropy l-diversity",
    "recursive_cl": "recursive (c,l)-diversity",
    "t_closeness": "t-closeness",
    "alpha": "largest share of a value (alpha)",
    "alpha_k": "(alpha,k)-anonymity",
    "beta_likeness": "beta-likeness",
    "delta_disclosure": "delta-disclosure",
    "level_l": "l by security level (L_sl)",
    "ir_kl": "identity-reserved (k,l)",
    "ir_alpha_beta": "identity-reserved (alpha,beta)",
    "eir_l": "enhanced identity-reserved l",
    "eir_alpha_beta": "enhanced identity-reserved (alpha,beta)",
    "k_map": "k-map",
    "delta_presence": "delta-presence",
}
MEASURES = {
    "rows": "rows published",
    "persons": "persons in the release",
    "suppressed": "rows left out",
    "suppressed_share": "share left out",
    "classes": "classes of equal quasi-identifiers",
    "class_min": "rows in the smallest class",
    "class_mean": "rows in a class, on average",
    "class_max": "rows in the largest class",
    "ncp": "information lost per quasi-identifying cell, from 0 (exact) to 1 (nothing left): NCP",
    "glm": "the same by the generalized loss metric: GLM",
    "c_dm": "discernibility: the sum of squared class sizes (C_DM)",
}


def column_sentences(policy: Policy, layout: Layout) -> Iterator[dict[str, str]]:
    """Every column: its name, its role, and what happens to it."""
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
    said = ROLES[column.role]
    if name == policy.person:
        return (
            "tells whose row it is; published as a random number" if column.role != "keep" else said
        )
    if name == policy.key:
        return "tells rows apart; never published"
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
    """What a requirement promises."""
    p = requirement.parameters
    where = {"class": "class", "bucket": "bucket", "group": "group"}[requirement.scope]
    say = SENTENCES.get(requirement.name)
    if say is None:
        return requirement.name
    return say({**p, "column": requirement.column, "where": where, "unit": unit})


Says = Callable[[Mapping[str, Any]], str]

SENTENCES: dict[str, Says] = {
    "k_anonymity": lambda p: (
        f"Everybody is in a class of at least {p['k']} {p['unit']} that look the same in all"
        " columns that others may know."
    ),
    "ir_k": lambda p: f"Every class has at least {p['k']} different persons.",
    "distinct_l": lambda p: (
        f"Every {p['where']} holds at least {p['l']} different values of {p['column']}."
    ),
    "entropy_l": lambda p: (
        f"The values of {p['column']} in every {p['where']} are as mixed as {p['l']} equally"
        " frequent ones."
    ),
    "recursive_cl": lambda p: (
        f"In every {p['where']} the most frequent value of {p['column']} is rarer than {p['c']}"
        f" times all from the {p['l']}th most frequent on."
    ),
    "t_closeness": lambda p: (
        f"The values of {p['column']} in every {p['where']} are distributed like those of the whole"
        f" release, up to a distance of {p['t']} ({p.get('distance', 'equal')})."
    ),
    "alpha": lambda p: (
        f"No value of {p['column']} has more than the share {p['alpha']} of a {p['where']}."
    ),
    "alpha_k": lambda p: (
        f"Every class has at least {p['k']} {p['unit']}, and no value of {p['column']} more than"
        f" the share {p['alpha']} of one."
    ),
    "beta_likeness": lambda p: (
        f"No value of {p['column']} becomes more than {p['beta']} times likelier by knowing the"
        f" {p['where']}."
    ),
    "delta_disclosure": lambda p: (
        f"The share of every value of {p['column']} in a {p['where']} differs from its share in the"
        f" release by less than the factor exp({p['delta']})."
    ),
    "level_l": lambda p: f"Values of {p['column']} are as rare in a group as their level asks for.",
    "ir_kl": lambda p: (
        f"Every class has at least {p['k']} persons and {p['l']} values of {p['column']}."
    ),
    "ir_alpha_beta": lambda p: (
        f"No person has more than the share {p['alpha']} of a class's records, no value of"
        f" {p['column']} more than {p['beta']}."
    ),
    "eir_l": lambda p: (
        f"However one value of {p['column']} per person is picked in a class, at least {p['l']}"
        " different ones remain."
    ),
    "eir_alpha_beta": lambda p: (
        f"No person has more than the share {p['alpha']} of a class's records, and no value of"
        f" {p['column']} belongs to more than {p['beta']} of its persons."
    ),
    "k_map": lambda p: f"Every class matches at least {p['k']} members of the population.",
    "delta_presence": lambda p: (
        f"That a member is in the table stays between {p['min']} and {p['max']} likely."
    ),
}

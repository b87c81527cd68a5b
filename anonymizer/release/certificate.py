"""The text of certificates: what is guaranteed, and which attacks are not prevented."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from anonymizer.algorithms.aggregate.method import METHODS
from anonymizer.algorithms.registry import BY_NAME
from anonymizer.contract.counts_layout import DOMINANCE, GROUPS, MINIMUM, Counts
from anonymizer.contract.layout import Requirement
from anonymizer.measure.loss import least_sentence, linked_sentence, proved_sentence
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.policy.columns import CALENDAR, OPTIONS, Code, Column, Rounding
from anonymizer.policy.kinds import ANONYMISED, ReleaseKind
from anonymizer.policy.safe_harbor import NO_AREA
from anonymizer.process.text import many

# What masks do not prevent, in words: a masked value is not an anonymous one.


REMAINS = {
    "token": "frequency: {name} has equal tokens for equal values, so that a value that is known"
    " to be common or rare may be recognized by how often its token occurs",
    "shift": "intervals: {name} keeps the days between the dates of a person, so that who knows"
    " two of them may recognize the person",
    "noise": "averages: {name} has noise drawn anew for every row, which averages out over many"
    " rows of the same person",
    "redact": "free text: {name} holds no identifier of a known form; names, places and what"
    " happened may still tell whose text it is",
}
"""Remaining attacks by role."""
LASTING = (
    "joining: {name} has the same tokens in every release under its key: whoever has two of them"
    " joins them person by person"
)


def mask_attacks(policy: Policy, at: str = "") -> Iterator[str]:
    """The attacks that masked columns leave open; `at`: a prefix of their names."""
    for name in policy.masked:
        column = policy.columns[name]
        if column.role in REMAINS:
            yield REMAINS[column.role].format(name=at + name)
        if column.role == "token" and column.key_file is not None:
            yield LASTING.format(name=at + name)


def mask_words(policy: Policy, name: str) -> str:
    """Describe the mask of a column; empty for an unmasked column."""
    column = policy.columns[name]
    unit = "persons" if policy.person is not None else "rows"
    return "; ".join(_words(kind, options, unit) for kind, options in column.masks)


def _words(kind: str, options: Column | Code | Rounding, unit: str) -> str:
    given = {option: getattr(options, option, None) for option in OPTIONS[kind]}
    match kind:
        case "token":
            held = "a key that lasts" if given["key_file"] else "a key that the run forgets"
            back = ", remembered in a vault" if given["vault"] else ""
            return f"a token ({given['format'] or 'hex'}) under {held}{back}"
        case "shift":
            by = "by whole weeks, " if "weekday" in (given["keep"] or ()) else ""
            return f"moved {by}by at most {given['within']} days, the dates of a person alike"
        case "top_code" | "bottom_code":
            side = "above" if kind == "top_code" else "below"
            if given["at"] is not None:
                return f"cut off {side} {given['at']}"
            return f"cut off {side} the value that at least {given['at_least']} {unit} reach"
        case "round":
            how = "cut off to the" if given["to"] in CALENDAR else "rounded to multiples of"
            way = f" ({given['method']})" if given["method"] not in (None, "nearest") else ""
            return f"{how} {given['to']}{way}"
        case "noise":
            most = given["amount"] or f"{100 * (given['share'] or 0):g} % of the value"
            return f"with noise of at most {most}"
        case "redact":
            kinds = ", ".join(given["patterns"] or ()) or "all known forms"
            return f"identifiers in its text replaced ({kinds}, and values of identifying columns)"
        case "zip3":
            return f"the first three digits of a ZIP code, {NO_AREA} where few live"
        case "constant":
            return "one value for all"
    return "no value"


# The text of certificates: what is guaranteed, and which attacks the models do not prevent.


CERTIFICATE = (
    "Syntactic guarantee under the stated knowledge; not differential privacy. It states how"
    " many rows, persons or values an observer who knows the quasi-identifiers cannot tell apart."
)

OF_TABLES = (
    "Not promised: that nothing follows from knowing which events a person does not have, from"
    " what else stands in rows like a known one (rules count all rows of those who remain), from"
    " the order of events or the time between them (unless a column shows it), from more events"
    " than stated, or from what the choice of levels itself tells."
)
"""The last sentence of the certificate for several tables."""

COUNTS_ROWS = "It counts rows: a person with several rows counts once for each of them."
COUNTS_PERSONS = "It counts persons, however many rows each of them has."

PERSONAL = (
    "Pseudonymised: this release is personal data. Its rows still belong to persons, and whoever"
    " holds a key of it, or other data about them, can find them; it is to be protected as such."
)
NO_GUARANTEE = (
    "No guarantee holds: nothing limits what an observer finds who knows some values of a person."
)
SAFE_HARBOR = (
    "Safe Harbor, 45 CFR 164.514(b)(2)(i): of the eighteen identifiers nothing is published but"
    " years, ages up to 89 and those above as one, and three digits of ZIP codes, in the columns"
    " that the policy states to hold them; the covered entity must also have no actual knowledge"
    " that what is left could identify a person (ii)."
)
COUNTS = (
    "A table of counts of persons. Take the finest groups that it distinguishes: for every one of 1"
    " to {less} there is another table of whole numbers that agrees with everything published, in"
    " which it has {n} or more. So no sum or difference of its figures shows that a group has fewer"
    " than {n}."
)
OF_ROUNDED = (
    "A table of counts of persons. No sum or difference of its figures shows that one of the finest"
    " groups that it distinguishes has 1 to {less} persons: it may have nobody, or {n} or more."
)
ROUNDED = (
    "Counts of finest groups below {base} are rounded to 0, and then not listed, or to {base};"
    " totals are sums of these, and not the true ones."
)
ROUNDED_ZEROS = (
    "Counts of finest groups below {base} are rounded to 0 or to {base}; totals are sums of these,"
    " and not the true ones. Every group of the domain is listed: one of 0 may have somebody."
)
NOISY = (
    "A table of counts of persons with noise. How it was made is {epsilon:g}-differentially"
    " private: a person of the domain more or less in the source makes no release likelier by a"
    " factor above exp({epsilon:g}), whatever else a reader knows. That there is a release says"
    " that nobody is outside of the domain. Every group of that public domain has a count with"
    " noise of the scale {scale:g}, which may be negative; totals are sums of these, and not the"
    " true ones. Form and budget can be checked, and that the noise was drawn cannot. With the"
    " earlier releases of its ledger epsilon adds up to {spent:g} of a budget of {budget:g}."
)
NOT_OF_NOISE = (
    "Not promised: that a figure is near the true one; as much for k persons together, for whom"
    " epsilon counts k times; anything about figures of the same persons outside of the ledger,"
    " or without noise."
)
UNLISTED = "Groups that are not listed may be empty, or be left out."
WITNESSED = (
    "Groups that are not listed are empty; one without a figure has somebody. The table {table}"
    " holds such tables, found from the published figures alone, and SQL checks them."
)
OTHER_ROW = "{left_out} in groups that are left out; totals are those of the groups shown."
LISTED_GROUPS = (
    "Groups that are left out are listed: a reader who knows the method takes a listed group for"
    " small, and is nearly always right."
)
DOMINATED = {
    "p": "In every finest group of which sums are shown, the contributions besides the two largest"
    " are at least {p:g} % of the largest, so that nobody who contributes can estimate another's"
    " contribution more closely than that from its sums; totals have this as well.",
    "k": "In every finest group of which sums are shown, the {n} largest contributions are at most"
    " {k:g} % of all; totals have this as well.",
}
HIDDEN_SUMS = {
    "p": "A sum without a figure may be larger, in a table that agrees with all that is published,"
    " by as much as keeps the largest contribution open by {p:g} % to the second largest one",
    "k": "A sum without a figure may be larger, in a table that agrees with all that is published,"
    " by as much as {n} contributions need to be {k:g} % of it",
}
ALSO_INSIDERS = ", and to whoever contributes alone to other groups"
OWN_PARTS = (
    " It is not judged against a contributor who subtracts what they add to several hidden groups"
    " themselves."
)
SHARED = (
    "A person may be in several groups of {column}, and counts once in their total; who is not in a"
    " group is protected as those in one are, and how many are in several is not."
)
LIMITED = "In no published group is one value of {column} that of more than {share:.0%} of them."
NOT_OF_COUNTS = (
    "Not promised: anything against a reader who reasons from the method, which groups it chose and"
    " why; against readers who know other persons' rows; that nobody follows to be outside a group;"
    " figures of the same persons published elsewhere. It is not differential privacy."
)
LEAST = "Its information loss (NCP) is {least}."
LISTED = "Guarantees hold only where they are listed, and only for what they are about."

PRESENCE = (
    "presence: quasi-identifiers are published exactly, so an observer who knows those of a person"
    " sees whether the person is in the table; generalize: {k: 5} protects against that as well"
)


def certificate(
    kind: ReleaseKind = ANONYMISED,
    *,
    guaranteed: bool = True,
    persons: bool = False,
    safe_harbor: bool = False,
    several: bool = False,
    measures: Mapping[str, Any] | None = None,
) -> str:
    """The sentences that accompany a release; those of a pseudonymised one say so first.

    `persons`: guarantees count persons instead of rows. `measures`: of the release; the loss is
    given as a multiple of the least possible one, if that is known, and counts of what is not
    promised.
    """
    measures = measures or {}
    more = [SAFE_HARBOR] if safe_harbor else []
    least = least_sentence(measures)
    more += [LEAST.format(least=least)] if least else []
    proved = proved_sentence(measures, "persons" if persons else "rows")
    more += [said for said in (proved, linked_sentence(measures)) if said]
    more += [OF_TABLES] if several else []
    stated = f"{CERTIFICATE} {COUNTS_PERSONS if persons else COUNTS_ROWS}"
    if kind == ANONYMISED:
        return " ".join((stated, *more))
    said = (LISTED, stated) if guaranteed else (NO_GUARANTEE,)
    return " ".join((PERSONAL, *said, *more))


def counts_certificate(
    counts: Counts,
    requirements: Sequence[Requirement],
    *,
    left_out: int,
    witnesses: str | None = None,
) -> str:
    """The sentences that accompany a table of counts. `witnesses`: the table that proves it."""
    if (noise := counts.noise) is not None:
        return f"{NOISY.format(**asdict(noise), scale=1 / noise.epsilon)} {NOT_OF_NOISE}"
    terms = {item.name: item.parameters for item in requirements}
    minimum = terms[MINIMUM]["n"]
    exact = OF_ROUNDED if counts.base is not None else COUNTS
    said = [exact.format(n=minimum, less=minimum - 1)]
    if rule := terms.get(DOMINANCE):
        kind = "p" if "p" in rule else "k"
        said.append(DOMINATED[kind].format(**rule))
        if witnesses is not None:
            insiders = ALSO_INSIDERS if rule.get("insiders") else ""
            said.append(f"{HIDDEN_SUMS[kind].format(**rule)}{insiders}.{OWN_PARTS}")
    said += [SHARED.format(column=d.name) for d in counts.by if d.multiple]
    said += [
        LIMITED.format(column=item.column, **item.parameters)
        for item in requirements
        if item.name == GROUPS
    ]
    if witnesses is not None:
        said.append(WITNESSED.format(table=witnesses))
    else:
        rounded = ROUNDED_ZEROS if counts.zeros else ROUNDED
        said.append(rounded.format(base=counts.base) if counts.base is not None else UNLISTED)
        persons = many(left_out, "person is", "persons are")
        said += [OTHER_ROW.format(left_out=persons)] if left_out else []
        said += [LISTED_GROUPS] if counts.list_hidden else []
    return " ".join((*said, NOT_OF_COUNTS))


def known_attacks(policy: AnyPolicy) -> list[str]:
    """Known attacks that the release does not prevent."""
    presence = (PRESENCE,) if presence_disclosed(policy.lead) else ()
    if policy.counts is not None:
        return [*METHODS[policy.counts.method].attacks]
    found = [*BY_NAME[policy.algorithm.name].attacks, *presence]
    for at, one in {"": policy.lead, **{f"{n}.": of for n, of in policy.further.items()}}.items():
        found += [f"joining: {at}{name} {joined_on(policy)}" for name in acknowledged(one)]
        found += mask_attacks(one, at)
    return found


def published_as_it_is(policy: Policy, column: str) -> bool:
    """True if the values of a column are published unchanged and no guarantee covers them."""
    described = policy.columns[column]
    return described.role == "keep" or (described.role == "sensitive" and described.protect is None)


def acknowledged(policy: Policy) -> list[str]:
    """Columns that are published unchanged although they may identify persons."""
    return [
        name
        for name, column in policy.columns.items()
        if column.acknowledge_unique and published_as_it_is(policy, name)
    ]


def joined_on(policy: AnyPolicy) -> str:
    """The effect on a release of a column that identifies persons, in words."""
    said = (
        "is published as it is and acknowledged to tell persons apart: whoever has another table"
        " with it, or another release, joins the two person by person"
    )
    lost = ", and k and every other guarantee hold for neither any longer"
    return said if policy.algorithm.classless else said + lost


def presence_disclosed(policy: Policy) -> bool:
    """Return whether quasi-identifiers are published exactly, which shows who is in the table."""
    return policy.algorithm.exact
